package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/report/page"
)

//go:embed cost.html
var costHTML string

var costTemplate = sync.OnceValue(func() *template.Template { return page.Template(costHTML) })

// How many rows a page of costs shows; the others are counted on it.
const (
	pageDays     = 120 // columns; where there are more days, of weeks
	pageCostRows = 800
)

type (
	costPage struct {
		Title       string
		Sub         []string
		Tiles       []tile
		Chart       *page.Chart
		ChartNote   string
		Days        []dayRow
		DayLayers   []legendRow
		Layers      []layerLine
		LayersTotal *layerLine
		Skills      []skillCostRow
		SkillsLeft  int
		Never       []skillCostRow
		NeverCost   string
		By          string
		Rows        []costLineRow
		RowsLeft    int
		Sessions    []costSessionRow
		SessionLeft int
		WhatIf      []changeRow
		WhatIfTotal *changeRow
		Assumptions []string
		Notes       []string
		Bare        bool
	}
	dayRow struct {
		ID, Day string
		Parts   []number
		All     number
	}
	skillCostRow struct {
		Name                                                   string
		Listed, ByModel, ByUser, Refused, Bodies, Back, Tokens number
		Cost, Avoidable, Behalf                                number
		Share                                                  string
		Bar                                                    *page.Bar
	}
	costLineRow struct {
		Keys                 []string
		Sessions, Calls      number
		Once, Carried, Spent number
		Output, Cost         number
		Share                string
	}
	costSessionRow struct {
		ID, Name, Start, Command string
		Calls, Tokens, Cost      number
		Share                    string
	}
	changeRow struct{ Layer, Now, Then, Difference string }
)

