package replay

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTable compares tables, of which any may be written on, with maps.
func TestTable(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	tables := []table[int]{{}}
	models := []map[string]int{{}}
	for step := range 3000 {
		i := len(tables) - 1
		if random.IntN(5) == 0 {
			i = random.IntN(len(tables))
		}
		key := fmt.Sprint("k", random.IntN(20))
		next, model := tables[i], maps.Clone(models[i])
		if random.IntN(4) == 0 {
			next = next.without(key)
			delete(model, key)
		} else {
			next = next.with(key, step)
			model[key] = step
		}
		tables, models = append(tables, next), append(models, model)
	}
	for i, tab := range tables {
		got := map[string]int{}
		for k := range 20 {
			key := fmt.Sprint("k", k)
			if v, ok := tab.get(key); ok {
				got[key] = v
			}
		}
		values := tab.values()
		if !maps.Equal(got, models[i]) || tab.empty() != (len(got) == 0) || len(values) != len(got) || !slices.IsSortedFunc(values, func(a, b int) int { return b - a }) {
			t.Fatalf("table %d: %v, values %v, want %v", i, got, values, models[i])
		}
	}
}

func TestLoaded(t *testing.T) {
	var root loaded
	a := root.with(LoadedBody{Key: "k", Text: "one"}).with(LoadedBody{Key: "k", Text: "two"})
	b := a.with(LoadedBody{Key: "l", Text: "three"})
	c := a.with(LoadedBody{Key: "m", Text: "four"}) // a branch
	for _, tt := range []struct {
		l         loaded
		key, text string
		n         int
		want      bool
	}{
		{root, "k", "one", 5, false}, {a, "k", "one", 1, true}, {a, "k", "two", 1, false}, {a, "k", "two", 2, true},
		{b, "l", "three", 3, true}, {a, "l", "three", 3, false}, {c, "l", "three", 3, false}, {c, "m", "four", 3, true}, {b, "m", "four", 3, false}, {c, "k", "two", 9, true},
	} {
		if got := tt.l.holds(tt.key, tt.text, tt.n); got != tt.want {
			t.Errorf("%v: %s %q in %d: %t", tt.l, tt.key, tt.text, tt.n, got)
		}
	}
	if len(a.all()) != 2 || len(b.all()) != 3 || len(c.all()) != 3 || len(root.all()) != 0 {
		t.Error(root, a, b, c)
	}
}
