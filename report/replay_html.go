package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"hash/fnv"
	"html/template"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/sergi/go-diff/diffmatchpatch"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/report/page"
)

//go:embed replay.html
var replayHTML string

var replayTemplate = sync.OnceValue(func() *template.Template { return page.Template(replayHTML) })

// How much of a session a page shows, so that it opens at once whatever the log holds.
// What is left out is counted on the page.
const (
	pageBytes    = 4_800_000
	pageSessions = 12   // in full; the others have a row
	pageSteps    = 400  // of a chart of the main loop
	subSteps     = 120  // of a chart of another agent
	pageAgents   = 24   // with a chart and a timeline
	agentRows    = 400  // of the table of agents
	pageEvents   = 1500 // rows of the timeline of the main loop
	subEvents    = 1500 // rows of the timelines of the other agents together
	pageViews    = 30   // listings as they were seen
	viewRows     = 2400 // entries of these together
	pageChecks   = 80   // divergences
	gapRows      = 60   // reasons why checks are undetermined
	pageLedger   = 600  // rows of the ledger
	pageFiles    = 400  // skill files
	pageDefects  = 100
	pageMarks    = 300 // marks of a chart, of each kind
	promptLinks  = 24  // of a listing
	nameRunes    = 90
	textRunes    = 260
	sideRunes    = 1200 // of what was expected, and of what was observed
)

// WriteHTML writes a page that holds all it needs. Times are in the zone of the style.
func (d *ReplayDocument) WriteHTML(w io.Writer, style Style) error {
	// Texts full of characters that HTML has to escape can take many times the room of
	// others: then there is room for fewer.
	share := max(1, min(len(d.Sessions), pageSessions))
	var b bytes.Buffer
	for range 8 {
		b.Reset()
		if err := d.writeHTML(&b, style, share); err != nil {
			return err
		}
		if b.Len() <= pageBytes {
			break
		}
		share *= 3
	}
	_, err := w.Write(b.Bytes())
	return err
}

// writeHTML writes the page with room for each session divided by share.
func (d *ReplayDocument) writeHTML(w io.Writer, style Style, share int) error {
	p := &replayPage{Totals: d.Totals.html()}
	title := plural(len(d.Sessions), "session")
	var nav []page.Link
	costs := d.costs()
	// The newest come first, as what is read first.
	for i := range slices.Backward(d.Sessions) {
		s := &d.Sessions[i]
		row := sessionRow{Name: shortID(s.ID), Start: style.day(s.Start), Client: short(s.Client, nameRunes), Project: short(style.shortPath(s.CWD), nameRunes), Prompts: num(s.Prompts), Calls: num(s.Calls),
			Match: num(s.Totals.Match), Divergent: num(s.Totals.Divergent), Undetermined: num(s.Totals.Undetermined), Cost: money(costs[i], s.cost())}
		if len(p.Sessions) < pageSessions {
			v := s.page(style, len(p.Sessions), share)
			row.Href = "#" + v.ID
			p.Sessions = append(p.Sessions, v)
		} else {
			row.Command = with("skilltrace replay "+style.name(s.ID, s.File, s.InScope), style.Given, "--open")
			p.Commands = true
		}
		if len(p.Rows) == agentRows {
			p.RowsLeft++
			continue
		}
		p.Rows = append(p.Rows, row)
	}
	if len(d.Sessions) == 1 {
		title = p.Sessions[0].Title
		nav = p.Sessions[0].nav()
		p.Rows = nil
	} else {
		for i := range p.Sessions {
			nav = append(nav, page.Link{Text: p.Sessions[i].Name, Href: "#" + p.Sessions[i].ID})
		}
	}
	return page.Write(w, replayTemplate(), page.Page{Title: title + " · skilltrace", Nav: nav, Data: p})
}

type (
	replayPage struct {
		Rows     []sessionRow
		RowsLeft int
		Commands bool // of some rows the session is not on the page
		Sessions []*sessionPage
		Totals   verdicts
	}
	sessionRow struct {
		Name, Href, Command, Start, Client, Project string
		Prompts, Calls                              number
		Match, Divergent, Undetermined, Cost        number
	}
	// number is a figure as it is read and as it is sorted.
	number struct {
		V    int64
		Text string
	}
	fact     struct{ Label, Text string }
	tile     struct{ Label, Value, Note, Class string }
	verdicts struct{ Match, Divergent, Undetermined, Unconfirmed int }

	sessionPage struct {
		ID, Name, Title string
		Sub             []string
		Tiles           []tile
		Bare            bool // without what only a detailed document holds
		Main            *agentPage
		Agents          []agentPage // with a chart and a timeline, without the main loop
		AgentRows       []agentRow
		AgentsLeft      int
		Checks          []checkKind
		Totals          verdicts
		NoChecks        string
		Divergences     []divergence
		DivergencesLeft int
		Gaps            []string
		GapsLeft        int
		Layers          []layerLine
		LayersTotal     *layerLine
		LedgerNotes     []string
		Ledger          []ledgerLine
		LedgerLeft      string
		Inputs          []fact
		Assumptions     []string
		Files           []fileLine
		FilesLeft       int
		Defects         []string
		DefectsLeft     int
		Next            []string
	}
	agentPage struct {
		ID, Name, What  string
		Chart           *page.Chart
		Legend          []legendRow
		ByLayer         bool
		Steps           []stepRow
		StepsNote       string
		OffLimit        string
		Compactions     []string
		CompactionsLeft int
		Skills          []skillLine
		Views           []listingView
		ViewsLeft       string
		NoListing       string
		Events          []eventRow
		EventsNote      string
	}
	legendRow struct {
		Class, Name string
		End, Peak   string
	}
	stepRow struct {
		N, Line, Tokens, Output, Cost, Time, Prompt, Href string
		Layers                                            []string
	}
	skillLine struct {
		Name, Href                             string
		ByModel, ByUser, Refused, Bodies, Note number
	}
	listingView struct {
		ID, Head, Counts, Budget string
		Open                     bool
		Prompts                  []page.Link
		PromptsLeft              int
		Bar                      *page.Bar
		Rows                     []entryRow
		RowsLeft                 int
		Predicted                bool
	}
	entryRow struct {
		Name, State, StateText, Text, Lost, From string
		Chars                                    number
	}
	eventRow struct {
		ID, N, Time, Line, Kind, Layer, Skill, Text string
		Context                                     string
		Group, Class                                string
		Gap                                         string
	}
	checkKind struct {
		Kind                                        string
		Match, Divergent, Undetermined, Unconfirmed string
	}
	divergence struct {
		ID, Head, Where, Rule, Reason string
		Unconfirmed                   bool
		Only                          string // the one side that there is
		Pieces                        []diffPiece
		Expected, Observed            string
	}
	diffPiece struct{ Op, Text string }
	layerLine struct {
		Layer, Class               string
		Once, Carried              number
		Input, Read, Write, Output number
		Cost                       number
		Share                      string
		Bar                        *page.Bar
		Basis                      string
	}
	ledgerLine struct {
		Agent, Layer, Class, Part, Skill string
		Calls, Once, Carried             number
		Read, Write, Input, Out          number
		Cost                             number
		Basis                            string
	}
	agentRow struct {
		Name, Href, Type, For, Skills  string
		Calls, Peak, Tokens, Divergent number
		Cost                           number
	}
	fileLine struct{ Name, Path, State, Class, How, Notes string }
)

