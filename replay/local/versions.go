package local

import (
	"errors"
	"fmt"
	"strings"

	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/rules"
)

// versions chooses the rules of each version that the log names. Records whose
// version is none, or has no rules, are judged by the rules of the newest version
// that has some, and what they show to diverge is not confirmed.
func (f *finding) versions() error {
	t := f.o.Table
	if d := t.Described; d != nil {
		r, err := t.At(f.o.Version)
		if err != nil {
			return err
		}
		f.Client = t.Client
		if f.o.Version != "" {
			f.Client += "@" + f.o.Version
		}
		f.Described, f.Assumed = d.Source, r.Assumed
		f.Inputs.Version = r.Version
		f.Inputs.Rules = func(string) *rules.Rules { return &r }
		f.assume(t.Client + " is judged as described, it was never recorded: " + d.Source)
		f.listingsShown()
		return nil
	}
	if v := f.o.Version; v != "" {
		r, err := t.At(v)
		if err != nil {
			return err
		}
		f.Client = t.Client + "@" + v
		f.Inputs.Version = v
		f.Inputs.Rules = func(string) *rules.Rules { return &r }
		f.inexact(&r)
		return nil
	}
	known := map[string]*rules.Rules{}
	var newest string
	var top rules.Version
	var tooOld *rules.TooOldError
	var without []string // rules
	for _, v := range f.s.Versions {
		r, err := t.At(v)
		if err != nil {
			errors.As(err, &tooOld)
			without = append(without, v)
			continue
		}
		known[v] = &r
		if parsed, err := rules.ParseVersion(v); err == nil && (newest == "" || parsed.Compare(top) > 0) {
			newest, top = v, parsed
		}
	}
	if newest == "" && tooOld != nil {
		return fmt.Errorf("%s: %w; --client %s@VERSION chooses other rules", fileOf(f.s), tooOld, t.Client)
	}
	f.Client = t.Client
	if newest == "" {
		r, err := t.At(t.Latest)
		if err != nil {
			return err
		}
		known[t.Latest] = &r
		newest = t.Latest
		f.RulesExact = false
		why := "the log names no client version"
		if len(without) > 0 {
			f.BadVersion = without[0]
			why = fmt.Sprintf("%q, the client version in the log, is none", without[0])
		}
		f.assume(why + ": the newest rules are used, those of " + t.Latest)
	} else {
		f.Client += "@" + newest
		f.upgraded(known, newest, without)
	}
	f.Inputs.Version = newest
	f.Inputs.Rules = func(v string) *rules.Rules {
		if r := known[v]; r != nil {
			return r
		}
		return known[newest]
	}
	return nil
}

// upgraded says what is to be said of a log with several versions, or with one
// that the table does not hold.
func (f *finding) upgraded(known map[string]*rules.Rules, newest string, without []string) {
	var named []string
	for _, v := range f.s.Versions {
		if r := known[v]; r != nil {
			named = append(named, v)
			f.inexact(r)
		}
	}
	if len(named) > 1 {
		f.assume("the client was upgraded during the session (" + few(named) + "): each record is judged by the rules of its own version")
	}
	if len(without) == 0 {
		return
	}
	f.assume(fmt.Sprintf("there are no rules for %s, which the log names too: those of %s are used", quoted(without), newest))
	for _, a := range f.s.Agents {
		for i := range a.Events {
			if v := a.Events[i].Version; v != "" && known[v] == nil {
				f.RulesExact = false
				return
			}
		}
	}
}

// inexact notes rules that are not known to hold.
func (f *finding) inexact(r *rules.Rules) {
	if !r.Exact {
		f.RulesExact = false
		f.assume("client " + r.Version + " is " + r.Why)
	}
}

// few joins the ends of a long list.
func few(names []string) string {
	const most = 4
	if n := len(names); n > most {
		return strings.Join(names[:most-1], ", ") + " … " + names[n-1]
	}
	return strings.Join(names, ", ")
}

func quoted(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = fmt.Sprintf("%q", n)
	}
	return few(out)
}

// listingsShown notes, of a client whose description does not say whether its log
// holds listings, that it does where one stands in it.
func (f *finding) listingsShown() {
	shown := false
	for _, a := range f.s.Agents {
		for i := range a.Events {
			e := &a.Events[i]
			shown = shown || e.Kind == replay.Listing && e.Place == ""
		}
	}
	if !shown {
		return
	}
	f.Inputs.ListingsSeen = map[string]bool{}
	for _, a := range f.s.Agents {
		f.Inputs.ListingsSeen[a.ID] = true
	}
}
