package conform

import (
	"fmt"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/conform/scenario"
	"github.com/skilltrace/skilltrace/replay/rules"
)

// sent puts the listings that only the requests show into the timelines: clients up
// to 2.1.92 write none to the log. A list in a tool's description counts when it is
// new or has changed; one in a message counts once.
func (r *runner) sent(place rules.Place) error {
	requests, err := r.c.Requests()
	if err != nil {
		return err
	}
	byLane := map[lane][]scenario.Request{}
	var lanes []lane
	for _, q := range requests {
		if q.Kind != scenario.RequestMain && q.Kind != scenario.RequestSubagent && q.Kind != scenario.RequestCompact {
			continue
		}
		l := lane{q.Run, q.Lane}
		if q.Kind == scenario.RequestCompact {
			l.name = ""
		}
		if byLane[l] == nil {
			lanes = append(lanes, l)
		}
		byLane[l] = append(byLane[l], q)
	}
	for _, l := range lanes {
		seen := listings(byLane[l], place)
		if len(seen) == 0 {
			continue
		}
		for i, s := range r.sessions {
			if !slices.Contains(r.logs[i].Runs, l.run) {
				continue
			}
			if a := agentOf(s, l); a != nil {
				r.shown[s] = append(r.shown[s], a.ID)
				insert(a, l, seen, filepath.Join(r.c.Dir, "requests.jsonl"), r.c.Version)
			}
		}
	}
	return nil
}

// lane is a sequence of requests: a run's main loop, or one of its subagents.
type lane struct {
	run  int
	name string
}

// seen is a listing with the number of the request, among those of its lane that
// were answered, which carried it first.
type seen struct {
	request int
	line    int
	text    string
}

// listings are the listings of a lane's requests, each where it came first.
func listings(requests []scenario.Request, place rules.Place) []seen {
	var out []seen
	var before []string
	n := 0
	for i := range requests {
		q := &requests[i]
		if q.Kind == scenario.RequestCompact {
			before = nil
			continue
		}
		now := q.Listings(before)
		if len(now) == 0 {
			if q.Kind == scenario.RequestSubagent {
				n++
			}
			continue // in a main loop none of the conversation's: a title, a check of the quota
		}
		switch {
		case place.InTool():
			if len(now) > 0 && (len(out) == 0 || out[len(out)-1].text != now[0]) {
				out = append(out, seen{n, q.Line, now[0]})
			}
		default:
			same := 0
			for same < min(len(before), len(now)) && before[same] == now[same] {
				same++
			}
			for _, text := range now[same:] {
				out = append(out, seen{n, q.Line, text})
			}
			before = now
		}
		n++
	}
	return out
}

// agentOf is the agent whose requests a lane holds.
func agentOf(s *replay.Session, l lane) *replay.Agent {
	if l.name == "" {
		return s.Main()
	}
	for _, a := range s.Agents[1:] {
		for i := range a.Events {
			if e := &a.Events[i]; (e.Kind == replay.Prompt || e.Kind == replay.Body) && strings.Contains(e.Text, l.name) {
				return a
			}
		}
	}
	return nil
}

// insert puts the listings before the replies to the requests that carried them.
func insert(a *replay.Agent, l lane, list []seen, file, version string) {
	turns, inRun := []int{}, a.ID != "main"
	for i := range a.Events {
		switch e := &a.Events[i]; e.Kind {
		case replay.Start:
			if a.ID == "main" {
				inRun = e.Start.Process == l.run
			}
		case replay.Turn:
			if inRun {
				turns = append(turns, i)
			}
		}
	}
	var ins []replay.Insertion
	for _, x := range list {
		if x.request >= len(turns) {
			continue
		}
		where := replay.Where{File: file, Line: x.line, UUID: fmt.Sprintf("request-%d-%d", l.run, x.line), Time: a.Events[turns[x.request]].Where.Time}
		listing := &jsonl.Attachment{Type: "skill_listing", Content: x.text}
		ins = append(ins,
			replay.Insertion{Before: turns[x.request], Event: replay.Event{Kind: replay.Noticed, Where: where, Listing: listing, Version: version}},
			replay.Insertion{Before: turns[x.request], Event: replay.Event{Kind: replay.Listing, Where: where, Text: x.text, Listing: listing, Version: version}})
	}
	sort.SliceStable(ins, func(i, j int) bool { return ins[i].Before < ins[j].Before })
	a.Insert(ins)
}
