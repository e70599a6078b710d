package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"
)

// fewRows is how many rows one screen shows; a verbose style shows all.
const fewRows = 30

// WriteTable writes the rows that were asked for, what could have been avoided, the
// client's own total, and what limits the figures.
func (d *CostDocument) WriteTable(w io.Writer, style Style) error {
	var b strings.Builder
	if d.Calls == 0 && len(d.Rows) == 0 {
		_, err := io.WriteString(w, "No model requests.\n")
		return err
	}
	shown := *d
	if !style.Verbose && !d.AllRows {
		shown.cutRows(fewRows)
	}
	d.writeHeader(&b, style)
	b.WriteString("\n")
	if d.WhatIf != nil {
		if err := d.WhatIf.write(&b, style); err != nil {
			return err
		}
		d.writeNotes(&b, style)
		writeNext(&b, style, []string{d.again(style) + " --by skill"})
		_, err := io.WriteString(w, b.String())
		return err
	}
	if err := shown.writeRows(&b, style); err != nil {
		return err
	}
	b.WriteString("\n")
	d.writeAvoidable(&b, style)
	d.writeClient(&b, style)
	d.writeNotes(&b, style)
	writeNext(&b, style, d.next(style))
	_, err := io.WriteString(w, b.String())
	return err
}

// cutRows leaves out all but the rows that cost most.
func (d *CostDocument) cutRows(limit int) {
	// A line that says that one row is left out has room for the row.
	if len(d.Rows) <= limit+1 || d.Others != nil {
		return
	}
	d.Rows = slices.Clone(d.Rows)
	d.limit(limit)
	d.Others.settle(d.total())
}

func (d *CostDocument) writeHeader(b *strings.Builder, style Style) {
	u := &d.Usage
	parts := []string{plural(d.Sessions, "session") + ", " + plural(d.Calls, "model call")}
	if period := d.period(style); period != "" {
		parts = append(parts, period)
	}
	parts = append(parts, plural(u.sum()-u.Output, "token")+" in, "+count(u.Output)+" out")
	switch {
	case d.CostMicroUSD == nil:
		parts = append(parts, "unpriced")
	case len(d.Unpriced) > 0:
		parts = append(parts, style.paint(bold, total(*d.CostMicroUSD))+" and what has no price")
	default:
		parts = append(parts, style.paint(bold, total(*d.CostMicroUSD)))
	}
	style.line(b, together(parts, style.width()))
}

// total writes an amount as the sums of the table do.
func total(micro int64) string {
	_, sum := fineMoney(nil, micro)
	return sum
}

// period is the time that counts, "" for all. The end of a day is written as the day.
func (d *CostDocument) period(style Style) string {
	from, to := "", ""
	if d.Since != nil {
		from = strings.TrimSuffix(style.day(d.Since), " 00:00")
	}
	if d.Until != nil {
		to = style.day(d.Until)
		if strings.HasSuffix(to, " 00:00") {
			last := d.Until.Add(-time.Second)
			to = style.date(&last)
		}
	}
	switch {
	case from == "" && to == "":
		return ""
	case to == "":
		return "from " + from
	case from == "":
		return "to " + to
	case from == to:
		return "on " + from
	}
	return from + " to " + to
}

// keyColumns are the columns of what rows are by.
func (d *CostDocument) keyColumns() []column {
	var out []column
	for _, by := range d.By {
		c := column{title: by}
		switch by {
		case "skill", "model":
			c.shrink, c.least = 1, 22
		case "project":
			c.shrink, c.least, c.tail = 2, 12, true
		case "session", "agent":
			c.shrink, c.least = 2, 8
		}
		out = append(out, c)
	}
	return out
}

// keyCells are the words of a row for what rows are by.
func (d *CostDocument) keyCells(k *CostKey, style Style) []string {
	var out []string
	for _, by := range d.By {
		text := k.of(by)
		switch {
		case text == "" && by == "skill":
			text = "(no skill)"
		case text == "":
			text = "(unknown)"
		case by == "session":
			text = shortID(text)
		case by == "agent":
			text = shortID(text)
			for _, more := range []string{k.AgentType, k.OnBehalfOf} {
				if more != "" {
					text += " " + Escape(more)
				}
			}
		case by == "project":
			text = style.shortPath(text)
		default:
			text = Escape(text)
		}
		out = append(out, text)
	}
	return out
}