// trimmed is a part of a sentence without what ties it to the part before.
func trimmed(text string) string { return strings.TrimLeft(text, ",: ") }

func num[T ~int | ~int64](n T) number { return number{int64(n), count(n)} }

// some0 is num with nothing to read for 0.
func some0[T ~int | ~int64](n T) number { return number{int64(n), some(int64(n))} }

func money(text string, micro *int64) number {
	if micro == nil {
		return number{-1, text}
	}
	return number{*micro, text}
}

func (s *ReplaySession) cost() *int64 {
	if s.Tokens == nil {
		return nil
	}
	return s.Tokens.CostMicroUSD
}

func (t Totals) html() verdicts {
	return verdicts(t)
}

// Finding reports whether there is anything to look at.
func (v verdicts) Finding() bool { return v.Divergent+v.Unconfirmed > 0 }

// short makes a text of a log safe and no longer than most characters, and says what of it
// was left out.
func short(s string, most int) string {
	all := 0
	if len(s) > most*utf8.UTFMax+64 {
		all = utf8.RuneCountInString(s)
		s = s[:most*utf8.UTFMax+64]
	}
	s = Escape(s)
	n := utf8.RuneCountInString(s)
	if n <= most && all == 0 {
		return s
	}
	r := []rune(s)
	if n > most {
		r = r[:most]
	}
	return string(r) + "… (" + plural(max(all, n), "character") + ")"
}

// paragraphs is short for a text that keeps its lines.
func paragraphs(s string, most int) string {
	all := 0
	if len(s) > most*utf8.UTFMax {
		all = utf8.RuneCountInString(s)
		s = s[:most*utf8.UTFMax]
	}
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = Escape(lines[i])
	}
	r := []rune(strings.Join(lines, "\n"))
	if len(r) <= most && all == 0 {
		return string(r)
	}
	all = max(all, len(r))
	return string(r[:min(len(r), most)]) + "…\n(" + plural(all, "character") + ")"
}

// shortNames is short for a list.
func shortNames(names []string, most int) string {
	var out []string
	for _, name := range names[:min(len(names), most)] {
		out = append(out, short(name, nameRunes))
	}
	if n := len(names) - most; n > 0 {
		return strings.Join(out, ", ") + " and " + count(n) + " more"
	}
	return strings.Join(out, ", ")
}

func (s *sessionPage) nav() []page.Link {
	links := []page.Link{{Text: "Context", Href: "#" + s.ID + "-context"}, {Text: "Checks", Href: "#" + s.ID + "-checks"}, {Text: "Listing", Href: "#" + s.ID + "-listing"}}
	if len(s.Main.Events) > 0 {
		links = append(links, page.Link{Text: "Timeline", Href: "#" + s.ID + "-timeline"})
	}
	if len(s.Layers) > 0 {
		links = append(links, page.Link{Text: "Ledger", Href: "#" + s.ID + "-ledger"})
	}
	if len(s.AgentRows) > 0 {
		links = append(links, page.Link{Text: "Agents", Href: "#" + s.ID + "-agents"})
	}
	return append(links, page.Link{Text: "Inputs", Href: "#" + s.ID + "-inputs"})
}

// page is the part of a page that one session has; share is among how many the room is
// divided.
func (s *ReplaySession) page(style Style, n, share int) *sessionPage {
	p := &sessionPage{ID: fmt.Sprintf("s%d", n), Name: shortID(s.ID), Totals: s.Totals.html(), Bare: len(s.Ledger) == 0 && !slices.ContainsFunc(s.Agents, func(a ReplayAgent) bool { return len(a.Events) > 0 })}
	p.Title = "session " + p.Name
	add := func(text string) {
		if text != "" {
			p.Sub = append(p.Sub, text)
		}
	}
	add(short(style.shortPath(s.CWD), nameRunes))
	client := short(s.Client, nameRunes)
	switch {
	case s.Client == "":
	case s.RulesExact:
		client += " (rules exact)"
	case s.Described != "":
		client += " (rules as described in " + short(s.Described, nameRunes) + ")"
	default:
		client += " (rules of the nearest version)"
	}
	add(client)
	if s.Model != "" {
		add(short(s.Model, nameRunes) + ", " + window(s.Window))
	}
	add(stretch(style, s.Start, s.End))
	add(short(style.shortPath(s.File), 200))
	p.tiles(s)
	p.checks(s, style, share)
	p.ledger(s, share)

	events, entryRoom := subEvents/share, viewRows/share
	for i := range s.Agents {
		a := &s.Agents[i]
		if i > 0 {
			p.agentRow(a, i)
		}
		switch {
		case i == 0:
			v := a.page(style, s, n, i, pageSteps/share+1, pageEvents/share+1, &entryRoom)
			p.Main = &v
		case len(p.Agents) < pageAgents/share+1 && (len(a.Context) > 0 || len(a.Events) > 0):
			rows := max(events/4, min(events, 40))
			v := a.page(style, s, n, i, subSteps/share+1, rows, &entryRoom)
			events -= len(v.Events)
			p.Agents = append(p.Agents, v)
			p.AgentRows[len(p.AgentRows)-1].Href = "#" + v.ID
		}
	}
	if p.Main == nil {
		p.Main = &agentPage{ID: p.ID + "-a0"}
	}
	if n := len(p.AgentRows) - agentRows/share; n > 0 {
		p.AgentRows, p.AgentsLeft = p.AgentRows[:len(p.AgentRows)-n], n
	}
	p.inputs(s, style, share)
	name := style.name(s.ID, s.File, s.InScope)
	p.Next = []string{with("skilltrace timeline " + name), with("skilltrace cost "+name+" --by skill", style.PricesFile)}
	if p.Bare {
		p.Next = append(p.Next, with("skilltrace replay "+name, style.Given, "--format html"))
	}
	return p
}

