package page_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdpage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/skilltrace/skilltrace/report"
)

// browser starts Chromium. The test is skipped where there is none.
func browser(t *testing.T) context.Context {
	t.Helper()
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		t.Skip("no Chromium: pages are not tried in a browser")
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(program), chromedp.DisableGPU, chromedp.NoSandbox)
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Skipf("Chromium does not start here: %v", err)
	}
	return ctx
}

// watched are the things that a page must not do.
type watched struct {
	sync.Mutex
	seen []string
}

func (w *watched) note(format string, args ...any) {
	w.Lock()
	defer w.Unlock()
	w.seen = append(w.seen, fmt.Sprintf(format, args...))
}

// open opens a page in a tab of its own and watches it.
func open(t *testing.T, browser context.Context, file string) (context.Context, *watched) {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	w := &watched{}
	address := (&url.URL{Scheme: "file", Path: file}).String()
	if err := chromedp.Listen(ctx, func(event any) {
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			w.note("an exception: %s", e.ExceptionDetails.Text)
		case *runtime.EventConsoleAPICalled:
			w.note("the console: %s", e.Type)
		case *log.EventEntryAdded:
			w.note("the log: %s", e.Entry.Text)
		case *network.EventRequestWillBeSent:
			if e.Request.URL != address {
				w.note("a request: %.200s", e.Request.URL)
			}
		case *cdpage.EventJavascriptDialogOpening:
			w.note("a dialog: %s", e.Message)
		}
	}); err != nil {
		t.Fatal(err)
	}
	call(t, ctx, network.Enable, network.EnableParams{})
	call(t, ctx, log.Enable, cdp.Empty{})
	call(t, ctx, runtime.Enable, cdp.Empty{})
	run(t, ctx, chromedp.EmulateViewport(1440, 900), chromedp.Navigate(address), chromedp.WaitReady(chromedp.CSS("main")))
	return ctx, w
}

// call sends a command of the protocol.
func call[P, R any](t *testing.T, ctx context.Context, command cdp.Command[P, R], params P) {
	t.Helper()
	if _, err := chromedp.Call(ctx, command, params); err != nil {
		t.Fatal(err)
	}
}

// patience is how long one step in a browser may take.
const patience = time.Minute

func run(t *testing.T, ctx context.Context, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

// does runs a statement in the page.
func does(statement string) chromedp.Action[chromedp.Void] {
	return func(ctx context.Context, target *chromedp.Target) (chromedp.Void, error) {
		_, err := chromedp.Evaluate[bool]("(() => { "+statement+"; return true; })()")(ctx, target)
		return chromedp.Void{}, err
	}
}

// value is what an expression is in the page.
func value[T any](t *testing.T, ctx context.Context, expression string) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	out, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return out
}

func (w *watched) check(t *testing.T) {
	t.Helper()
	w.Lock()
	defer w.Unlock()
	for _, text := range w.seen {
		t.Error(text)
	}
}

