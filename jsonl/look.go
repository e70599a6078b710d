package jsonl

import (
	"bufio"
	"bytes"
	"io"
	"time"
)

// Look is what the beginning of a file tells of it.
type Look struct {
	Format Format // FormatUnknown: no log that can be read
	// Reason says what the file is instead, or why it is no log, where Format is
	// FormatUnknown.
	Reason string
	Empty  bool   // nothing in it but blanks; resuming in old clients leaves such logs
	Tool   string // the tool whose log it is, if not Claude Code: codex

	// From the first records that tell.
	Session string
	CWD     string
	Version string
	Agent   string
	Start   time.Time
}

// A beginning is at most lookRecords records and lookBytes bytes: some logs begin
// with dozens of records that name neither folder nor version, and the first line
// may be the longest.
const (
	lookRecords = 100
	lookBytes   = DefaultMaxLine + 8<<20
	lookChunk   = 8 << 10
)

// Looks reads the beginning of the file at path and says whether it is a session
// log. The error is that of the file system; a file that is no log is none.
func Looks(path string) (Look, error) {
	f, err := Open(path)
	if err != nil {
		return Look{}, err
	}
	defer f.Close()
	return looks(path, f)
}

func looks(name string, r io.Reader) (Look, error) {
	var (
		l              Look
		n, broken, nul int
		first          string // what the first record that is none seems to be
	)
	// A binary file can be one line of any length: the first bytes tell.
	b := bufio.NewReaderSize(r, lookChunk)
	if head, _ := b.Peek(lookChunk); bytes.IndexByte(head, '{') < 0 && bytes.IndexByte(head, 0) >= 0 &&
		len(bytes.Trim(head, "\x00")) > 0 {
		l.Reason = "a binary file"
		return l, nil
	}
	opt := Options{Sizes: true}
	for rec, err := range read(name, io.LimitReader(b, lookBytes), opt, lookChunk) {
		if err != nil {
			if l.Format != FormatUnknown || n > 0 {
				break // enough of it could be read
			}
			return l, err
		}
		n++
		switch {
		case rec.Broken:
			if rec.Defects[0].Kind == DefectEmpty {
				return Look{Empty: true, Reason: "an empty file"}, nil
			}
			broken++
			if first == "" {
				first = guess(rec)
			}
			if bytes.IndexByte(rec.Raw, 0) >= 0 {
				nul++
			}
		case recognised(rec, false) || rec.Type == "file-history-snapshot":
			if l.Format == FormatUnknown {
				l.Format = rec.Format
			}
			take := func(p *string, s string) {
				if *p == "" {
					*p = s
				}
			}
			take(&l.Session, rec.Session)
			take(&l.CWD, rec.CWD)
			take(&l.Version, rec.Version)
			take(&l.Agent, rec.Agent)
			if l.Start.IsZero() {
				l.Start = rec.Time
			}
		default:
			if tool := otherTool(rec.Raw); tool != "" {
				l.Tool = tool
			}
			if first == "" {
				first = guess(rec)
			}
		}
		full := l.Session != "" && l.CWD != "" && l.Version != "" && !l.Start.IsZero()
		if full || n >= lookRecords {
			break
		}
	}
	if l.Format != FormatUnknown {
		l.Tool = ""
		return l, nil
	}
	switch {
	case l.Tool == "codex":
		l.Reason = "a log of Codex"
	case nul > 0:
		l.Reason = "a binary file"
	default:
		l.Reason = first
	}
	return l, nil
}

// guess says in words what a line that is no record looks like.
func guess(r *Record) string {
	if !r.Broken {
		if v := Value(r.Raw); v.Get("display").Kind() == ValueString && v.Get("project").Kind() == ValueString {
			return "the history of prompts, not a session"
		}
		return "JSON lines, but not those of a session"
	}
	switch r.Defects[0].Kind {
	case DefectNUL:
		return "a binary file"
	case DefectTruncated:
		return "JSON that does not stand on one line"
	case DefectNotObject:
		return "JSON, but not one record a line"
	}
	if i := bytes.IndexByte(r.Raw, '['); i == 0 {
		return "JSON, but not one record a line"
	}
	return "not JSON"
}

// otherTool names the tool whose log the record is from, if it is known. A Codex
// rollout wraps everything in a payload.
func otherTool(raw Value) string {
	switch raw.Get("type").Text() {
	case "session_meta", "response_item", "event_msg", "turn_context", "compacted":
		if raw.Get("payload").Kind() == ValueObject {
			return "codex"
		}
	}
	return ""
}