// stretch writes from when to when something went.
func stretch(style Style, start, end *time.Time) string {
	from, to := style.day(start), style.day(end)
	switch {
	case from == "":
		return ""
	case to == "" || to == from:
		return from
	case from[:10] == to[:10]:
		return from + "–" + to[11:] + " (" + offset(end.Sub(*start).Milliseconds()) + ")"
	}
	return from + " – " + to + " (" + offset(end.Sub(*start).Milliseconds()) + ")"
}

func (p *sessionPage) tiles(s *ReplaySession) {
	t := tile{Label: "Prompts", Value: count(s.Prompts)}
	if s.SlashCommands > 0 {
		t.Note = "and " + plural(s.SlashCommands, "slash command")
	}
	p.Tiles = append(p.Tiles, t)
	t = tile{Label: "Model calls", Value: count(s.Calls)}
	if n := len(s.Agents) - 1; n > 0 {
		t.Note = "of " + plural(n+1, "agent")
	}
	p.Tiles = append(p.Tiles, t)
	if len(s.Agents) > 0 {
		a := &s.Agents[0]
		var peak int64
		for _, c := range a.Context {
			peak = max(peak, c.Tokens)
		}
		t = tile{Label: "Largest context", Value: window(peak), Note: "tokens"}
		if s.Window > 0 {
			t.Note = fmt.Sprintf("%d %% of %s tokens", peak*100/s.Window, window(s.Window))
		}
		if n := len(a.Compactions); n > 0 {
			t.Note += ", compacted " + times(n)
		}
		p.Tiles = append(p.Tiles, t)
		if len(a.Listings) > 0 {
			l := &a.Listings[0]
			t = tile{Label: "Skills listed", Value: count(l.Skills)}
			if c := l.Shown; c != nil {
				t.Note = trimmed(c.text())
			}
			p.Tiles = append(p.Tiles, t)
		}
	}
	model, user, refused := 0, 0, 0
	for i := range s.Agents {
		for _, k := range s.Agents[i].Skills {
			model, user, refused = model+k.ByModel, user+k.ByUser, refused+k.Refused
		}
	}
	t = tile{Label: "Skill calls", Value: count(model + user), Note: fmt.Sprintf("%s by the model, %s by the user", count(model), count(user))}
	if refused > 0 {
		t.Note += ", " + count(refused) + " refused"
	}
	p.Tiles = append(p.Tiles, t)
	if c := s.cost(); c != nil {
		shown, _ := moneyColumn([]int64{*c}, *c)
		t = tile{Label: "Cost", Value: shown[0]}
		var skill int64
		for _, l := range s.Tokens.Layers {
			if l.Layer != string(replay.LayerOther) && l.Layer != string(replay.LayerOutput) && l.CostMicroUSD != nil {
				skill += *l.CostMicroUSD
			}
		}
		if *c > 0 {
			t.Note = fmt.Sprintf("%.1f %% of it for skills", float64(skill)*100/float64(*c))
		}
		p.Tiles = append(p.Tiles, t)
	}
	t = tile{Label: "Divergent", Value: "–", Note: "nothing to compare"}
	if s.Totals != (Totals{}) {
		switch {
		case s.Totals.Divergent > 0:
			t.Value, t.Class = "✗ "+count(s.Totals.Divergent), "bad"
		case s.Totals.Unconfirmed > 0:
			t.Value, t.Class = "? "+count(s.Totals.Unconfirmed), "warn"
		default:
			t.Value, t.Class = "✓ 0", "good"
		}
		t.Note = count(s.Totals.Match) + " match, " + count(s.Totals.Undetermined) + " undetermined"
		if s.Totals.Unconfirmed > 0 {
			t.Note += ", " + count(s.Totals.Unconfirmed) + " unconfirmed"
		}
	}
	p.Tiles = append(p.Tiles, t)
}

func (p *sessionPage) checks(s *ReplaySession, style Style, share int) {
	if s.Totals == (Totals{}) {
		p.NoChecks = s.nothingToCheck()
		return
	}
	kinds := map[string]*Totals{}
	for ai := range s.Agents {
		a := &s.Agents[ai]
		for ci := range a.Checks {
			c := &a.Checks[ci]
			t := kinds[c.Kind]
			if t == nil {
				t = &Totals{}
				kinds[c.Kind] = t
			}
			switch {
			case c.Unconfirmed:
				t.Unconfirmed++
			case c.Verdict == string(replay.Match):
				t.Match++
			case c.Verdict == string(replay.Divergent):
				t.Divergent++
			default:
				t.Undetermined++
			}
			if c.Verdict != string(replay.Divergent) {
				continue
			}
			if len(p.Divergences) >= pageChecks/share+1 {
				p.DivergencesLeft++
				continue
			}
			p.Divergences = append(p.Divergences, c.page(fmt.Sprintf("%s-d%d", p.ID, len(p.Divergences)+1), agentPrefix(a, ai)))
		}
	}
	for _, kind := range replay.CheckKinds {
		if t := kinds[string(kind)]; t != nil {
			p.Checks = append(p.Checks, checkKind{kindWords[kind], some(int64(t.Match)), some(int64(t.Divergent)), some(int64(t.Undetermined)), some(int64(t.Unconfirmed))})
		}
	}
	for _, g := range missingInputs([]ReplaySession{*s}) {
		if len(p.Gaps) >= gapRows/share+1 {
			p.GapsLeft++
			continue
		}
		text := count(g.n) + " " + short(g.text(g.n), textRunes) + " (" + g.what() + ")"
		switch {
		case len(g.lines) == 1:
			text += ", line " + g.lines[0]
		case len(g.lines) > 1:
			text += ", lines " + listAll(g.lines, 12)
		}
		p.Gaps = append(p.Gaps, text)
	}
}

