package conform

import (
	"fmt"
	"os"
	"sort"
	"strings"
	"testing"

	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/conform/scenario"
)

func TestDev(t *testing.T) {
	root := os.Getenv("DEV")
	if root == "" {
		t.Skip()
	}
	dirs, err := scenario.Find(root)
	if err != nil {
		t.Fatal(err)
	}
	filter := os.Getenv("VER")
	type key struct{ v, k string }
	tot := map[key]Count{}
	vs := map[string]bool{}
	n := 0
	for _, d := range dirs {
		if filter != "" && !strings.HasSuffix(d, "/"+filter) {
			continue
		}
		a := Run(d)
		if a.Err != nil {
			fmt.Println("ERR", d, a.Err)
			continue
		}
		vs[a.Version] = true
		for k, c := range a.Counts {
			x := tot[key{a.Version, string(k)}]
			x.Match += c.Match
			x.Divergent += c.Divergent
			x.Undetermined += c.Undetermined
			tot[key{a.Version, string(k)}] = x
		}
		for _, c := range a.Checks {
			n++
			if os.Getenv("V") == "" && n > 60 || os.Getenv("K") != "" && os.Getenv("K") != string(c.Kind) || os.Getenv("U") == "" && c.Verdict == replay.Undetermined {
				continue
			}
			fmt.Printf("%s %s %s L%d %s agent=%s rule=%s: %s [%s]\n", c.Verdict, a.Case, c.Kind, c.Where.Line, c.Skill, c.Agent, c.Rule, c.Reason, c.Missing)
			if os.Getenv("V") == "2" {
				fmt.Printf("   want %.40000q\n   got  %.40000q\n", c.Expected, c.Observed)
			}
		}
	}
	var list []string
	for v := range vs {
		list = append(list, v)
	}
	sort.Slice(list, func(i, j int) bool { return scenario.CompareVersions(list[i], list[j]) < 0 })
	for _, v := range list {
		s := fmt.Sprintf("%-9s", v)
		for _, k := range replay.CheckKinds {
			c := tot[key{v, string(k)}]
			s += fmt.Sprintf(" %s %d/%d/%d", k, c.Match, c.Divergent, c.Undetermined)
		}
		fmt.Println(s)
	}
}
