package main

import (
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/rivo/uniseg"
)

// onTerminal runs a command with a pseudo-terminal of that many columns for its output,
// and returns what reached it.
func (p *place) onTerminal(t *testing.T, columns uint16, args ...string) (status int, text string) {
	t.Helper()
	master, terminal, err := pty.Open()
	if errors.Is(err, pty.ErrUnsupported) {
		t.Skip("no pseudo-terminals on this system")
	}
	if err != nil {
		t.Skipf("no pseudo-terminal can be opened: %v", err)
	}
	if err := pty.Setsize(terminal, &pty.Winsize{Rows: 40, Cols: columns}); err != nil {
		t.Fatal(err)
	}
	done := make(chan string)
	go func() {
		data, _ := io.ReadAll(master) // it ends with an error where the other end is closed
		done <- string(data)
	}()
	status = Main(args, terminal, terminal, p.getenv)
	terminal.Close()
	text = <-done
	master.Close()
	return status, strings.ReplaceAll(text, "\r\n", "\n")
}

var sgr = regexp.MustCompile("\x1b\\[[0-9;]*m")

// cells is a line as the cells of a terminal, in which a wide character takes two. It is
// measured with another package than the one that made the line.
func cells(line string) []string {
	var out []string
	state := -1
	for line != "" {
		var cluster string
		var width int
		cluster, line, width, state = uniseg.FirstGraphemeClusterInString(line, state)
		if width == 0 {
			continue
		}
		out = append(out, cluster)
		for range width - 1 {
			out = append(out, "")
		}
	}
	return out
}

// On a terminal no answer of a command is wider than it, nothing of a log acts on it,
// and the numbers of a column end below its title.
func TestTerminal(t *testing.T) {
	fakeClock(t) // no progress between the lines
	p := newPlace(t)
	for _, c := range p.cases(t) {
		for _, columns := range []uint16{60, 80, 140} {
			status, text := p.onTerminal(t, columns, c.args...)
			if status > statusFindings {
				t.Fatalf("%s: status %d\n%s", c.name, status, text)
			}
			checkScreen(t, c.name, int(columns), text)
		}
	}
}

func checkScreen(t *testing.T, name string, columns int, text string) {
	t.Helper()
	if text == "" {
		t.Errorf("%s at %d: nothing is written", name, columns)
	}
	plain := sgr.ReplaceAllString(text, "")
	for _, bad := range []string{"\x1b", "\u202e", "\a", "\r"} {
		if strings.Contains(plain, bad) {
			t.Errorf("%s at %d: %q reaches the terminal", name, columns, bad)
		}
	}
	var ends []int // of the titles of numbers in the table that goes on
	commands := false
	for line := range strings.Lines(plain) {
		line = strings.TrimSuffix(line, "\n")
		row := cells(line)
		// Commands stay whole, so that they can be copied.
		commands = commands || strings.HasPrefix(line, "Next: ")
		if commands {
			continue
		}
		if len(row) > columns {
			t.Errorf("%s at %d: a line of %d cells:\n%s", name, columns, len(row), line)
		}
		if titles := numberTitles(row); len(titles) > 1 {
			ends = titles
			continue
		}
		if line == "" || strings.HasPrefix(line, "──") {
			if line == "" {
				ends = nil
			}
			continue
		}
		for _, end := range ends {
			if end > len(row) || strings.ContainsAny(line, ":·;") && !strings.Contains(line, "  ") {
				continue // it ends before, or is a sentence below the table
			}
			if end < len(row) && row[end] != " " && isDigit(row[end]) && isDigit(row[end-1]) {
				t.Errorf("%s at %d: a number goes on beyond its title, which ends in cell %d:\n%s", name, columns, end, line)
			}
		}
	}
}

func isDigit(cell string) bool { return cell != "" && cell[0] >= '0' && cell[0] <= '9' }

// numberTitles are the cells in which titles of columns with numbers end.
func numberTitles(row []string) []int {
	known := []string{"tokens", "context", "prompts", "calls", "cost", "chars", "match", "divergent", "undetermined", "lines", "once", "carried", "read", "write", "input", "output", "listed", "described", "called", "typed", "bodies", "share", "cases", "all", "cut", "rank", "uses", "line"}
	var ends []int
	word := ""
	for i := 0; i <= len(row); i++ {
		if i < len(row) && row[i] != " " {
			word += row[i]
			continue
		}
		if slices.Contains(known, word) {
			ends = append(ends, i)
		}
		word = ""
	}
	return ends
}