func (c *Check) page(id, agent string) divergence {
	v := divergence{ID: id, Unconfirmed: c.Unconfirmed, Rule: short(c.Rule, nameRunes), Reason: short(c.Reason, 600)}
	v.Head = strings.TrimSpace(short(c.Kind, nameRunes) + " " + short(c.Skill, nameRunes))
	v.Where = agent
	if c.Line > 0 {
		v.Where += fmt.Sprintf("line %d", c.Line)
	}
	switch {
	case c.Expected != nil && c.Observed != nil:
		if c.Diff != "" {
			for _, piece := range diffPieces(string(*c.Expected), string(*c.Observed)) {
				op := map[diffmatchpatch.Operation]string{diffmatchpatch.DiffDelete: "del", diffmatchpatch.DiffInsert: "ins"}[piece.op]
				v.Pieces = append(v.Pieces, diffPiece{op, piece.text})
			}
		}
		v.Expected, v.Observed = paragraphs(string(*c.Expected), sideRunes), paragraphs(string(*c.Observed), sideRunes)
	case c.Expected != nil:
		v.Only, v.Expected = "expected, not in the log", paragraphs(string(*c.Expected), sideRunes)
	case c.Observed != nil:
		v.Only, v.Observed = "in the log, not expected", paragraphs(string(*c.Observed), sideRunes)
	}
	return v
}

func (p *sessionPage) ledger(s *ReplaySession, share int) {
	t := s.Tokens
	if t == nil {
		return
	}
	costs, total := t.costs()
	var all layerLine
	var sum int64
	for _, l := range t.Layers {
		sum += micro(l.CostMicroUSD)
	}
	for i, l := range t.Layers {
		line := layerLine{Layer: short(l.Layer, nameRunes), Class: layerClass(l.Layer), Once: some0(l.Once), Carried: some0(l.Carried), Input: some0(l.Tokens.Input), Read: some0(l.Tokens.CacheRead), Write: some0(l.Tokens.CacheWrite5m + l.Tokens.CacheWrite1h),
			Output: some0(l.Tokens.Output), Cost: money(costs[i], l.CostMicroUSD), Basis: short(l.Basis, nameRunes)}
		if sum > 0 {
			line.Share = percent(float64(micro(l.CostMicroUSD)) / float64(sum))
			line.Bar = page.NewBar(line.Layer+": "+line.Share, sum, page.Piece{Value: micro(l.CostMicroUSD), Class: layerClass(l.Layer)})
			line.Bar.Limit = ""
		}
		all.Once.V += l.Once
		all.Carried.V += l.Carried
		p.Layers = append(p.Layers, line)
	}
	all = layerLine{Once: num(all.Once.V), Carried: num(all.Carried.V), Input: num(t.Usage.Input), Read: num(t.Usage.CacheRead), Write: num(t.Usage.CacheWrite5m + t.Usage.CacheWrite1h), Output: num(t.Usage.Output), Cost: number{0, total}}
	p.LayersTotal = &all
	for _, note := range t.Notes {
		p.LedgerNotes = append(p.LedgerNotes, short(note, textRunes))
	}
	if t.Unfinished > 0 {
		p.LedgerNotes = append(p.LedgerNotes, plural(t.Unfinished, "call")+" without a final usage: their output is at least what is shown")
	}
	rows := slices.Clone(s.Ledger)
	slices.SortStableFunc(rows, func(a, b LedgerRow) int {
		if c := micro(b.CostMicroUSD) - micro(a.CostMicroUSD); c != 0 {
			return sign(c)
		}
		return sign(b.Tokens.sum() - a.Tokens.sum())
	})
	var left int64
	if most := pageLedger/share + 1; len(rows) > most {
		for _, r := range rows[most:] {
			left += micro(r.CostMicroUSD)
		}
		p.LedgerLeft = plural(len(rows)-most, "row") + " of less cost, " + FormatUSD(left) + " together, are not shown"
		rows = rows[:most]
	}
	amounts := make([]int64, len(rows))
	var together int64
	for i := range rows {
		amounts[i] = micro(rows[i].CostMicroUSD)
		together += amounts[i]
	}
	shown, _ := fineMoney(amounts, together)
	for i := range rows {
		r := &rows[i]
		if r.CostMicroUSD == nil {
			shown[i] = "?"
		}
		p.Ledger = append(p.Ledger, ledgerLine{Agent: shortID(r.Agent), Layer: short(r.Layer, nameRunes), Class: layerClass(r.Layer), Part: strings.ReplaceAll(short(r.Part, nameRunes), "_", " "), Skill: short(r.Skill, nameRunes), Calls: num(r.Calls),
			Once: some0(r.Once), Carried: some0(r.Carried), Read: some0(r.Tokens.CacheRead), Write: some0(r.Tokens.CacheWrite5m + r.Tokens.CacheWrite1h), Input: some0(r.Tokens.Input), Out: some0(r.Tokens.Output),
			Cost: money(shown[i], r.CostMicroUSD), Basis: short(r.Basis, nameRunes)})
	}
}

func sign(n int64) int {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}

// layerClass is the class of the colour of a layer: one of those of the style sheet.
func layerClass(layer string) string {
	switch l := replay.Layer(layer); l {
	case replay.LayerListing, replay.LayerBody, replay.LayerReattachment, replay.LayerReference, replay.LayerCall, replay.LayerOutput:
		return layer
	}
	return string(replay.LayerOther)
}

