package request

import (
	"bufio"
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skilltrace/skilltrace/replay/conform/scenario"
)

var update = flag.Bool("update", false, "write the agreement that is found as the floor")

// agreement counts requests of a version, and how many of them agree.
type agreement struct{ asked, agreed int }

// holds compares what was found with the floor in a file of lines "version agreed of
// asked", prints it, and fails where less agrees.
func holds(t *testing.T, file string, found map[string]*agreement) {
	t.Helper()
	name := filepath.Join("testdata", file)
	versions := make([]string, 0, len(found))
	for v := range found {
		versions = append(versions, v)
	}
	slices.SortFunc(versions, func(a, b string) int {
		return cmp.Or(scenario.CompareVersions(strings.Fields(a)[0], strings.Fields(b)[0]), cmp.Compare(a, b))
	})
	var out strings.Builder
	var all agreement
	for _, v := range versions {
		n := found[v]
		fmt.Fprintf(&out, "%s %d of %d\n", v, n.agreed, n.asked)
		all.asked += n.asked
		all.agreed += n.agreed
	}
	t.Logf("%d of %d requests agree\n%s", all.agreed, all.asked, out.String())
	if *update {
		if err := os.WriteFile(name, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		at := strings.LastIndex(lines.Text(), " of ")
		head := strings.LastIndex(lines.Text()[:max(at, 0)], " ")
		if head < 0 {
			t.Fatalf("%s: %q", name, lines.Text())
		}
		var floor agreement
		if _, err := fmt.Sscanf(lines.Text()[head+1:], "%d of %d", &floor.agreed, &floor.asked); err != nil {
			t.Fatal(err)
		}
		v := lines.Text()[:head]
		if n := found[v]; n == nil || n.agreed < floor.agreed {
			t.Errorf("%s: %v, floor %d of %d", v, n, floor.agreed, floor.asked)
		}
	}
}
