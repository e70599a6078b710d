package scenario

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/skilltrace/skilltrace/jsonl"
)

// requestsFile holds what was sent to the model.
const requestsFile = "requests.jsonl"

// Request is one request that was sent to the model.
type Request struct {
	Line        int // in requests.jsonl
	Run, N      int // N counts from 1 in each run
	Kind        RequestKind
	Lane        string // of a subagent: what its first message held; else empty
	Model       string // resolved
	Tools       []string
	SystemChars int // size of the system prompt, UTF-16 code units
	Usage       *RequestUsage
	Catalogue   []Catalogue // listing
	// Blocks are the message blocks, without the first Same ones, which equal
	// those of the previous request of the same kind and lane. In listing/ they
	// are all blocks, and Total is 0.
	Blocks      []RequestBlock
	Total, Same int
}

// RequestKind is what a request was for.
type RequestKind string

// The kinds of requests.
const (
	RequestMain     RequestKind = "main"
	RequestSubagent RequestKind = "subagent"
	RequestCompact  RequestKind = "compact"
	RequestCount    RequestKind = "count_tokens"
	RequestOther    RequestKind = "other" // warm-up, titles
)

// RequestUsage is the usage that the scripted model replied, in tokens.
type RequestUsage struct{ Input, CacheWrite, CacheRead, Output int64 }

// Catalogue is a list of skills that a request carried. A message text still has
// its wrapper and header, the text of a tool description has not.
type Catalogue struct {
	Where string // tool:Skill:lines, message:0:3:user, …
	Chars int    // UTF-16 code units of the original text
	Text  string
}

// RequestBlock is one block of a request's messages.
type RequestBlock struct {
	Message int
	Block   int // listing only
	Role    string
	Type    string
	Chars   int    // UTF-16 code units of the original text
	SHA256  string // of the original text, in hex
	Head    string // its first 80 characters, after filler
	Name    string // of a tool_use
	String  bool   // the message's content was a string, not a list
	InLog   bool   // the text stands word for word in the session's log
	// Text is the text, where it is recorded: with this block, or with an earlier
	// one of the same SHA256 in the run.
	Text    string
	HasText bool
}