func (p *sessionPage) agentRow(a *ReplayAgent, i int) {
	row := agentRow{Name: shortID(a.Agent), Type: short(a.Type, nameRunes), For: short(a.OnBehalfOf, nameRunes), Calls: num(a.Calls)}
	var peak, sum int64
	for _, c := range a.Context {
		peak = max(peak, c.Tokens)
		sum += c.Tokens
	}
	row.Peak, row.Tokens = num(peak), num(sum)
	divergent := 0
	for _, c := range a.Checks {
		if c.Verdict == string(replay.Divergent) && !c.Unconfirmed {
			divergent++
		}
	}
	row.Divergent = some0(divergent)
	var names []string
	for _, k := range a.Skills {
		names = append(names, k.Skill)
	}
	row.Skills = shortNames(names, fewNames)
	var cost int64
	priced := false
	for _, c := range a.Context {
		if c.ContextDetail != nil && c.CostMicroUSD != nil {
			cost, priced = cost+*c.CostMicroUSD, true
		}
	}
	if priced {
		shown, _ := moneyColumn([]int64{cost}, cost)
		row.Cost = number{cost, shown[0]}
	}
	p.AgentRows = append(p.AgentRows, row)
}

func (p *sessionPage) inputs(s *ReplaySession, style Style, share int) {
	for _, in := range s.Inputs {
		text := short(style.shortPaths(in.Source), 400)
		if !in.Found {
			text = strings.TrimSpace("not found " + text)
		}
		if in.Note != "" {
			text = strings.TrimPrefix(text+" · "+short(in.Note, 400), " · ")
		}
		p.Inputs = append(p.Inputs, fact{short(in.Name, nameRunes), text})
	}
	for _, a := range s.Assumptions {
		p.Assumptions = append(p.Assumptions, short(a, 400))
	}
	p.Inputs = append(p.Inputs, fact{"log", fmt.Sprintf("%s, %s of %s", plural(s.Lines, "line"), plural(s.Records, "record"), shortNames(s.Versions, fewNames))})
	if odd := s.oddities(); odd != "" {
		p.Inputs = append(p.Inputs, fact{"order of records", short(odd, 400)})
	}
	for i := range s.SkillFiles {
		k := &s.SkillFiles[i]
		if len(p.Files) >= pageFiles/share+1 {
			p.FilesLeft++
			continue
		}
		line := fileLine{Name: short(k.Name, nameRunes), Path: short(style.shortPath(k.Path), 200), State: short(k.State, nameRunes), Class: map[string]string{fileSame: "good", fileEdited: "warn"}[k.State]}
		var how []string
		for j := range k.Compared {
			how = append(how, k.Compared[j].text())
		}
		line.How = short(strings.Join(how, ", "), textRunes)
		var notes []string
		for _, n := range k.FrontMatter {
			notes = append(notes, fmt.Sprintf("line %d: %s", n.Line, n.Text))
		}
		line.Notes = short(strings.Join(notes, "; "), textRunes)
		p.Files = append(p.Files, line)
	}
	for _, d := range s.Defects {
		if len(p.Defects) >= pageDefects/share+1 {
			p.DefectsLeft++
			continue
		}
		where := fmt.Sprintf("line %d", d.Line)
		if d.File != "" {
			where = short(style.shortPath(d.File), 200) + ":" + fmt.Sprint(d.Line)
		}
		p.Defects = append(p.Defects, where+": "+short(d.Reason, textRunes))
	}
}

// promptLayers are the layers of a prompt from the bottom of a chart up: those of skills
// stand where their size can be read, on the base.
var promptLayers = []string{"listing", "body", "reattachment", "reference", "call", "other"}

// page is what a page shows of one agent.
func (a *ReplayAgent) page(style Style, s *ReplaySession, session, index, steps, rows int, entryRoom *int) agentPage {
	p := agentPage{ID: fmt.Sprintf("s%d-a%d", session, index), Name: shortID(a.Agent)}
	var what []string
	if a.Type != "" {
		what = append(what, short(a.Type, nameRunes))
	}
	if a.OnBehalfOf != "" {
		what = append(what, "for "+short(a.OnBehalfOf, nameRunes))
	}
	p.What = joinDots(append(what, plural(a.Calls, "model call")))
	shown := p.timeline(a, style, rows)
	p.chart(a, s, style, steps, shown)
	for i := range a.Compactions {
		if i == steps {
			p.CompactionsLeft = len(a.Compactions) - i
			break
		}
		p.Compactions = append(p.Compactions, short(a.Compactions[i].text(style), 600))
	}
	for i, k := range a.Skills {
		if i == steps {
			break
		}
		p.Skills = append(p.Skills, skillLine{Name: short(k.Skill, nameRunes), Href: a.eventAt(k.Line, p.ID, shown), ByModel: some0(k.ByModel), ByUser: some0(k.ByUser), Refused: some0(k.Refused + k.Rejected), Bodies: some0(k.Bodies), Note: some0(k.Notes)})
	}
	p.views(a, shown, entryRoom)
	return p
}

// rowOf is a link to the row of the timeline that shows an event, or to the one before
// it; "" where there is none. shown are the numbers of the events with a row, ascending.
func rowOf(id string, shown []int, event int) string {
	i, found := slices.BinarySearch(shown, event)
	if !found {
		i--
	}
	if i < 0 {
		return ""
	}
	return fmt.Sprintf("#%s-e%d", id, shown[i])
}

// eventAt is a link to the first event of a line.
func (a *ReplayAgent) eventAt(line int, id string, shown []int) string {
	if line <= 0 {
		return ""
	}
	for i := range a.Events {
		if a.Events[i].Line == line {
			return rowOf(id, shown, a.Events[i].N)
		}
	}
	return ""
}

// rank says how soon events of a kind are left out of a timeline that is too long.
func rank(kind string) int {
	switch replay.EventKind(kind) {
	case replay.Compaction, replay.Start, replay.Listing, replay.Reattachment, replay.Refusal, replay.SkillCall, replay.Slash, replay.Prompt:
		return 0
	case replay.Touch:
		return 2
	case replay.Turn:
		return 3
	}
	return 1
}

// choose picks the events that have a row, by their index: all, or those that say most.
// Of a kind for which there is not room, they are picked evenly.
func choose(events []TimelineEvent, most int) []int {
	var byRank [4][]int
	for i := range events {
		r := rank(events[i].Kind)
		byRank[r] = append(byRank[r], i)
	}
	var out []int
	for _, list := range byRank {
		if room := most - len(out); len(list) > room {
			out = append(out, evenly(list, room)...)
			break
		}
		out = append(out, list...)
	}
	slices.Sort(out)
	return out
}