func (d *CostDocument) writeRows(b *strings.Builder, style Style) error {
	costs, sum := d.rowCosts()
	shares := d.shares()
	u := &d.Usage
	keys := d.keyColumns()
	for i, by := range d.By {
		if by == "project" {
			keys[i].least = max(keys[i].least, d.apart(i, style))
		}
	}
	g := grid{tight: style.width() < 100 && !style.Verbose, columns: keys}
	// The first cell of the rows below says what they are.
	foot := func(first string) []string {
		cells := make([]string, len(keys))
		cells[0] = first
		return cells
	}
	all := slices.Concat[[]string]
	money := []column{{title: "cost", right: true}, {title: "share", right: true, drop: lateDrop}}
	if d.bySkill() {
		g.columns = slices.Concat(g.columns, []column{
			{title: "listed", right: true, drop: 3}, {title: "described", right: true, drop: 7}, {title: "called", right: true, drop: 2}, {title: "typed", right: true, drop: 2},
			{title: "refused", right: true, drop: 6}, {title: "bodies", right: true, drop: 4}, {title: "put back", right: true, drop: 5},
			{title: "once", right: true, drop: 8}, {title: "carried", right: true, drop: 3}}, money,
			[]column{{title: "avoidable", right: true, drop: 2}, {title: "on behalf", right: true, drop: 2}})
		avoidable, behalf := d.useCosts()
		for i := range d.Rows {
			r := &d.Rows[i]
			use := r.Use
			if use == nil {
				use = &SkillCost{}
			}
			g.add(all(d.keyCells(&r.CostKey, style), []string{
				some(int64(use.Listed)), some(int64(use.Described)), some(int64(use.ByModel)), some(int64(use.ByUser)), some(int64(use.Refused)),
				some(int64(use.Bodies)), some(int64(use.Reattachments)), some(r.Once), some(r.Carried), costs[i], shares[i], avoidable[i], behalf[i]})...)
		}
		if o := d.Others; o != nil {
			last := len(d.Rows)
			g.add(all(foot(others(o)), []string{"", "", "", "", "", "", "", some(o.Once), some(o.Carried), costs[last], shares[last], avoidable[last], behalf[last]})...)
		}
		g.add(all(foot("all"), []string{"", "", "", "", "", "", "", "", "", sum, "", "", ""})...)
		return g.write(b, style)
	}
	layers := slices.Contains(d.By, "layer") || slices.Contains(d.By, "part")
	late := []column{{title: "read", right: true, drop: 3}, {title: "write", right: true, drop: 3}, {title: "input", right: true, drop: 3}, {title: "output", right: true, drop: 3}}
	if layers {
		g.columns = slices.Concat(g.columns, []column{{title: "once", right: true, drop: 5}, {title: "carried", right: true, drop: 4}}, late, money, []column{{title: "basis", drop: 6}})
	} else {
		g.columns = slices.Concat(g.columns, []column{{title: "calls", right: true, drop: 2}}, late, money)
	}
	kinds := func(t *TokenSum) []string {
		return []string{some(t.CacheRead), some(t.CacheWrite5m + t.CacheWrite1h), some(t.Input), some(t.Output)}
	}
	row := func(keys []string, calls int, once, carried int64, t *TokenSum, cost, share, basis string) {
		if layers {
			g.add(all(keys, []string{some(once), some(carried)}, kinds(t), []string{cost, share, Escape(basis)})...)
			return
		}
		g.add(all(keys, []string{some(int64(calls))}, kinds(t), []string{cost, share})...)
	}
	for i := range d.Rows {
		r := &d.Rows[i]
		row(d.keyCells(&r.CostKey, style), r.Calls, r.Once, r.Carried, &r.Tokens, costs[i], shares[i], r.Basis)
	}
	if o := d.Others; o != nil {
		last := len(d.Rows)
		row(foot(others(o)), 0, o.Once, o.Carried, &o.Tokens, costs[last], shares[last], "")
	}
	row(foot("all"), d.Calls, 0, 0, u, sum, "", "")
	return g.write(b, style)
}

