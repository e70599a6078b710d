package report

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"
)

// FloorSchema names the form of a Floor.
const FloorSchema = "skilltrace/floor@1"

// Floor is the agreement that a run must not fall below, by client version and
// kind. It is checked in beside the rules and may only rise.
type Floor struct {
	Schema  string                           `json:"schema"`
	Clients map[string]map[string]FloorEntry `json:"clients"`
}

// FloorEntry is the floor of one kind: at least so many matches, and at most so
// many divergent checks.
type FloorEntry struct {
	Match     int `json:"match"`
	Divergent int `json:"divergent"`
}

// FloorResult is the outcome of a comparison with a floor.
type FloorResult struct {
	Fell []FloorChange `json:"fell"`
	Rose []FloorChange `json:"rose"`
}

// FloorChange is one entry that differs from its floor.
type FloorChange struct {
	Client string     `json:"client"`
	Kind   string     `json:"kind"`
	Floor  FloorEntry `json:"floor"`
	Now    FloorEntry `json:"now"`
}

// ReadFloor reads a floor from its JSON.
func ReadFloor(data []byte) (*Floor, error) {
	var f Floor
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("not a floor: %w", err)
	}
	if f.Schema != FloorSchema {
		return nil, fmt.Errorf("not a floor: its schema is %q, not %q", f.Schema, FloorSchema)
	}
	return &f, nil
}

// Compare sets d.Floor to the comparison of d with a floor, which may be nil
// (nothing is asked). What the floor names and the run lacks has fallen to 0.
// It returns the floor raised to the run: entries that fell stay as they were.
func (d *ConformDocument) Compare(floor *Floor) *Floor {
	now := map[string]map[string]FloorEntry{}
	for _, a := range d.byClient() {
		now[a.client] = map[string]FloorEntry{}
		for kind, n := range a.checks {
			now[a.client][kind] = FloorEntry{n.Match, n.Divergent}
		}
	}
	raised := &Floor{Schema: FloorSchema, Clients: map[string]map[string]FloorEntry{}}
	set := func(client, kind string, e FloorEntry) {
		if raised.Clients[client] == nil {
			raised.Clients[client] = map[string]FloorEntry{}
		}
		raised.Clients[client][kind] = e
	}
	d.Floor = &FloorResult{Fell: []FloorChange{}, Rose: []FloorChange{}}
	if floor != nil {
		for client, kinds := range floor.Clients {
			for kind, was := range kinds {
				is := now[client][kind]
				change := FloorChange{client, kind, was, is}
				switch {
				case is.Match < was.Match || is.Divergent > was.Divergent:
					d.Floor.Fell = append(d.Floor.Fell, change)
				case is != was:
					d.Floor.Rose = append(d.Floor.Rose, change)
				}
				set(client, kind, FloorEntry{max(is.Match, was.Match), min(is.Divergent, was.Divergent)})
			}
		}
	}
	for client, kinds := range now {
		for kind, is := range kinds {
			if _, ok := raised.Clients[client][kind]; !ok {
				d.Floor.Rose = append(d.Floor.Rose, FloorChange{client, kind, FloorEntry{}, is})
				set(client, kind, is)
			}
		}
	}
	sortChanges(d.Floor.Fell)
	sortChanges(d.Floor.Rose)
	return raised
}

func sortChanges(c []FloorChange) {
	sort.Slice(c, func(i, j int) bool {
		if o := compareVersions(c[i].Client, c[j].Client); o != 0 {
			return o < 0
		}
		return c[i].Kind < c[j].Kind
	})
}

// Fell reports whether a floor was given and an entry fell below it.
func (d *ConformDocument) Fell() bool { return d.Floor != nil && len(d.Floor.Fell) > 0 }

func (f *FloorResult) write(b *strings.Builder, style Style) {
	if f == nil {
		return
	}
	if len(f.Fell) == 0 {
		b.WriteString("floor: nothing fell")
		if n := len(f.Rose); n > 0 {
			fmt.Fprintf(b, ", %s", count(n)+" rose")
		}
		b.WriteString("\n")
		return
	}
	fmt.Fprintf(b, "floor: %s fell\n", style.paint(red, plural(len(f.Fell), "entry")))
	for i, c := range f.Fell {
		if limit := style.limit(2 * fewNames); limit > 0 && i == limit {
			fmt.Fprintf(b, "  and %s more\n", count(len(f.Fell)-limit))
			break
		}
		style.line(b, fmt.Sprintf("  %s %s: %s match, %s divergent; the floor is %s, %s", Escape(c.Client), Escape(c.Kind),
			count(c.Now.Match), count(c.Now.Divergent), count(c.Floor.Match), count(c.Floor.Divergent)))
	}
}