// evenly picks some of a longer list.
func evenly[T any](list []T, some int) []T {
	var out []T
	for i, v := range list {
		if (i+1)*some/len(list) != i*some/len(list) {
			out = append(out, v)
		}
	}
	return out
}

// timeline fills the rows of the timeline, and returns the numbers of the events that
// have one.
func (p *agentPage) timeline(a *ReplayAgent, style Style, most int) []int {
	chosen := choose(a.Events, most)
	var shown []int
	next := 0
	brief := style
	brief.Verbose = false
	var context int64
	gap := func(to int) {
		if to <= next {
			return
		}
		kinds := map[string]int{}
		var order []string
		for i := next; i < to; i++ {
			if e := &a.Events[i]; e.PromptTokens > 0 {
				context = e.PromptTokens
			}
			k := strings.ReplaceAll(short(a.Events[i].Kind, nameRunes), "_", " ")
			if kinds[k] == 0 {
				order = append(order, k)
			}
			kinds[k]++
		}
		var parts []string
		for _, k := range order {
			parts = append(parts, plural(kinds[k], k))
		}
		p.Events = append(p.Events, eventRow{Gap: strings.Join(parts, ", ")})
	}
	for _, i := range chosen {
		gap(i)
		next = i + 1
		e := &a.Events[i]
		if e.PromptTokens > 0 {
			context = e.PromptTokens
		}
		row := eventRow{ID: fmt.Sprintf("%s-e%d", p.ID, e.N), N: fmt.Sprint(e.N), Kind: strings.ReplaceAll(short(e.Kind, nameRunes), "_", " "), Layer: layerClass(e.Layer), Skill: short(e.Skill, nameRunes), Text: short(clipped(e).note(brief), textRunes), Context: some(context)}
		row.Group = row.Kind
		if e.Layer == "" {
			row.Layer = "none"
		}
		if e.Kind == string(replay.Prompt) && e.Prompt > 0 {
			row.Kind += " " + fmt.Sprint(e.Prompt)
		}
		if e.Line > 0 {
			row.Line = fmt.Sprint(e.Line)
		}
		if e.OffsetMS != nil {
			row.Time = offset(*e.OffsetMS)
		}
		var classes []string
		if !e.Effect && e.Kind != string(replay.Turn) {
			classes = append(classes, "input")
		}
		if e.Abandoned {
			classes = append(classes, "left")
			row.Kind += " (left)"
		}
		if text := e.boundary(); text != "" {
			classes = append(classes, "boundary")
			// Its number, its line and its time stand in columns of their own.
			parts := strings.Split(text, ", ")
			row.Text = short(strings.Join(slices.DeleteFunc(parts[1:], func(part string) bool {
				return part == "line "+row.Line || part == "at "+row.Time || part == "abandoned"
			}), ", "), textRunes)
			if e.Kind == string(replay.Start) {
				_, row.Kind, _ = strings.Cut(parts[0], " ")
			}
		}
		row.Class = strings.Join(classes, " ")
		p.Events = append(p.Events, row)
		shown = append(shown, e.N)
	}
	gap(len(a.Events))
	if n := len(a.Events) - len(chosen); n > 0 {
		p.EventsNote = count(len(chosen)) + " of " + plural(len(a.Events), "event") + " have a row; the others are counted where they stood."
	}
	return shown
}

// clipped is an event whose texts are no longer than a row can show.
func clipped(e *TimelineEvent) *TimelineEvent {
	out := *e
	cut := func(t *Text) *Text {
		if t == nil || len(*t) <= 4*textRunes {
			return t
		}
		return new(Text((*t)[:4*textRunes]) + "…")
	}
	out.Args, out.Text = cut(e.Args), cut(e.Text)
	if len(out.Path) > 4*textRunes {
		out.Path = out.Path[:4*textRunes]
	}
	if len(e.Skills) > fewNames {
		out.Skills = slices.Clone(e.Skills)
	}
	for i := range min(len(out.Skills), fewNames) {
		if len(out.Skills[i]) > 4*nameRunes {
			out.Skills = slices.Clone(out.Skills)
			out.Skills[i] = out.Skills[i][:4*nameRunes]
		}
	}
	return &out
}

