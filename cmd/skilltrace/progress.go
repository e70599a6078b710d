package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/skilltrace/skilltrace/report"
)

// clock is what progress goes by. Tests stop it: their output must not depend on how
// fast the machine is.
var clock = time.Now

// progress says on stderr how far the work is, once it takes more than a second:
// on a terminal on one line that is written over, and in a verbose run elsewhere
// every ten seconds. A nil progress is silent.
type progress struct {
	w        io.Writer
	terminal bool
	width    int // of the terminal, in cells; 0 where it is not known

	mu    sync.Mutex
	start time.Time // of the command
	begun time.Time // of the work that is counted
	last  time.Time
	shown bool

	what        string // the things that are counted
	done, total int
	// bytes of expected are read; expected is 0 where that is not known.
	bytes, expected int64
}

func newProgress(w io.Writer, quiet, verbose bool) *progress {
	terminal := isTerminal(w)
	if quiet || !terminal && !verbose {
		return nil
	}
	return &progress{w: w, terminal: terminal, width: terminalWidth(w), start: clock(), begun: clock()}
}

// expect says how many bytes will be read. What was read before does not count.
func (p *progress) expect(bytes int64) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bytes, p.expected = 0, bytes
}

// read reports that so many more bytes are read.
func (p *progress) read(bytes int64) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bytes += bytes
	p.show()
}

// update reports that done of total are done.
func (p *progress) update(what string, done, total int) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if what != p.what && p.what != "" {
		p.begun, p.bytes, p.expected = clock(), 0, 0 // other work
	}
	p.what, p.done, p.total = what, done, total
	p.show()
}

// show writes the line, if it is time to.
func (p *progress) show() {
	now := clock()
	pause := 100 * time.Millisecond
	if !p.terminal {
		pause = 10 * time.Second
	}
	if now.Sub(p.start) < time.Second || now.Sub(p.last) < pause {
		return
	}
	p.last = now
	text := p.text(now.Sub(p.begun))
	if !p.terminal {
		fmt.Fprintf(p.w, "%s\n", text)
		return
	}
	p.shown = true
	if p.width > 1 {
		// A line that fills the screen goes on on the next, which is not written over.
		text = report.Truncate(text, p.width-1)
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s", text)
}

// text is the line: a bar on a terminal, how many files and bytes, and how long it takes
// yet by the speed so far.
func (p *progress) text(took time.Duration) string {
	part := 0.0
	switch {
	case p.expected > 0:
		part = float64(p.bytes) / float64(p.expected)
	case p.total > 0:
		part = float64(p.done) / float64(p.total)
	}
	part = min(max(part, 0), 1)
	var parts []string
	if p.total > 0 {
		parts = append(parts, fmt.Sprintf("%s %d/%d", p.what, p.done, p.total))
	}
	if p.expected > 0 {
		parts = append(parts, fmt.Sprintf("%s of %s MB", megabytes(min(p.bytes, p.expected)), megabytes(p.expected)))
	}
	// The speed of the first moments says little.
	if part > 0 && part < 1 && took >= 2*time.Second {
		parts = append(parts, remaining(time.Duration(float64(took)*(1-part)/part)))
	}
	text := strings.Join(parts, " · ")
	const cells = 20
	if p.terminal {
		full := int(part * cells)
		text = "[" + strings.Repeat("#", full) + strings.Repeat(".", cells-full) + "] " + text
	}
	return text
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f", float64(n)/1e6) }

// remaining is a time in the words of a line.
func remaining(left time.Duration) string {
	switch seconds := int(left.Seconds() + 0.5); {
	case seconds < 60:
		return fmt.Sprintf("%d s left", max(seconds, 1))
	case seconds < 3600:
		return fmt.Sprintf("%d min %02d s left", seconds/60, seconds%60)
	default:
		return fmt.Sprintf("%d h %02d min left", seconds/3600, seconds/60%60)
	}
}

// clear removes the line, so that something else can be written.
func (p *progress) clear() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}