// apart is how many cells of the ends of paths tell the projects apart; 0 where more
// would be needed than a line has for them.
func (d *CostDocument) apart(column int, style Style) int {
	paths := map[string]bool{}
	for i := range d.Rows {
		paths[d.keyCells(&d.Rows[i].CostKey, style)[column]] = true
	}
	for width := 12; width <= style.width()/2; width++ {
		cut := map[string]bool{}
		for path := range paths {
			cut[truncateStart(path, width)] = true
		}
		if len(cut) == len(paths) {
			return width
		}
	}
	return 0
}

func others(o *CostOthers) string { return plural(o.Rows, "other") }

// bySkill reports whether rows tell how skills were used.
func (d *CostDocument) bySkill() bool {
	return slices.Contains(d.By, "skill") && !slices.Contains(d.By, "layer") && !slices.Contains(d.By, "part") && !slices.Contains(d.By, "model")
}

// rowCosts writes the costs of the rows, and of those left out, so that they add up.
func (d *CostDocument) rowCosts() (rows []string, sum string) {
	var amounts []int64
	priced := func(micro *int64, tokens int64) {
		if micro == nil {
			amounts = append(amounts, 0)
			rows = append(rows, "unpriced")
			if tokens == 0 {
				rows[len(rows)-1] = ""
			}
			return
		}
		amounts = append(amounts, *micro)
		rows = append(rows, "")
	}
	for i := range d.Rows {
		priced(d.Rows[i].CostMicroUSD, d.Rows[i].Tokens.sum())
	}
	if o := d.Others; o != nil {
		priced(o.CostMicroUSD, o.Tokens.sum())
	}
	if d.CostMicroUSD == nil {
		return rows, "unpriced"
	}
	texts, sum := fineMoney(amounts, *d.CostMicroUSD)
	for i := range rows {
		if amounts[i] > 0 {
			rows[i] = texts[i]
		}
	}
	return rows, sum
}

// useCosts are what was avoidable of each row, and what was spent on its behalf,
// and likewise of those left out.
func (d *CostDocument) useCosts() (avoidable, behalf []string) {
	write := func(a *CostAmount) string {
		if a == nil || a.Tokens == 0 {
			return ""
		}
		if d.CostMicroUSD == nil {
			return plural(a.Tokens, "token")
		}
		_, text := fineMoney(nil, a.CostMicroUSD)
		return text
	}
	add := func(a *CostAvoidable, b *CostAmount) {
		share := 0.0
		if a != nil {
			share = a.Share
		}
		avoidable, behalf = append(avoidable, percent(share)), append(behalf, write(b))
	}
	for i := range d.Rows {
		u := d.Rows[i].Use
		if u == nil {
			u = &SkillCost{}
		}
		add(u.Avoidable, u.OnBehalf)
	}
	if o := d.Others; o != nil {
		add(o.Avoidable, o.OnBehalf)
	}
	return avoidable, behalf
}

// shares writes the shares of the rows, and of those left out.
func (d *CostDocument) shares() []string {
	var out []string
	for i := range d.Rows {
		out = append(out, percent(d.Rows[i].Share))
	}
	if d.Others != nil {
		out = append(out, percent(d.Others.Share))
	}
	return out
}

// percent writes a share: 12.3%, what is less than can be shown as <0.1%, and nothing
// for nothing.
func percent(share float64) string {
	n := int64(math.Round(share * 1000))
	switch {
	case share == 0:
		return ""
	case n == 0:
		return "<0.1%"
	}
	return fmt.Sprintf("%d.%d%%", n/10, n%10)
}