// chart draws the context over the requests of an agent. Where there are more than steps,
// neighbours share one, which shows the largest of them; none crosses a compaction.
func (p *agentPage) chart(a *ReplayAgent, s *ReplaySession, style Style, steps int, shown []int) {
	if len(a.Context) == 0 {
		return
	}
	at := a.breaks() // of all compactions
	breaks := slices.Compact(slices.Clone(at))
	if most := max(steps/3, 1); len(breaks) > most {
		breaks = evenly(breaks, most) // a step may cross the others
	}
	per := 1
	for bucketCount(len(a.Context), breaks, per) > steps && per < len(a.Context) {
		per++
	}
	for i := range a.Context {
		p.ByLayer = p.ByLayer || a.Context[i].ContextDetail != nil && a.Context[i].Layers != nil
	}
	layers := []string{"all"}
	if p.ByLayer {
		layers = promptLayers
	}
	values := func(c *ContextSize) []int64 {
		if !p.ByLayer {
			return []int64{c.Tokens}
		}
		out := make([]int64, len(layers))
		if c.ContextDetail == nil || c.Layers == nil {
			out[len(out)-1] = c.Tokens
			return out
		}
		for i, layer := range layers {
			out[i] = *c.Layers.Of(layer)
		}
		return out
	}
	draw := page.Stacked{ID: p.ID + "-chart", Title: "Context of " + p.Name, Label: axis, Limit: s.Window, LimitLabel: "window, " + window(s.Window) + " tokens"}
	for _, layer := range layers {
		draw.Series = append(draw.Series, page.Series{Name: layer, Class: layer})
	}
	stepOf := make([]int, len(a.Context)+1) // where the step of a request begins
	var peak, end []int64
	var most int64
	for _, r := range spans(len(a.Context), breaks) {
		for i := r.from; i < r.to; i += per {
			to := min(i+per, r.to)
			best := i
			for j := i; j < to; j++ {
				stepOf[j] = len(draw.Steps)
				if a.Context[j].Tokens > a.Context[best].Tokens {
					best = j
				}
			}
			c := &a.Context[best]
			v := values(c)
			end = v
			if peak == nil || c.Tokens > most {
				peak, most = v, c.Tokens
			}
			row := stepRow{N: count(best + 1), Line: some(int64(c.Line)), Tokens: count(c.Tokens)}
			if to-i > 1 {
				row.N = count(i+1) + "–" + count(to)
			}
			var parts []string
			for k, n := range v {
				row.Layers = append(row.Layers, some(n))
				if n > 0 && p.ByLayer {
					parts = append(parts, layers[k]+" "+count(n))
				}
			}
			title := fmt.Sprintf("call %s, line %d", row.N, c.Line)
			if d := c.ContextDetail; d != nil {
				row.Href = rowOf(p.ID, shown, d.Event)
				row.Output, row.Prompt = some(d.Output), some(int64(d.Prompt))
				if d.Time != nil && s.Start != nil {
					row.Time = offset(d.Time.Sub(*s.Start).Milliseconds())
				}
				if d.CostMicroUSD != nil {
					row.Cost = inUnits((*d.CostMicroUSD+50)/100, 100)
				}
				if d.Prompt > 0 {
					title += fmt.Sprintf(", prompt %d", d.Prompt)
				}
			}
			title += ": " + count(c.Tokens) + " tokens"
			if len(parts) > 0 {
				title += " = " + strings.Join(parts, " + ")
			}
			draw.Steps = append(draw.Steps, page.Step{Values: v, Title: title, Href: orTop(row.Href, p.ID)})
			p.Steps = append(p.Steps, row)
		}
	}
	stepOf[len(a.Context)] = len(draw.Steps)
	if per > 1 {
		p.StepsNote = fmt.Sprintf("Each step stands for up to %d calls and shows the largest of them.", per)
	}
	for i, layer := range layers {
		if !p.ByLayer || most > 0 && (peak[i] > 0 || end[i] > 0) {
			p.Legend = append(p.Legend, legendRow{layer, map[bool]string{true: layer, false: "all layers"}[p.ByLayer], count(end[i]), count(peak[i])})
		}
	}
	slices.Reverse(p.Legend) // as they stand, from the top down
	draw.First, draw.Last = "call 1", "call "+count(len(a.Context))
	if len(a.Context) == 1 {
		draw.Last = ""
	}
	draw.Desc = fmt.Sprintf("The prompt of each of %s, from %s to at most %s tokens. The table below has the same figures.", plural(len(a.Context), "model call"), count(a.Context[0].Tokens), count(most))
	for i := range a.Compactions {
		c := &a.Compactions[i]
		draw.Rules = append(draw.Rules, page.Mark{At: float64(stepOf[at[i]]), Title: "compaction, " + short(c.text(style), 300), Href: orTop(a.eventAt(c.Line, p.ID, shown), p.ID)})
		if len(draw.Rules) == steps {
			break
		}
	}
	p.marks(a, &draw, stepOf, shown, min(pageMarks, steps))
	p.Chart = draw.New()
	if s.Window > 0 && !p.Chart.LimitShown() {
		p.OffLimit = "The window of " + count(s.Window) + " tokens lies above the chart."
	}
}

// axis writes a number of tokens at a tick.
func axis(n int64) string {
	if n == 0 {
		return "0"
	}
	return window(n)
}

// orTop is a link, or one to where the agent stands.
func orTop(href, id string) string {
	if href == "" {
		return "#" + id
	}
	return href
}

// marks sets prompts and skill calls below a chart, at the request that answered them.
func (p *agentPage) marks(a *ReplayAgent, draw *page.Stacked, stepOf, shown []int, most int) {
	prompts, calls := page.Lane{Label: "prompts"}, page.Lane{Label: "skills"}
	refused := map[string]bool{}
	for i := range a.Events {
		if e := &a.Events[i]; e.Kind == string(replay.Refusal) {
			refused[e.ToolUse] = true
		}
	}
	at := 0
	for i := range a.Events {
		e := &a.Events[i]
		for at < len(a.Context) && a.Context[at].ContextDetail != nil && a.Context[at].Event < e.N {
			at++
		}
		if e.Abandoned {
			continue
		}
		m := page.Mark{At: min(float64(stepOf[at])+0.5, float64(len(draw.Steps))), Href: orTop(rowOf(p.ID, shown, e.N), p.ID)}
		switch replay.EventKind(e.Kind) {
		case replay.Prompt:
			m.Class, m.Title = "prompt", fmt.Sprintf("prompt %d, line %d", e.Prompt, e.Line)
			prompts.Marks = append(prompts.Marks, m)
		case replay.SkillCall:
			m.At = min(float64(stepOf[max(at-1, 0)])+0.5, float64(len(draw.Steps)))
			m.Class, m.Title = "skill", fmt.Sprintf("%s, called by the model, line %d", short(e.Skill, nameRunes), e.Line)
			if refused[e.ToolUse] {
				m.Class, m.Title = "refused", m.Title+", refused"
			}
			calls.Marks = append(calls.Marks, m)
		case replay.Slash:
			if slices.ContainsFunc(a.Skills, func(k SkillCalls) bool { return k.Skill == e.Skill }) {
				m.Class, m.Title = "typed", fmt.Sprintf("/%s, typed, line %d", short(e.Skill, nameRunes), e.Line)
				calls.Marks = append(calls.Marks, m)
			}
		}
	}
	var left []string
	for _, lane := range []*page.Lane{&prompts, &calls} {
		if n := len(lane.Marks); n > most {
			left = append(left, fmt.Sprintf("%s of %s %s have a mark", count(most), count(n), lane.Label))
			lane.Marks = evenly(lane.Marks, most)
		}
		if len(lane.Marks) > 0 {
			draw.Lanes = append(draw.Lanes, *lane)
		}
	}
	if len(left) > 0 {
		p.StepsNote = strings.TrimSpace(p.StepsNote + " " + strings.Join(left, "; ") + ".")
	}
}

