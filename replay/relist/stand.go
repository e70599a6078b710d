package relist

import (
	"slices"
	"sort"
	"time"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/rules"
	"github.com/skilltrace/skilltrace/skills"
)

// Sheets are the sheets of one agent's timeline. They are made when they are asked for,
// and kept; use them from one goroutine at a time.
type Sheets struct {
	result *replay.AgentResult
	course replay.Course
	rules  func(version string) *rules.Rules
	known  *Known
	uses   *replay.Usage // that the session itself shows
	made   map[int]*Sheet
}

// NewSheets prepares the sheets of an agent. Known may be nil. Uses are the invocations
// that the session shows, which stand for the client's counts where these are not known;
// nil for none.
func NewSheets(r *replay.AgentResult, c replay.Course, in func(version string) *rules.Rules, known *Known, uses *replay.Usage) *Sheets {
	return &Sheets{result: r, course: c, rules: in, known: known, uses: uses, made: map[int]*Sheet{}}
}

// Standing are the sheets whose entries stand in the conversation at a prompt, in order.
// An entry stands in the last of them that has it. The second result names the input
// without which one of them is not known, "" if all are.
func (s *Sheets) Standing(v *replay.Visibility) ([]*Sheet, string) {
	events := map[int]bool{}
	for name := range v.Skills.All() {
		if at, ok := v.Skills.From(name); ok {
			events[at] = true
		}
	}
	order := make([]int, 0, len(events))
	for at := range events {
		order = append(order, at)
	}
	slices.Sort(order)
	var out []*Sheet
	for _, at := range order {
		sheet := s.at(at)
		if sheet == nil {
			return nil, "skill files"
		}
		out = append(out, sheet)
	}
	return out, ""
}

// at is the sheet of the listing that stands at an event, or that the rules derive from
// it; nil where it cannot be made.
func (s *Sheets) at(event int) *Sheet {
	if sheet, ok := s.made[event]; ok {
		return sheet
	}
	e := &s.result.Agent.Events[event]
	var sheet *Sheet
	if e.Kind == replay.Listing {
		sheet = s.recorded(event, e)
	} else {
		sheet = s.predicted(event, e)
	}
	s.made[event] = sheet
	return sheet
}

// predicted is the sheet of a listing that the log does not hold.
func (s *Sheets) predicted(event int, e *replay.Event) *Sheet {
	for i := range s.result.Predicted {
		if p := &s.result.Predicted[i]; p.Kind == replay.Listing && p.Cause == event && p.Unlogged && p.Missing == "" {
			if sheet := s.untrimmed(p); sheet != nil {
				sheet.Event, sheet.Where = event, e.Where
				return sheet
			}
		}
	}
	return nil
}

// recorded is the sheet of a listing of the log.
func (s *Sheets) recorded(event int, e *replay.Event) *Sheet {
	lines := skills.ParseListing(e.Listing.Content, e.Listing.Names)
	whole := !e.Listing.HasInitial || e.Listing.Initial
	known := &Known{Texts: map[string]string{}}
	if s.known != nil {
		*known = *s.known
	}
	var near *Sheet
	for i := len(s.result.Predicted) - 1; i >= 0; i-- {
		p := &s.result.Predicted[i]
		same := p.Text == e.Listing.Content && p.Missing == ""
		if p.Kind != replay.Listing || p.Cause >= event || near != nil && !same {
			continue
		}
		sheet := s.untrimmed(p)
		switch {
		case sheet == nil:
		case same:
			sheet.Event, sheet.Where, sheet.Whole = event, e.Where, whole
			return sheet
		default:
			near = sheet
		}
	}
	r := s.rules(e.Version)
	if r == nil {
		return nil
	}
	if near != nil {
		known.Texts, known.Given = near.texts(known)
	}
	sheet := FromLog(lines, r.Size, known)
	if len(sheet.Lines) == 0 && len(lines) > 0 {
		return nil // the form of 2.0.30 to 2.0.76, whose parts only files tell
	}
	sheet.Event, sheet.Where, sheet.Whole = event, e.Where, whole
	used := budget.Width(r.Size.Unit, e.Listing.Content)
	sheet.Budget, sheet.Source = s.budget(&r.Size, event), "the budget of this session"
	if near != nil {
		sheet.Budget, sheet.Source = near.Budget, near.Source
	}
	if !known.Held {
		sheet.Budget = max(sheet.Budget, used)
	}
	if s.known != nil && s.known.Usage != nil {
		sheet.score(s.known.Usage, e.Where.Time)
		sheet.Counted = true
	} else {
		sheet.rank(s.uses, e.Where.Time)
	}
	if room := sheet.Budget; !known.Held {
		if sheet.Budget = sheet.room(used); sheet.Budget != room {
			sheet.Source, sheet.Narrowed = "what the listing of the log took", room
		}
	}
	sheet.settle(used)
	return sheet
}

// texts are the whole texts and the client's own entries that a sheet tells, over those
// known already.
func (s *Sheet) texts(known *Known) (texts map[string]string, given map[string]bool) {
	texts, given = map[string]string{}, map[string]bool{}
	for name, text := range known.Texts {
		texts[name] = text
	}
	for name, own := range known.Given {
		given[name] = own
	}
	for i := range s.Lines {
		l := &s.Lines[i]
		if given[l.Name] = l.Exempt; !l.Hidden {
			texts[l.Name] = l.Text
		}
	}
	return texts, given
}

