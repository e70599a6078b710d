package replay

import (
	"fmt"
	"os"
	"testing"

	"github.com/skilltrace/skilltrace/jsonl"
)

func TestDev(t *testing.T) {
	name := os.Getenv("DEV")
	if name == "" {
		t.Skip()
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Observe(Source{Name: name, Records: jsonl.Read(name, f, jsonl.Options{Sizes: true})})
	fmt.Println(err, s.ID, s.Versions, s.Models, s.CWD, len(s.Defects), s.Replayed, s.Dangling, s.OutOfOrder)
	for _, a := range s.Agents {
		fmt.Println("AGENT", a.ID, a.Prompts, a.Slashes, len(a.Calls), len(a.Segments))
		for i, e := range a.Events {
			tx := e.Text
			if len(tx) > 60 {
				tx = tx[:60]
			}
			fmt.Printf("%3d p%3d L%d %-14s dead=%v %s %q tu=%s\n", i, e.Parent, e.Where.Line, e.Kind, e.Abandoned, e.Skill, tx, e.ToolUse)
		}
	}
}