func (d *CostDocument) writeAvoidable(b *strings.Builder, style Style) {
	a := d.Avoidable
	if a == nil {
		return
	}
	amount := func(c *CostAmount) string {
		if d.CostMicroUSD == nil {
			return plural(c.Tokens, "token")
		}
		return total(c.CostMicroUSD)
	}
	var parts []string
	for _, part := range []struct {
		amount *CostAmount
		what   string
	}{{a.Uncalled, "listing lines of skills that nobody called"}, {a.Repeated, "texts that stood in the prompt already"}, {a.Duplicate, "listing lines that say what others say"}} {
		if part.amount != nil {
			parts = append(parts, part.what+" "+amount(part.amount))
		}
	}
	style.block(b, "AVOID", amount(&a.CostAmount)+" ("+percent(a.Share)+") was avoidable: "+strings.Join(parts, "; "))
}

// costReasons are why the client counts more or less, in the words of sentences.
var costReasons = map[string]string{
	"silent":    "requests that no log holds",
	"inherited": "taken over from the session that it goes on from",
	"lost":      "requests that it lost: a process ended without writing its count",
	"unwritten": "requests behind its last count",
	"surcharge": "the price of long prompts, which it leaves out",
	"unpriced":  "models that have no price here",
	"prices":    "other prices for the same tokens",
}

func (d *CostDocument) writeClient(b *strings.Builder, style Style) {
	c := d.Client
	if c == nil {
		return
	}
	scope := "for this session"
	switch {
	case c.Sessions < d.Sessions:
		scope = "for " + count(c.Sessions) + " of " + plural(d.Sessions, "session")
	case c.Sessions > 1:
		scope = "for these " + plural(c.Sessions, "session")
	}
	text := "counts " + total(c.CostMicroUSD) + " itself " + scope
	switch diff := c.CostMicroUSD - c.OursMicroUSD; {
	case diff == 0:
		text += ", as the log does"
	case diff > 0:
		text += ", " + total(diff) + " more than the " + total(c.OursMicroUSD) + " of the log"
	default:
		text += ", " + total(-diff) + " less than the " + total(c.OursMicroUSD) + " of the log"
	}
	style.block(b, "CLIENT", text)
	for _, diff := range c.Differences {
		what := costReasons[diff.Reason]
		if what == "" {
			what = Escape(diff.Reason)
		}
		sign, amount := "+", diff.CostMicroUSD
		if amount < 0 {
			sign, amount = "-", -amount
		}
		if diff.Reason == "silent" && c.Compactions > 0 {
			what += " (" + plural(c.Compactions, "compaction") + ")"
		}
		if diff.Calls > 0 {
			what += ": " + count(diff.Calls)
		}
		style.hang(b, "", sign+total(amount)+" ", what)
	}
}

func (d *CostDocument) writeNotes(b *strings.Builder, style Style) {
	n := &d.Notes
	var notes []string
	add := func(count int, text string) {
		if count > 0 {
			notes = append(notes, text)
		}
	}
	for i, u := range d.Unpriced {
		if limit := style.limit(fewNames); limit > 0 && i == limit {
			notes = append(notes, "and "+plural(len(d.Unpriced)-limit, "more model")+" without a price")
			break
		}
		name := Escape(u.Model)
		if name == "" {
			name = "requests that name no model"
		}
		notes = append(notes, "no price is known for "+name+": "+plural(u.Calls, "call")+", "+plural(u.Tokens, "token")+"; --prices FILE gives it")
	}
	add(n.Unfinished, "at least: "+plural(n.Unfinished, "call")+" without final usage, their output is too low")
	add(n.WithoutUsage, plural(n.WithoutUsage, "call")+" without any usage: not in these figures")
	add(n.Damaged, "at least: "+plural(n.Damaged, "call")+" with a usage of which a field is damaged, and counts nothing")
	add(n.UnknownLifetime, plural(n.UnknownLifetime, "call")+" with cache writes of unknown lifetime: priced at five minutes")
	add(n.Surcharged, plural(n.Surcharged, "call")+" with more than 200,000 tokens at the price for long prompts: "+total(n.SurchargeMicroUSD)+", which the client's own figures leave out")
	add(n.Reanchored, plural(n.Reanchored, "call")+" whose prompt changed without a record of it: their texts are estimated anew")
	add(n.ModelChanged, plural(n.ModelChanged, "call")+" within which the model changed: the row with the highest output counts")
	add(n.Copies, plural(n.Copies, "call")+" copied from other logs, counted once")
	add(n.Failed+n.Retried, failures(n))
	label := "NOTES"
	for _, text := range notes {
		style.block(b, label, text)
		label = ""
	}
}

