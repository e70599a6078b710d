package page

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"regexp"
	"strings"
	"testing"
)

// The policy names the digests of what the page holds, as a browser computes them.
func TestPolicy(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, Template(`{{define "main"}}<p>{{.}}</p>{{end}}`), Page{Title: "</title><b>", Nav: []Link{{"a", "javascript:alert(1)"}}, Data: "<i>"}); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, part := range []string{"style", "script"} {
		m := regexp.MustCompile(`(?s)<` + part + `>(.*)</` + part + `>`).FindStringSubmatch(text)
		if m == nil {
			t.Fatalf("no %s", part)
		}
		sum := sha256.Sum256([]byte(m[1]))
		if digest := "sha256-" + base64.StdEncoding.EncodeToString(sum[:]); !strings.Contains(strings.ReplaceAll(text, "&#43;", "+"), part+"-src &#39;"+digest) && !strings.Contains(text, part+"-src '"+digest) {
			t.Errorf("the policy does not allow the %s of the page: %s", part, digest)
		}
	}
	for _, bad := range []string{"<b>", "<i>", "javascript:alert"} {
		if strings.Contains(text, bad) {
			t.Errorf("the page holds %s", bad)
		}
	}
	for _, bad := range []string{"eval(", "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "new Function", "http:", "https:", "fetch(", "XMLHttpRequest"} {
		if strings.Contains(script, bad) {
			t.Errorf("the script holds %s", bad)
		}
	}
	for _, bad := range []string{"url(", "@import", "http:", "https:"} {
		if strings.Contains(style, bad) {
			t.Errorf("the style holds %s", bad)
		}
	}
}

func TestChart(t *testing.T) {
	label := func(n int64) string { return strings.Repeat("i", int(n/10)) }
	s := Stacked{Series: []Series{{"a", "a"}, {"b", "b"}, {"none", "none"}}, Label: label, Steps: []Step{{Values: []int64{10, 30, 0}}, {Values: []int64{20, 20, 0}}, {Values: []int64{20, 0, 0}}}}
	c := s.New()
	if len(c.Areas) != 2 || c.Areas[0].Path != "M0 750H1V500H3V1000H0Z" || c.Areas[1].Path != "M0 0H2V500H3V500H1V750H0Z" {
		t.Errorf("areas %+v", c.Areas)
	}
	if len(c.Hits) != 3 || len(c.Ticks) != 5 || c.Ticks[4].Y != plotTop || c.Ticks[0].Y != plotTop+plotHeight {
		t.Errorf("hits %d, ticks %+v", len(c.Hits), c.Ticks)
	}
	s.Gap = true
	if got := s.New().Areas[0].Path; got != "M0.1 750H0.9V1000H0.1ZM1.1 500H1.9V1000H1.1ZM2.1 500H2.9V1000H2.1Z" {
		t.Errorf("columns %s", got)
	}
	// A limit far above is left out, one within reach is not.
	for limit, shown := range map[int64]bool{0: false, 40: true, 80: true, 81: false} {
		s.Limit = limit
		if got := s.New().LimitShown(); got != shown {
			t.Errorf("limit %d shown: %t", limit, got)
		}
	}
	if (&Stacked{}).New() != nil {
		t.Error("a chart of nothing")
	}
	for _, top := range []int64{0, 1, 3, 7, 40, 99, 1000, 173_170, 1 << 60} {
		if step := tick(top); step < 1 || top/step > 8 {
			t.Errorf("%d has %d ticks", top, top/step)
		}
	}
}

func TestBar(t *testing.T) {
	b := NewBar("x", 50, Piece{Value: 60, Class: "a"}, Piece{Value: -5}, Piece{Value: 40, Class: "b"})
	if len(b.Parts) != 2 || b.Parts[1].X != "60" || b.Parts[1].Width != "40" || b.Limit != "50" {
		t.Errorf("%+v", b)
	}
	if b := NewBar("x", 0); len(b.Parts) != 0 || b.Limit != "" {
		t.Errorf("%+v", b)
	}
}
