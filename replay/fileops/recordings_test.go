package fileops

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRecorded follows every Bash call of the recordings: all that they do to
// skill files must be understood.
func TestRecorded(t *testing.T) {
	root := os.Getenv("SKILLTRACE_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared")
	}
	root = filepath.Join(root, "conformance")
	if _, err := os.Stat(root); err != nil {
		t.Skipf("no recordings: %v (set SKILLTRACE_SHARED)", err)
	}
	commands := map[string]int{}
	mark := []byte(`"name":"Bash"`)
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".jsonl" || d.Name() == "requests.jsonl" {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for bytes.Contains(text, mark) {
			i := bytes.Index(text, mark)
			start, end := bytes.LastIndexByte(text[:i], '\n')+1, bytes.IndexByte(text[i:], '\n')
			line := text[start:]
			if end >= 0 {
				line = text[start : i+end]
				text = text[i+end:]
			} else {
				text = nil
			}
			var r struct {
				Message struct {
					Content []struct {
						Type, Name string
						Input      struct{ Command string }
					}
				}
			}
			if json.Unmarshal(line, &r) != nil {
				continue // a record of another shape
			}
			for _, b := range r.Message.Content {
				if b.Type == "tool_use" && b.Name == "Bash" {
					commands[b.Input.Command]++
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	calls, changes := 0, 0
	var changing []string
	for command, n := range commands {
		calls += n
		ops := Shell(command, "/home/dev/shop")
		for _, op := range ops {
			if op.Unknown {
				t.Errorf("%s: %+v", command, op)
			}
			if strings.Contains(op.Path, "/.claude/") && !slices.Contains(changing, command) {
				changing = append(changing, command)
				changes += n
			}
		}
	}
	t.Logf("%d calls of %d commands, %d calls of %d commands change skill files", calls, len(commands), changes, len(changing))
}