// Requests reads all requests. A missing file gives none. Errors are
// "file:line: what".
func (c *Case) Requests() ([]Request, error) {
	var out []Request
	for r, err := range c.EachRequest() {
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// EachRequest streams the requests. An error is the last thing it yields.
func (c *Case) EachRequest() iter.Seq2[Request, error] {
	return func(yield func(Request, error) bool) {
		name := filepath.Join(c.Dir, requestsFile)
		f, err := os.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err != nil {
			yield(Request{}, err)
			return
		}
		defer f.Close()
		for r, err := range readRequests(name, f) {
			if !yield(r, err) {
				return
			}
		}
	}
}

func readRequests(name string, in io.Reader) iter.Seq2[Request, error] {
	return func(yield func(Request, error) bool) {
		lines := bufio.NewReaderSize(in, 64<<10)
		texts := map[string]string{} // by SHA256, of one run
		run := -1
		for n := 1; ; n++ {
			line, err := readLine(lines)
			end := err == io.EOF
			if err != nil && !end {
				yield(Request{}, fmt.Errorf("%s:%d: %w", name, n, err))
				return
			}
			if line = bytes.TrimSpace(line); len(line) > 0 {
				v, err := jsonl.ParseValue(line)
				if err == nil && v.Kind() != jsonl.ValueObject {
					err = errors.New("not an object")
				}
				if err != nil {
					yield(Request{}, fmt.Errorf("%s:%d: %w", name, n, err))
					return
				}
				r := readRequest(v)
				r.Line = n
				if r.Run != run {
					run = r.Run
					clear(texts)
				}
				for i := range r.Blocks {
					b := &r.Blocks[i]
					if b.HasText {
						texts[b.SHA256] = b.Text
					} else if text, ok := texts[b.SHA256]; ok {
						b.Text, b.HasText = text, true
					}
				}
				if !yield(r, nil) {
					return
				}
			}
			if end {
				return
			}
		}
	}
}

func readRequest(v jsonl.Value) Request {
	var r Request
	for k, m := range v.Members() {
		switch k {
		case "run":
			r.Run = count(m)
		case "n":
			r.N = count(m)
		case "kind":
			r.Kind = RequestKind(m.Text())
		case "lane":
			r.Lane = m.Text()
		case "model":
			r.Model = m.Text()
		case "tools":
			for t := range m.Items() {
				r.Tools = append(r.Tools, t.Text())
			}
		case "system_chars", "systemChars":
			r.SystemChars = count(m)
		case "usage":
			if m.Kind() == jsonl.ValueObject {
				tokens := func(key string) int64 { n, _ := m.Get(key).Int(); return n }
				r.Usage = &RequestUsage{tokens("input_tokens"), tokens("cache_creation_input_tokens"), tokens("cache_read_input_tokens"), tokens("output_tokens")}
			}
		case "catalogue":
			for c := range m.Items() {
				r.Catalogue = append(r.Catalogue, Catalogue{c.Get("where").Text(), count(c.Get("chars")), c.Get("text").Text()})
			}
		case "blocks":
			for b := range m.Items() {
				r.Blocks = append(r.Blocks, readBlock(b))
			}
		case "blocksTotal":
			r.Total = count(m)
		case "sameAsPrevious":
			r.Same = count(m)
		}
	}
	return r
}

func readBlock(v jsonl.Value) RequestBlock {
	var b RequestBlock
	for k, m := range v.Members() {
		switch k {
		case "m", "msg":
			b.Message = count(m)
		case "block":
			b.Block = count(m)
		case "role":
			b.Role = m.Text()
		case "type":
			b.Type = m.Text()
		case "chars":
			b.Chars = count(m)
		case "sha256":
			b.SHA256 = m.Text()
		case "head":
			b.Head = m.Text()
		case "name":
			b.Name = m.Text()
		case "string":
			b.String = m.Bool()
		case "inLog":
			b.InLog = m.Bool()
		case "text":
			b.Text, b.HasText = m.Text(), m.Kind() == jsonl.ValueString
		}
	}
	return b
}

// count is a number that cannot be negative.
func count(v jsonl.Value) int {
	n, _ := v.Int()
	return int(max(n, 0))
}

// listingHeader is in every list of skills that stands in a message.
const listingHeader = "The following skills are available for use with the Skill tool"

// Listings are all lists of skills that the request carried, in order, without
// wrapper and header; before are those of the request before it of the same lane,
// of whose blocks the first Same were sent again.
func (r *Request) Listings(before []string) []string {
	if r.Catalogue != nil {
		var out []string
		for i := range r.Catalogue {
			c := &r.Catalogue[i]
			switch {
			case strings.HasPrefix(c.Where, "message:"):
				out = append(out, Unwrap(c.Text))
			case strings.HasPrefix(c.Where, "tool:Skill:"):
				out = append(out, strings.Trim(c.Text, "\n"))
			}
		}
		return out
	}
	var out []string
	if r.Same > 0 {
		out = append(out, before...)
	}
	for i := range r.Blocks {
		if b := &r.Blocks[i]; b.HasText && strings.Contains(b.Text, listingHeader) {
			out = append(out, Unwrap(b.Text))
		}
	}
	return out
}

// Listing is the first list of skills that the request carried, without wrapper
// and header; false if it carried none. In listing/ it is a catalogue, in other
// families a block with a text.
func (r *Request) Listing() (string, bool) {
	for i := range r.Catalogue {
		c := &r.Catalogue[i]
		switch {
		case strings.HasPrefix(c.Where, "message:"):
			return Unwrap(c.Text), true
		case strings.HasPrefix(c.Where, "tool:Skill:"):
			return strings.Trim(c.Text, "\n"), true
		}
	}
	for i := range r.Blocks {
		if b := &r.Blocks[i]; b.HasText && strings.Contains(b.Text, listingHeader) {
			return Unwrap(b.Text), true
		}
	}
	return "", false
}

// Unwrap takes a list of skills out of the message text that carries it: from the
// first entry behind the header to the end of the reminder, or of the text.
func Unwrap(text string) string {
	if i := strings.LastIndex(text, listingHeader); i >= 0 {
		text = text[i:]
	}
	switch i := strings.Index(text, "\n- "); {
	case strings.HasPrefix(text, "- "):
	case i < 0:
		return ""
	default:
		text = text[i+1:]
	}
	if i := strings.LastIndex(text, "\n</system-reminder>"); i >= 0 {
		text = text[:i]
	}
	return strings.TrimRight(text, "\n")
}