func failures(n *CostNotes) string {
	switch {
	case n.Retried == 0:
		return plural(n.Failed, "request") + " failed, nothing was billed for them"
	case n.Failed == 0:
		return plural(n.Retried, "request") + " failed and " + were(n.Retried) + " tried again, nothing was billed for the first attempts"
	}
	return plural(n.Failed, "request") + " failed, " + count(n.Retried) + " more " + were(n.Retried) + " tried again; nothing was billed for them"
}

func were(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// again is the command that reads the same sessions.
func (d *CostDocument) again(style Style) string {
	return with("skilltrace cost", style.Again, style.PricesFile, style.Zone)
}

// write writes a row for each layer: now, then, and the difference.
func (c *CostWhatIf) write(b *strings.Builder, style Style) error {
	style.block(b, "WHAT IF", listAll(escapeAll(c.Inputs), 0))
	b.WriteString("\n")
	g := grid{columns: []column{
		{title: "layer"}, {title: "tokens", right: true, drop: 2}, {title: "what if", right: true, drop: 2}, {title: "difference", right: true, drop: 3},
		{title: "cost", right: true}, {title: "what if", right: true}, {title: "difference", right: true},
	}}
	rows := append(slices.Clone(c.Layers), c.CostChange)
	// Each amount is rounded by itself, so that what stays the same is written alike, and
	// differences are those of what is shown.
	unit := unitOf(fineDecimals(max(micro(c.NowMicroUSD), micro(c.ThenMicroUSD))))
	units := func(micro int64) int64 { return (micro + unit/2) / unit }
	for i := range rows {
		r := &rows[i]
		if i == len(rows)-1 {
			r.Layer = "all"
		}
		cost := func(micro *int64, tokens TokenSum) string {
			switch {
			case micro == nil && tokens.sum() > 0:
				return "unpriced"
			case micro == nil, *micro == 0:
				return ""
			}
			return inUnits(units(*micro), unit)
		}
		difference := ""
		if r.NowMicroUSD != nil && r.ThenMicroUSD != nil {
			if n := units(*r.ThenMicroUSD) - units(*r.NowMicroUSD); n != 0 {
				difference = signed(n < 0, inUnits(max(n, -n), unit))
				m := micro(r.DifferenceMicroUSD)
				if all := *r.NowMicroUSD; i == len(rows)-1 && all > 0 {
					difference += " (" + signed(n < 0, percent(float64(max(m, -m))/float64(all))) + ")"
				}
			}
		}
		tokens := ""
		if n := r.DifferenceTokens; n != 0 {
			tokens = signed(n < 0, count(max(n, -n)))
		}
		g.add(Escape(r.Layer), some(r.Now.sum()), some(r.Then.sum()), tokens, cost(r.NowMicroUSD, r.Now), cost(r.ThenMicroUSD, r.Then), difference)
	}
	if err := g.write(b, style); err != nil {
		return err
	}
	b.WriteString("\n")
	for i, text := range c.Assumptions {
		label := ""
		if i == 0 {
			label = "ASSUMED"
		}
		style.block(b, label, Escape(text))
	}
	return nil
}

func signed(below bool, text string) string {
	if below {
		return "-" + text
	}
	return "+" + text
}

// next names the questions that follow, about the same sessions.
func (d *CostDocument) next(style Style) []string {
	again := d.again(style)
	var next []string
	switch {
	case slices.Equal(d.By, []string{"layer"}):
		next = append(next, again+" --by skill")
	default:
		next = append(next, again+" --by layer")
	}
	if d.Sessions > 1 && !slices.Contains(d.By, "session") {
		next = append(next, again+" --by session")
	} else if !slices.Contains(d.By, "model") {
		next = append(next, again+" --by model")
	}
	return next
}