// written writes the page of a saved answer into a file.
func written(t *testing.T, saved []byte) string {
	t.Helper()
	doc, err := report.Read(saved)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := report.Write(&b, doc, report.FormatHTML, report.Style{Home: "/home/dev"}); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func answer(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "testdata", "pages", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// shots keeps pictures of a page at both widths, light and dark, where
// SKILLTRACE_SHOTS names a folder, and checks that nothing stands beside the screen.
func shots(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	for _, width := range []int64{375, 1440} {
		for _, scheme := range []string{"light", "dark"} {
			run(t, ctx, chromedp.EmulateViewport(width, 900))
			call(t, ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
			if over := value[int64](t, ctx, `document.documentElement.scrollWidth`); over > width {
				t.Errorf("%s: %d pixels at a width of %d", name, over, width)
			}
			if dir := os.Getenv("SKILLTRACE_SHOTS"); dir != "" {
				picture, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%d-%s.png", name, width, scheme)), picture, 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	run(t, ctx, chromedp.EmulateViewport(1440, 900))
}

func TestBrowser(t *testing.T) {
	b := browser(t)
	t.Run("session", func(t *testing.T) { session(t, b) })
	t.Run("cost", func(t *testing.T) { costs(t, b) })
	t.Run("hostile", func(t *testing.T) { hostile(t, b) })
}

func session(t *testing.T, b context.Context) {
	ctx, w := open(t, b, written(t, answer(t, "replay.json")))
	var saved struct {
		Sessions []struct {
			Agents []struct{ Context []struct{} }
		}
	}
	if err := json.Unmarshal(answer(t, "replay.json"), &saved); err != nil {
		t.Fatal(err)
	}
	for i, a := range saved.Sessions[0].Agents {
		if got := value[int](t, ctx, fmt.Sprintf(`document.querySelectorAll('[aria-labelledby^="s0-a%d-chart"] rect.step').length`, i)); got != len(a.Context) {
			t.Errorf("the chart of agent %d has %d steps, want %d", i, got, len(a.Context))
		}
	}
	if got := value[string](t, ctx, `getComputedStyle(document.querySelector('.fill-body')).fill`); got == "rgb(0, 0, 0)" {
		t.Error("the style is not applied")
	}
	// Each table that says so can be sorted, numbers as numbers.
	costs := `Array.from(document.querySelectorAll('table.ledger tbody tr')).map(r => Number(r.querySelector('td:nth-child(12)').dataset.v))`
	run(t, ctx, chromedp.Click(chromedp.CSS(`table.ledger th:nth-child(12) button`)))
	if got := value[[]float64](t, ctx, costs); !slices.IsSortedFunc(got, func(a, b float64) int { return int(b - a) }) || len(got) != 3 {
		t.Errorf("sorted down: %v", got)
	}
	run(t, ctx, chromedp.Click(chromedp.CSS(`table.ledger th:nth-child(12) button`)))
	if got := value[[]float64](t, ctx, costs); !slices.IsSorted(got) {
		t.Errorf("sorted up: %v", got)
	}
	if got := value[string](t, ctx, `document.querySelector('table.ledger th:nth-child(12)').getAttribute('aria-sort')`); got != "ascending" {
		t.Errorf("aria-sort %q", got)
	}
	// Filters: by words, and by the kind of a row.
	shown := `Array.from(document.querySelectorAll('#s0-timeline tbody tr')).filter(r => !r.hidden).length`
	all := value[int](t, ctx, shown)
	run(t, ctx, chromedp.SendKeys(chromedp.CSS(`#s0-timeline input[type=search]`), "commit"))
	if got := value[int](t, ctx, shown); got < 2 || got >= all {
		t.Errorf("%d of %d rows for a word", got, all)
	}
	run(t, ctx, does(`{ const i = document.querySelector('#s0-timeline input'); i.value = ''; i.dispatchEvent(new Event('input')); const s = document.querySelector('#s0-timeline select'); s.value = 'compaction'; s.dispatchEvent(new Event('change')); }`))
	if got := value[int](t, ctx, shown); got != 1 {
		t.Errorf("%d compactions", got)
	}
	// A link into a folded part opens it.
	run(t, ctx, does(`location.hash = '#s0-a1-e2'`), chromedp.Sleep(300*time.Millisecond))
	if !value[bool](t, ctx, `document.getElementById('s0-a1').open`) {
		t.Error("the part of an agent stays folded")
	}
	// The arrow keys go along a chart.
	run(t, ctx, chromedp.Focus(chromedp.CSS(`[data-chart]`)), chromedp.SendKeys(chromedp.CSS(`[data-chart]`), "\ue012"))
	if got := value[string](t, ctx, `document.querySelector('.readout').textContent`); !strings.HasPrefix(got, "call ") {
		t.Errorf("the line below the chart says %q", got)
	}
	for what, expression := range map[string]string{
		"tables without a caption":         `document.querySelectorAll('table:not(:has(caption))').length`,
		"heads without a scope":            `document.querySelectorAll('th:not([scope])').length`,
		"pictures without a name":          `Array.from(document.querySelectorAll('svg[role=img]')).filter(s => !s.getAttribute('aria-label') && !s.getAttribute('aria-labelledby')).length`,
		"sections without a heading":       `document.querySelectorAll('section:not([aria-labelledby])').length`,
		"fields without a label":           `document.querySelectorAll('input:not([aria-label]), select:not([aria-label])').length`,
		"main landmarks beside the one":    `document.querySelectorAll('main').length - 1`,
		"styles in attributes":             `document.querySelectorAll('[style]').length`,
		"places of which there are two":    `(() => { const ids = Array.from(document.querySelectorAll('[id]')).map(e => e.id); return ids.length - new Set(ids).size; })()`,
		"scrolled parts without the focus": `document.querySelectorAll('.scroll:not([tabindex])').length`,
	} {
		if n := value[int](t, ctx, expression); n != 0 {
			t.Errorf("%d %s", n, what)
		}
	}
	run(t, ctx, does(`document.querySelectorAll('details').forEach(d => d.open = true)`))
	shots(t, ctx, "session")
	w.check(t)
}

func costs(t *testing.T, b context.Context) {
	ctx, w := open(t, b, written(t, answer(t, "cost.json")))
	if got := value[int](t, ctx, `document.querySelectorAll('#days rect.step').length`); got != value[int](t, ctx, `document.querySelectorAll('table.days tbody tr').length`) || got < 3 {
		t.Errorf("%d columns", got)
	}
	run(t, ctx, chromedp.Click(chromedp.CSS(`#skills th:nth-child(1) button`)))
	if got := value[[]string](t, ctx, `Array.from(document.querySelectorAll('#skills tbody th')).map(h => h.textContent)`); !slices.IsSorted(got) || len(got) < 2 {
		t.Errorf("sorted by name: %v", got)
	}
	shots(t, ctx, "cost")
	w.check(t)
}

// evil tries to leave the place in which it stands.
const evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'><svg onload=alert(3)> \x1b[31m\x1b]0;x\a\u202eabc\u2066 javascript:alert(4) {{.}}"

// poisoned puts evil texts in place of those of an answer, but for those that say what
// is in it and when; names are long.
func poisoned(v any, key string) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, inner := range v {
			out[k] = poisoned(inner, k)
		}
		return out
	case []any:
		for i := range v {
			v[i] = poisoned(v[i], key)
		}
	case string:
		switch key {
		case "schema", "start", "end", "time", "kind", "verdict", "state", "day":
			return v
		case "name":
			return evil + strings.Repeat("A", 1<<20)
		}
		return evil
	}
	return v
}

func hostile(t *testing.T, b context.Context) {
	for _, name := range []string{"replay.json", "cost.json"} {
		var v any
		if err := json.Unmarshal(answer(t, name), &v); err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(poisoned(v, ""))
		if err != nil {
			t.Fatal(err)
		}
		ctx, w := open(t, b, written(t, data))
		if n := value[int](t, ctx, `document.scripts.length`); n != 1 {
			t.Errorf("%s: %d scripts", name, n)
		}
		if n := value[int](t, ctx, `document.querySelectorAll('img, iframe, object, embed, link, form, [onerror], [onload]').length`); n != 0 {
			t.Errorf("%s: %d elements that should not be", name, n)
		}
		if value[bool](t, ctx, `/[\u202a-\u202e\u2066-\u2069\u001b]/.test(document.documentElement.textContent)`) {
			t.Errorf("%s: a control character is in the page", name)
		}
		run(t, ctx, does(`document.querySelectorAll('th button').forEach(b => b.click())`), does(`document.querySelectorAll('details').forEach(d => d.open = true)`))
		shots(t, ctx, "hostile-"+strings.TrimSuffix(name, ".json"))
		w.check(t)
	}
}

// Without scripts all is there, and nothing that would need one: that is made by the
// script.
func TestWithoutScript(t *testing.T) {
	for _, name := range []string{"replay.json", "cost.json"} {
		data, err := os.ReadFile(written(t, answer(t, name)))
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		for _, bad := range []string{"<button", "<input", "<select", "<noscript"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s: the page holds %s", name, bad)
			}
		}
		for _, want := range []string{`<rect class="step"`, "<table", "<caption>"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: the page lacks %s", name, want)
			}
		}
	}
}