// views shows the listing as the model saw it at each prompt, those that saw the same
// together.
func (p *agentPage) views(a *ReplayAgent, shown []int, room *int) {
	type group struct {
		first   *Visibility
		prompts []*Visibility
	}
	var groups []*group
	at := map[uint64]*group{}
	for i := range a.Visibility {
		v := &a.Visibility[i]
		h := fnv.New64a()
		fmt.Fprint(h, v.Listings, v.Predicted)
		for name, state := range v.Skills.All() {
			io.WriteString(h, name)
			io.WriteString(h, "\x00"+string(state)+"\x00")
		}
		key := h.Sum64()
		g := at[key]
		if g == nil {
			g = &group{first: v}
			at[key] = g
			groups = append(groups, g)
		}
		g.prompts = append(g.prompts, v)
	}
	if len(groups) == 0 {
		switch {
		case a.ListingsUnrecorded && len(a.Listings) == 0:
			p.NoListing = "Clients of this version write no listing to the log, and none could be derived."
		case len(a.Listings) == 0:
			p.NoListing = "The log holds no listing."
		}
	}
	for i, g := range groups {
		if i >= pageViews || *room <= 0 {
			p.ViewsLeft = plural(len(groups)-i, "more state") + " of the listing are not shown."
			break
		}
		v := a.view(g.first, *room)
		*room -= len(v.Rows)
		v.ID, v.Open = fmt.Sprintf("%s-l%d", p.ID, i+1), i == 0
		for j, seen := range g.prompts {
			if j == promptLinks {
				v.PromptsLeft = len(g.prompts) - j
				break
			}
			text := fmt.Sprint(seen.Prompt)
			if seen.Command != "" {
				text = "/" + short(strings.TrimPrefix(seen.Command, "/"), nameRunes)
			}
			v.Prompts = append(v.Prompts, page.Link{Text: text, Href: orTop(a.eventAt(seen.Line, p.ID, shown), p.ID)})
		}
		p.Views = append(p.Views, v)
	}
}

// entryStates are the states of entries in words.
var entryStates = map[string]string{"full": "whole", "shortened": "shortened", "name_only": "name only", "absent": "not listed"}

// view is the listing as one prompt saw it.
func (a *ReplayAgent) view(seen *Visibility, room int) listingView {
	v := listingView{Predicted: seen.Predicted}
	from := map[string]*ListedEntry{} // the latest line of each
	var order []string
	var base *ListingSent
	for _, n := range seen.Listings {
		if n < 1 || n > len(a.Listings) {
			continue
		}
		l := &a.Listings[n-1]
		if base == nil {
			base = l
		}
		for j := range l.Entries {
			e := &l.Entries[j]
			if from[e.Name] == nil {
				order = append(order, e.Name)
			}
			from[e.Name] = e
		}
	}
	for name := range seen.Skills.All() {
		if from[name] == nil {
			order = append(order, name)
		}
	}
	counts := ShownCount{}
	var sizes struct{ full, shortened, name, lost int64 }
	for _, name := range order {
		state := string(seen.Skills.Of(name))
		e := from[name]
		if state == string(replay.ShownAbsent) && (e == nil || e.State != state) {
			continue // of another moment
		}
		row := entryRow{Name: short(name, nameRunes), State: state, StateText: entryStates[state]}
		if row.StateText == "" {
			row.State, row.StateText = "none", short(state, nameRunes)
		}
		size := int64(budget.Len16("- " + name))
		if e != nil {
			text := ""
			if e.Text != nil {
				text = string(*e.Text)
				size += int64(budget.Len16(": " + text))
			}
			row.Text = short(text, 2*textRunes)
			if e.Whole != nil {
				kept := strings.TrimSuffix(text, "…")
				lost, _ := strings.CutPrefix(string(*e.Whole), kept)
				row.Lost = short(lost, 2*textRunes)
				sizes.lost += int64(budget.Len16(lost))
				row.From = map[string]string{"files": "by the skill file read now"}[e.WholeFrom]
			}
			if state == string(replay.ShownAbsent) {
				size = 0
				sizes.lost += int64(budget.Len16("- " + name))
			}
		}
		row.Chars = num(size)
		switch replay.Shown(state) {
		case replay.ShownFull:
			counts.Full++
			sizes.full += size
		case replay.ShownShortened:
			counts.Shortened++
			sizes.shortened += size
		case replay.ShownNameOnly:
			counts.NameOnly++
			sizes.name += size
		default:
			counts.Absent++
		}
		if len(v.Rows) < room {
			v.Rows = append(v.Rows, row)
		} else {
			v.RowsLeft++
		}
	}
	n := counts.Full + counts.Shortened + counts.NameOnly
	v.Counts = plural(n, "skill")
	if n > 0 {
		v.Counts += ", " + trimmed(counts.text())
	}
	first := &ListingSent{}
	if len(a.Listings) > 0 {
		first = &a.Listings[0]
	}
	if base == nil || len(from) == 0 {
		return v
	}
	sent := sizes.full + sizes.shortened + sizes.name
	text := "about " + count(sent) + " characters"
	if base == first && base.Size > 0 && len(seen.Listings) == 1 {
		text = plural(base.Size, "character")
	}
	if first.Budget > 0 {
		text += " of a budget of " + count(first.Budget)
		if first.BudgetSource != "" {
			text += " (" + short(first.BudgetSource, textRunes) + ")"
		}
	}
	if base == first && base.Over > 0 {
		text += "; whole it would take "
		if base.DemandAtLeast {
			text += "at least "
		}
		text += count(base.Demand) + ", " + count(base.Over) + " too many"
	}
	v.Budget = text
	lost := page.Piece{Value: sizes.lost, Class: "dropped", Title: "dropped: " + count(sizes.lost) + " characters"}
	if first.Budget > 0 || sizes.lost > 0 {
		v.Bar = page.NewBar(text, first.Budget, page.Piece{Value: sizes.full, Class: "full", Title: "whole entries: " + count(sizes.full) + " characters"}, page.Piece{Value: sizes.shortened, Class: "shortened", Title: "shortened entries: " + count(sizes.shortened)},
			page.Piece{Value: sizes.name, Class: "name_only", Title: "names only: " + count(sizes.name)}, lost)
	}
	return v
}
