// Package page is the frame of HTML pages: one file that loads nothing, runs one
// script of its own and no other, and can be read without that.
//
// A page is a template of the caller's, put into the frame and written through
// html/template. The content security policy in its head allows the style and the script
// of this package, by their digests, and nothing else: no request, no handler in an
// attribute, no style in an attribute. Texts of strangers are data in it; making their
// control characters visible is for the caller.
package page

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
)

//go:embed page.css
var style string

//go:embed page.js
var script string

//go:embed frame.html
var frame string

//go:embed chart.html
var charts string

// Page is what stands in the frame.
type Page struct {
	Title string
	Nav   []Link
	Data  any // of the template
}

// Link leads to a place in the page.
type Link struct{ Text, Href string }

// Template reads a template of a page's content, which must define "main"; "chart" and
// "bar" are defined for a [Chart] and a [Bar]. A template that cannot be read is an error
// of the program.
func Template(text string) *template.Template {
	t := template.New("page").Funcs(template.FuncMap{
		"style":  func() template.CSS { return template.CSS(style) },
		"script": func() template.JS { return template.JS(script) },
		"policy": Policy,
	})
	for _, part := range []string{frame, charts, text} {
		t = template.Must(t.Parse(part))
	}
	return t
}

// Policy is the content security policy of every page.
func Policy() string {
	digest := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return fmt.Sprintf("default-src 'none'; style-src %s; script-src %s; base-uri 'none'; form-action 'none'", digest(style), digest(script))
}

// Write writes a page.
func Write(w io.Writer, t *template.Template, p Page) error {
	if err := t.ExecuteTemplate(w, "frame", p); err != nil {
		return fmt.Errorf("cannot write the page: %w", err)
	}
	return nil
}