// WriteHTML writes a page that holds all it needs.
func (d *CostDocument) WriteHTML(w io.Writer, style Style) error {
	var b bytes.Buffer
	for room := pageCostRows; ; room /= 3 {
		b.Reset()
		if err := d.writeHTML(&b, style, room); err != nil {
			return err
		}
		if b.Len() <= pageBytes || room < 10 {
			break
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (d *CostDocument) writeHTML(w io.Writer, style Style, room int) error {
	p := &costPage{Title: "What " + plural(d.Sessions, "session") + " cost", Bare: len(d.Days) == 0 && len(d.Skills) == 0 && len(d.SessionRows) == 0}
	p.head(d, style)
	nav := []page.Link{}
	add := func(there bool, text, href string) {
		if there {
			nav = append(nav, page.Link{Text: text, Href: href})
		}
	}
	p.days(d)
	p.layers(d)
	p.skills(d, room)
	p.rows(d, style, room)
	p.sessions(d, style, room)
	p.whatIf(d)
	add(p.Chart != nil, "Days", "#days")
	add(len(p.Layers) > 0, "Layers", "#layers")
	add(len(p.Skills) > 0, "Skills", "#skills")
	add(len(p.Never) > 0, "Never used", "#never")
	add(len(p.Rows) > 0, "By "+p.By, "#rows")
	add(len(p.Sessions) > 0, "Sessions", "#sessions")
	return page.Write(w, costTemplate(), page.Page{Title: p.Title + " · skilltrace", Nav: nav, Data: p})
}

func (p *costPage) head(d *CostDocument, style Style) {
	since, until := style.day(d.Since), style.day(d.Until)
	switch {
	case since != "" && until != "":
		p.Sub = append(p.Sub, since+" – "+until)
	case since != "":
		p.Sub = append(p.Sub, "since "+since)
	case until != "":
		p.Sub = append(p.Sub, "until "+until)
	}
	if d.Timezone != "" {
		p.Sub = append(p.Sub, "days of "+short(d.Timezone, nameRunes))
	}
	p.Sub = append(p.Sub, "prices as of "+short(d.PricesAsOf, nameRunes))
	if d.CostMicroUSD != nil {
		t := tile{Label: "Cost", Value: roundUSD(*d.CostMicroUSD)}
		if d.Sessions > 0 {
			t.Note = roundUSD(*d.CostMicroUSD/int64(d.Sessions)) + " a session"
		}
		p.Tiles = append(p.Tiles, t)
	}
	p.Tiles = append(p.Tiles, tile{Label: "Sessions", Value: count(d.Sessions)}, tile{Label: "Model calls", Value: count(d.Calls)})
	sent := d.Usage.sum() - d.Usage.Output
	t := tile{Label: "Tokens sent", Value: window(sent)}
	if sent > 0 {
		t.Note = fmt.Sprintf("%.0f %% of them from the cache", float64(d.Usage.CacheRead)*100/float64(sent))
	}
	p.Tiles = append(p.Tiles, t, tile{Label: "Tokens written", Value: window(d.Usage.Output)})
	var skill int64
	for _, l := range d.Layers {
		if l.Layer != string(replay.LayerOther) && l.Layer != string(replay.LayerOutput) {
			skill += micro(l.CostMicroUSD)
		}
	}
	if c := micro(d.CostMicroUSD); c > 0 {
		p.Tiles = append(p.Tiles, tile{Label: "For skills", Value: roundUSD(skill), Note: fmt.Sprintf("%.1f %% of the cost", float64(skill)*100/float64(c))})
	}
	if a := d.Avoidable; a != nil {
		t := tile{Label: "Avoidable", Value: roundUSD(a.CostMicroUSD), Note: window(a.Tokens) + " tokens sent in vain", Class: "warn"}
		p.Tiles = append(p.Tiles, t)
	}
	for _, u := range d.Unpriced {
		p.Notes = append(p.Notes, fmt.Sprintf("No price is known for %s: %s, %s.", short(u.Model, nameRunes), plural(u.Calls, "call"), plural(u.Tokens, "token")))
		if len(p.Notes) == fewNames {
			break
		}
	}
	n := &d.Notes
	for _, note := range []struct {
		n    int
		text string
	}{{n.Unfinished, "without a final usage: at least what is shown"}, {n.WithoutUsage, "without a recorded usage"}, {n.Damaged, "with a damaged usage"}, {n.Copies, "stand in several logs, and count once"},
		{n.UnknownLifetime, "with cache writes of unknown lifetime, priced at five minutes"}, {n.Failed, "that failed"}, {n.Retried, "that were tried again"}} {
		if note.n > 0 {
			p.Notes = append(p.Notes, plural(note.n, "call")+" "+note.text+".")
		}
	}
}

// roundUSD writes an amount with as many decimals as its size deserves.
func roundUSD(n int64) string {
	shown, _ := moneyColumn([]int64{n}, n)
	return shown[0]
}

// days draws a column for each day; weeks where there are many. Days without a request
// have their place.
func (p *costPage) days(d *CostDocument) {
	layers := append(slices.Clone(promptLayers), string(replay.LayerOutput))
	priced := d.CostMicroUSD != nil
	value := func(r *CostRow) int64 {
		if priced {
			return micro(r.CostMicroUSD)
		}
		return r.Tokens.sum()
	}
	sums := map[string][]int64{}
	var keys []string
	undated := 0
	for i := range d.Days {
		r := &d.Days[i]
		if _, err := time.Parse(time.DateOnly, r.Day); err != nil {
			undated++
			continue
		}
		if sums[r.Day] == nil {
			sums[r.Day] = make([]int64, len(layers))
			keys = append(keys, r.Day)
		}
		sums[r.Day][max(0, slices.Index(layers, layerClass(r.Layer)))] += value(r)
	}
	if len(keys) == 0 {
		return
	}
	slices.Sort(keys)
	keys, sums, what := calendar(keys, sums, len(layers))
	text := func(n int64) string {
		switch {
		case !priced:
			return count(n)
		case n == 0:
			return "$0"
		}
		return roundUSD(n)
	}
	s := page.Stacked{ID: "days-chart", Title: "Cost by " + what + " and layer", Gap: true, First: keys[0], Last: keys[len(keys)-1], Label: text}
	if len(keys) == 1 {
		s.Last = ""
	}
	s.Desc = fmt.Sprintf("Stacked columns of %s. The table below has the same figures.", plural(len(keys), what))
	for _, layer := range layers {
		s.Series = append(s.Series, page.Series{Name: layer, Class: layer})
	}
	total := make([]int64, len(layers))
	for n, key := range keys {
		row := dayRow{ID: fmt.Sprintf("day-%d", n), Day: key}
		var all int64
		var parts []string
		for k, v := range sums[key] {
			all += v
			total[k] += v
			row.Parts = append(row.Parts, number{v, map[bool]string{true: text(v)}[v != 0]})
			if v > 0 {
				parts = append(parts, layers[k]+" "+text(v))
			}
		}
		row.All = number{all, text(all)}
		title := key + ": " + text(all)
		if len(parts) > 0 {
			title += " = " + strings.Join(parts, " + ")
		}
		s.Steps = append(s.Steps, page.Step{Values: sums[key], Title: title, Href: "#" + row.ID})
		p.Days = append(p.Days, row)
	}
	p.Chart = s.New()
	for k, layer := range layers {
		p.DayLayers = append(p.DayLayers, legendRow{Class: layer, Name: layer, End: text(total[k])})
	}
	if undated > 0 {
		p.ChartNote = "Requests without a time have no column."
	}
}

// calendar fills in the days between the first and the last; with too many it sums up
// weeks, named by their first day, and with too many of these, it leaves the gaps out.
func calendar(keys []string, sums map[string][]int64, n int) ([]string, map[string][]int64, string) {
	first, _ := time.Parse(time.DateOnly, keys[0])
	last, _ := time.Parse(time.DateOnly, keys[len(keys)-1])
	days := int(last.Sub(first).Hours()/24) + 1
	what, step := "day", 1
	if days > pageDays {
		what, step = "week", 7
		weeks := map[string][]int64{}
		for _, key := range keys {
			t, _ := time.Parse(time.DateOnly, key)
			week := t.AddDate(0, 0, -(int(t.Weekday())+6)%7).Format(time.DateOnly)
			if weeks[week] == nil {
				weeks[week] = make([]int64, n)
			}
			for i, v := range sums[key] {
				weeks[week][i] += v
			}
		}
		sums = weeks
		first = first.AddDate(0, 0, -(int(first.Weekday())+6)%7)
	}
	var out []string
	if days/step > 20*pageDays {
		for key := range sums {
			out = append(out, key)
		}
		slices.Sort(out)
		out = out[max(0, len(out)-4*pageDays):]
		return out, sums, what
	}
	for t := first; !t.After(last); t = t.AddDate(0, 0, step) {
		key := t.Format(time.DateOnly)
		if sums[key] == nil {
			sums[key] = make([]int64, n)
		}
		out = append(out, key)
	}
	return out, sums, what
}

func (p *costPage) layers(d *CostDocument) {
	amounts := make([]int64, len(d.Layers))
	for i := range d.Layers {
		amounts[i] = micro(d.Layers[i].CostMicroUSD)
	}
	shown, total := fineMoney(amounts, micro(d.CostMicroUSD))
	all := layerLine{Input: num(d.Usage.Input), Read: num(d.Usage.CacheRead), Write: num(d.Usage.CacheWrite5m + d.Usage.CacheWrite1h), Output: num(d.Usage.Output), Cost: number{0, total}}
	for i := range d.Layers {
		l := &d.Layers[i]
		if l.CostMicroUSD == nil {
			shown[i] = "?"
		}
		line := layerLine{Layer: short(l.Layer, nameRunes), Class: layerClass(l.Layer), Once: some0(l.Once), Carried: some0(l.Carried), Input: some0(l.Tokens.Input), Read: some0(l.Tokens.CacheRead), Write: some0(l.Tokens.CacheWrite5m + l.Tokens.CacheWrite1h),
			Output: some0(l.Tokens.Output), Cost: money(shown[i], l.CostMicroUSD), Basis: short(l.Basis, nameRunes), Share: percent(l.Share)}
		line.Bar = shareBar(line.Layer, l.Share, layerClass(l.Layer))
		all.Once.V += l.Once
		all.Carried.V += l.Carried
		p.Layers = append(p.Layers, line)
	}
	all.Once, all.Carried = num(all.Once.V), num(all.Carried.V)
	p.LayersTotal = &all
}

func shareBar(label string, share float64, class string) *page.Bar {
	b := page.NewBar(label+": "+percent(share), 10_000, page.Piece{Value: int64(share * 10_000), Class: class})
	b.Limit = ""
	return b
}

func (p *costPage) skills(d *CostDocument, room int) {
	var amounts []int64
	var rows []*CostRow
	var total int64
	for i := range d.Skills {
		if r := &d.Skills[i]; r.Skill != "" {
			rows = append(rows, r)
		}
	}
	slices.SortStableFunc(rows, func(a, b *CostRow) int { return sign(micro(b.CostMicroUSD) - micro(a.CostMicroUSD)) })
	for _, r := range rows {
		amounts = append(amounts, micro(r.CostMicroUSD))
		total += micro(r.CostMicroUSD)
	}
	shown, _ := fineMoney(amounts, total)
	fine := func(n int64) string {
		_, text := addUp(nil, n, fineDecimals(total))
		return text
	}
	var never int64
	for i, r := range rows {
		row := skillCostRow{Name: short(r.Skill, nameRunes), Tokens: num(r.Tokens.sum()), Cost: money(shown[i], r.CostMicroUSD), Share: percent(r.Share)}
		if r.CostMicroUSD == nil {
			row.Cost.Text = "?"
		}
		if total > 0 {
			row.Bar = page.NewBar(row.Name+": "+row.Share, max(amounts[0], 1), page.Piece{Value: amounts[i], Class: "body"})
			row.Bar.Limit = ""
		}
		unused := false
		if u := r.Use; u != nil {
			unused = u.Listed > 0 && u.ByModel+u.ByUser+u.Bodies == 0
			row.Listed, row.ByModel, row.ByUser, row.Refused, row.Bodies, row.Back = some0(u.Listed), some0(u.ByModel), some0(u.ByUser), some0(u.Refused+u.Rejected), some0(u.Bodies), some0(u.Reattachments)
			if u.Avoidable != nil {
				row.Avoidable = number{u.Avoidable.CostMicroUSD, fine(u.Avoidable.CostMicroUSD)}
			}
			if u.OnBehalf != nil {
				row.Behalf = number{u.OnBehalf.CostMicroUSD, fine(u.OnBehalf.CostMicroUSD)}
			}
		}
		if unused {
			never += amounts[i]
		}
		if len(p.Skills)+len(p.Never) >= room {
			p.SkillsLeft++
		} else if unused {
			p.Never = append(p.Never, row)
		} else {
			p.Skills = append(p.Skills, row)
		}
	}
	if len(p.Never) > 0 {
		was := " were"
		if len(p.Never) == 1 {
			was = " was"
		}
		p.NeverCost = plural(len(p.Never), "skill") + was + " listed and never called"
		if d.CostMicroUSD != nil {
			p.NeverCost += ", for " + roundUSD(never)
		}
	}
}

func (p *costPage) rows(d *CostDocument, style Style, room int) {
	if slices.Equal(d.By, []string{"layer"}) {
		return
	}
	var names []string
	for _, by := range d.By {
		names = append(names, short(by, nameRunes))
	}
	p.By = strings.Join(names, ", ")
	amounts := make([]int64, len(d.Rows))
	for i := range d.Rows {
		amounts[i] = micro(d.Rows[i].CostMicroUSD)
	}
	shown, _ := fineMoney(amounts, micro(d.CostMicroUSD))
	for i := range d.Rows {
		r := &d.Rows[i]
		if len(p.Rows) == room {
			p.RowsLeft++
			continue
		}
		row := costLineRow{Sessions: num(r.Sessions), Calls: num(r.Calls), Once: some0(r.Once), Carried: some0(r.Carried), Output: some0(r.Tokens.Output), Cost: money(shown[i], r.CostMicroUSD), Share: percent(r.Share)}
		for _, by := range d.By {
			key := r.of(by)
			switch by {
			case "project":
				key = style.shortPath(key)
			case "session", "agent":
				key = shortID(key)
			}
			row.Keys = append(row.Keys, short(key, nameRunes))
		}
		p.Rows = append(p.Rows, row)
	}
	if d.Others != nil {
		p.RowsLeft += d.Others.Rows
	}
}

func (p *costPage) sessions(d *CostDocument, style Style, room int) {
	rows := slices.Clone(d.SessionRows)
	slices.SortStableFunc(rows, func(a, b CostSession) int { return sign(micro(b.CostMicroUSD) - micro(a.CostMicroUSD)) })
	amounts := make([]int64, len(rows))
	for i := range rows {
		amounts[i] = micro(rows[i].CostMicroUSD)
	}
	shown, _ := fineMoney(amounts, micro(d.CostMicroUSD))
	for i := range rows {
		r := &rows[i]
		if i == room {
			p.SessionLeft = len(rows) - i
			break
		}
		row := costSessionRow{ID: fmt.Sprintf("session-%d", i), Name: shortID(r.Session), Start: style.day(r.Start), Calls: num(r.Calls), Tokens: num(r.Tokens.sum()), Cost: money(shown[i], r.CostMicroUSD), Share: percent(r.Share)}
		if r.CostMicroUSD == nil {
			row.Cost.Text = "?"
		}
		if r.File != "" && r.File != "-" && len(r.File) < 1000 {
			row.Command = "skilltrace replay " + ShellWord(r.File) + " --open"
		}
		p.Sessions = append(p.Sessions, row)
	}
}

func (p *costPage) whatIf(d *CostDocument) {
	w := d.WhatIf
	if w == nil {
		return
	}
	row := func(name string, c *CostChange) changeRow {
		return changeRow{short(name, nameRunes), c.NowCost, c.ThenCost, c.Difference}
	}
	for i := range w.Layers {
		p.WhatIf = append(p.WhatIf, row(w.Layers[i].Layer, &w.Layers[i]))
	}
	all := row("all", &w.CostChange)
	p.WhatIfTotal = &all
	for _, text := range append(slices.Clone(w.Inputs), w.Assumptions...) {
		p.Assumptions = append(p.Assumptions, short(text, textRunes))
	}
}