// untrimmed is the sheet of a predicted listing, nil where no file tells of it.
func (s *Sheets) untrimmed(p *replay.Effect) *Sheet {
	u, ok := s.course.Untrimmed(p)
	if !ok {
		return nil
	}
	sheet := &Sheet{Whole: p.Initial, Size: u.Size, Budget: u.Budget, Source: u.Source, ByFiles: true, Counted: u.Uses != nil}
	shown := make(map[string]*replay.ListedEntry, len(p.Entries))
	for i := range p.Entries {
		shown[p.Entries[i].Name] = &p.Entries[i]
	}
	for _, l := range u.Lines {
		line := Line{Line: l, At: -1, Was: replay.ShownFull}
		line.Exempt = l.Exempt && (s.known != nil && s.known.Complete || skills.OwnName(l.Name))
		if e := shown[l.Name]; e != nil {
			line.Was = e.Shown
			line.Capped = e.Capped
		}
		if u.Unfiled[l.Name] && !line.Exempt {
			switch {
			case l.Full == l.Bare:
				line.Was, line.Hidden = replay.ShownNameOnly, true
			case line.cut(&u.Size):
				line.Was, line.Hidden = replay.ShownShortened, true
			}
		}
		sheet.Lines = append(sheet.Lines, line)
	}
	if u.Uses == nil {
		sheet.rank(s.uses, time.UnixMilli(u.NowMS))
	}
	sheet.settle(sheet.Trim(sheet.Budget).Used)
	return sheet
}

// settle notes what the listing of the log left of its budget.
func (s *Sheet) settle(used int) {
	s.free = s.Budget - used
	t := s.Trim(s.Budget)
	s.width = t.TextWidth
	byUse := s.Size.Overflow == budget.OverflowGreedy || s.Size.Overflow == budget.OverflowStrip
	s.Counted = s.Counted || !byUse
}

// room is the budget that the log leaves possible, no more than is assumed. An assumed one
// is disproved where it would have shown more of most of the entries that the log shows
// cut. A few may only be shorter by now.
func (s *Sheet) room(used int) int {
	if s.Budget <= used || s.Size.Overflow == budget.OverflowCut {
		return s.Budget
	}
	cut, more := 0, s.showsMore(s.Budget)
	for i := range s.Lines {
		if l := &s.Lines[i]; l.Was != replay.ShownFull && !l.Hidden && l.Text != "" {
			cut++
		}
	}
	if s.Size.Overflow != budget.OverflowUniform {
		more = 0
		for i := range s.Lines {
			if l := &s.Lines[i]; l.Was == replay.ShownNameOnly && !l.Hidden && l.Text != "" && budget.Width(s.Size.Unit, l.Full)-budget.Width(s.Size.Unit, l.Bare) <= s.Budget-used {
				more++
			}
		}
	}
	if more < 2 || more <= cut/2 {
		return s.Budget
	}
	if s.Size.Overflow != budget.OverflowUniform {
		return used
	}
	// The widest that shows no more than the log.
	return used + sort.Search(s.Budget-used, func(n int) bool { return s.showsMore(used+n+1) > 0 })
}

// showsMore is the number of entries that the log shows cut and of which a budget would
// show more.
func (s *Sheet) showsMore(limit int) int {
	n := 0
	t := s.Trim(limit)
	for i := range s.Lines {
		if l := &s.Lines[i]; l.Was != replay.ShownFull && !l.Hidden && len(t.Lines[i].Text) > len(l.Sent) {
			n++
		}
	}
	return n
}

// rank gives entries the weight of the uses that the session itself shows. Those that a
// listing showed whole rank before those that it did not.
func (s *Sheet) rank(uses *replay.Usage, at time.Time) {
	most := s.score(uses, at)
	cut := slices.ContainsFunc(s.Lines, func(l Line) bool { return l.Was == replay.ShownNameOnly && (l.Hidden || l.Text != "") })
	for i := range s.Lines {
		if s.Lines[i].Was == replay.ShownFull && cut && !s.ByFiles {
			s.Lines[i].Score += most + 1
		}
	}
}

// score gives entries the weight of usage counts, 0 where there are none; the greatest is
// the result.
func (s *Sheet) score(uses *replay.Usage, at time.Time) (most float64) {
	var counts map[string]replay.UsageCount
	if uses != nil {
		counts = uses.At(at)
	}
	for i := range s.Lines {
		l := &s.Lines[i]
		l.Score = 0
		if c, ok := counts[l.Name]; ok {
			l.Score = budget.Score(c.Count, c.LastUsedMS, at.UnixMilli())
			if s.Size.Rank == budget.RankCount {
				l.Score = float64(c.Count)
			}
			most = max(most, l.Score)
		}
	}
	return most
}

// budget is the room of a listing by the session's window and model.
func (s *Sheets) budget(size *budget.Size, event int) int {
	if s.known != nil && s.known.Budget > 0 {
		return s.known.Budget
	}
	in := budget.BudgetInputs{}
	if s.known != nil {
		in.Window = s.known.Window
	}
	calls := s.result.Agent.Calls
	for i := range calls {
		if calls[i].Model == "" {
			continue
		}
		in.Model = calls[i].Model
		if calls[i].Event > event {
			break
		}
	}
	n, _ := budget.ListingBudget(*size, in)
	return max(n, 0)
}
