package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// extensions are those of the golden files of formats.
var extensions = map[Format]string{FormatNDJSON: "ndjson", FormatCSV: "csv", FormatMarkdown: "md", FormatJUnit: "xml", FormatTAP: "tap", FormatGitHub: "github", FormatSARIF: "sarif"}

// saved are the golden files with a document as JSON, by name.
func saved(t testing.TB) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		out[strings.TrimSuffix(filepath.Base(file), ".json")] = data
	}
	return out
}

// A document that was read back from JSON is the same document: its JSON, its tables,
// and all its other forms, which are golden files each.
func TestSaved(t *testing.T) {
	kinds := map[string]bool{}
	for name, data := range saved(t) {
		t.Run(name, func(t *testing.T) {
			doc, err := Read(data)
			if err != nil {
				t.Fatal(err)
			}
			kinds[fmt.Sprintf("%T", doc)] = true
			var b bytes.Buffer
			if err := WriteJSON(&b, doc); err != nil || !bytes.Equal(b.Bytes(), data) {
				t.Errorf("the JSON is another, %v:\n%s", err, b.Bytes())
			}
			for suffix, style := range map[string]Style{"-80": {Width: 80}, "-120": {Width: 120}, "-verbose": {Width: 80, Verbose: true}, "-color": {Width: 80, Color: true}} {
				want, err := os.ReadFile(filepath.Join("testdata", name+suffix+".txt"))
				if err != nil {
					continue // of another document of that kind
				}
				style.Home = "/home/dev"
				b.Reset()
				err = doc.WriteTable(&b, style)
				if _, ok := doc.(*ListingDocument); ok {
					// The commands that it proposes have the options that were given.
					want, _, _ = bytes.Cut(want, []byte("Next:"))
					before, _, _ := bytes.Cut(b.Bytes(), []byte("Next:"))
					b.Truncate(len(before))
				}
				if err != nil || !bytes.Equal(b.Bytes(), want) {
					t.Errorf("the table%s is another, %v:\n%s\nwant\n%s", suffix, err, b.Bytes(), want)
				}
			}
			style := Style{Home: "/home/dev", Dir: "/home/dev/shop", Workspace: "/home/dev"}
			for _, format := range FormatsOf(doc) {
				ext := extensions[format]
				if ext == "" {
					continue
				}
				var b bytes.Buffer
				if err := Write(&b, doc, format, style); err != nil {
					t.Errorf("%s: %v", format, err)
				}
				golden(t, filepath.Join("formats", name+"."+ext), b.Bytes())
				wellFormed(t, format, b.Bytes())
			}
		})
	}
	for schema, make := range answers {
		if kind := fmt.Sprintf("%T", make()); !kinds[kind] {
			t.Errorf("no document of %s is among the golden files", schema)
		}
	}
}

// wellFormed reads what was written with a reader of the format.
func wellFormed(t *testing.T, format Format, data []byte) {
	t.Helper()
	switch format {
	case FormatCSV:
		rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
		if err != nil || len(rows) < 1 {
			t.Errorf("CSV: %v", err)
		}
	case FormatNDJSON:
		for line := range bytes.Lines(data) {
			if !json.Valid(line) {
				t.Errorf("not JSON: %s", line)
			}
		}
	case FormatJUnit:
		d := xml.NewDecoder(bytes.NewReader(data))
		for {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Errorf("XML: %v", err)
				break
			}
		}
	case FormatSARIF:
		checkSARIF(t, data)
	}
	if format != FormatJSON && format != FormatNDJSON && bytes.ContainsAny(data, "\x1b\u202e") {
		t.Errorf("%s holds something that acts on a terminal", format)
	}
}

// Formats that a document lacks are refused with a reason.
func TestLacks(t *testing.T) {
	for _, c := range []struct {
		doc    Document
		format Format
		want   string
	}{
		{&VersionDocument{}, FormatCSV, "no parts"},
		{&SessionsDocument{}, FormatSARIF, "no"},
		{&SessionsDocument{}, FormatJUnit, "passes or fails"},
		{&CostDocument{saved: true}, FormatCSV, "a saved answer holds no line for each request"},
		{&SessionsDocument{}, "toml", "no such format"},
	} {
		reason := Lacks(c.doc, c.format)
		if !strings.Contains(reason, c.want) {
			t.Errorf("%T as %s: %q", c.doc, c.format, reason)
		}
		var b bytes.Buffer
		if err := Write(&b, c.doc, c.format, Style{}); err == nil || b.Len() > 0 {
			t.Errorf("%T as %s is written: %v", c.doc, c.format, err)
		}
	}
	if slices.Contains(FormatsOf(&CostDocument{saved: true}), FormatNDJSON) || !slices.Contains(FormatsOf(&CostDocument{}), FormatNDJSON) {
		t.Error("a line for each request is there of a saved answer, or of none")
	}
}

func TestReadErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 "not a saved answer: unexpected end of JSON input",
		"{":                                "not a saved answer",
		"[]":                               "not a saved answer: the answer is not to be of kind array, at byte 1; save one",
		"{}":                               `names no "schema"`,
		"{} x":                             "not a saved answer",
		`{"a":1}`:                          `names no "schema"`,
		"session ":                         "not a saved answer",
		`{"schema":"skilltrace/replay@2"}`: `its schema is "skilltrace/replay@2", and this version of skilltrace reads "skilltrace/replay@1"`,
		`{"schema":"skilltrace/floor@1"}`:  "no answer of a command: want one of skilltrace/",
		`{"schema":"other"}`:               "no answer of a command",
		`{"schema":"skilltrace/replay@1","sessions":"all"}`:             "not the form of skilltrace/replay@1: sessions is not to be of kind string, at byte ",
		`{"schema":"skilltrace/why@1","skill":"a","focus":3}`:           "focus 3 is not one of 0 questions",
		`{"schema":"skilltrace/sessions@1","sessions":[]}{"schema":""}`: "not a saved answer",
	} {
		if _, err := Read([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// A saved answer may be a stranger's: whatever reads as one is written in every format
// without a panic, and without what acts on a terminal.
func FuzzRead(f *testing.F) {
	for _, data := range saved(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := Read(data)
		if err != nil {
			return
		}
		for _, format := range FormatsOf(doc) {
			var b bytes.Buffer
			if err := Write(&b, doc, format, Style{}); err != nil && format != FormatJSON {
				t.Errorf("%s: %v", format, err)
			}
			if bytes.ContainsRune(b.Bytes(), 0x1b) {
				t.Errorf("%s holds an escape sequence", format)
			}
		}
	})
}

func TestInWorkspace(t *testing.T) {
	style := Style{Dir: "/work/app", Workspace: "/work"}
	for file, want := range map[string]string{
		"":              "",
		"-":             "",
		"tests/a.yaml":  "app/tests/a.yaml",
		"./b.yaml":      "app/b.yaml",
		"../c.yaml":     "c.yaml",
		"../../d.yaml":  "../../d.yaml",
		"/work/e.jsonl": "e.jsonl",
		"/works/f":      "/works/f",
		"/etc/g":        "/etc/g",
	} {
		if got := style.inWorkspace(file); got != want {
			t.Errorf("%s: %s, want %s", file, got, want)
		}
	}
	if got := (Style{}).inWorkspace(`a\b.yaml`); got != "a/b.yaml" {
		t.Errorf("without a workspace: %s", got)
	}
}
