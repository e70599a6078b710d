package jsonl

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// syntheticLog is a log of about size bytes in the proportions of real ones: by
// bytes two thirds tool results (their text twice, as the client writes it), the
// rest assistant blocks with usage, prompts, attachments and snapshots.
func syntheticLog(size int) []byte {
	var b bytes.Buffer
	source := strings.Repeat(`\tif err := run(ctx, \"step\", n); err != nil {\n\t\treturn fmt.Errorf(\"step %d: %w\", n, err)\n\t}\n`, 40)
	prose := strings.Repeat(`The function reads the whole file first, which is why it is slow on large inputs. `, 8)
	listing := strings.Repeat(`- deploy: Deploys the service. Use when the user asks to ship.\n`, 60)
	parent := "00000000-0000-4000-8000-000000000000"
	for n := 0; b.Len() < size; n++ {
		line := func(format string, args ...any) {
			uuid := fmt.Sprintf("%08x-1111-4111-8111-%012x", n, b.Len())
			fmt.Fprintf(&b, `{"parentUuid":"%s","isSidechain":false,`, parent)
			fmt.Fprintf(&b, format, args...)
			fmt.Fprintf(&b, `,"uuid":"%s","timestamp":"2026-11-30T08:%02d:%02d.712Z","userType":"external","entrypoint":"cli","cwd":"/home/dev/shop","sessionId":"17d251b9-69bb-441f-8ad2-5d267c3356a5","version":"2.1.332","gitBranch":"main","slug":"a-b-c"}`+"\n", uuid, n/60%60, n%60)
			parent = uuid
		}
		if n%20 == 0 {
			line(`"promptId":"f5a86da0","type":"user","message":{"role":"user","content":"please look at it, %d"},"permissionMode":"default","promptSource":"typed"`, n)
			line(`"attachment":{"type":"skill_listing","content":"%s","skillCount":60,"isInitial":true},"type":"attachment"`, listing)
			fmt.Fprintf(&b, `{"type":"file-history-snapshot","messageId":"%s","snapshot":{"messageId":"%s","trackedFileBackups":{},"timestamp":"2026-11-30T09:36:52.886Z"},"isSnapshotUpdate":false}`+"\n", parent, parent)
		}
		usage := `"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":3,"cache_creation_input_tokens":120,"cache_read_input_tokens":21954,"output_tokens":8,"server_tool_use":{"web_search_requests":0,"web_fetch_requests":0},"service_tier":"standard","cache_creation":{"ephemeral_1h_input_tokens":0,"ephemeral_5m_input_tokens":120}}`
		line(`"message":{"id":"msg_%d","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"thinking","thinking":"%s","signature":"%s"}],%s},"requestId":"req_%d","type":"assistant"`, n, prose, strings.Repeat("RW5jcnlwdGVk", 40), usage, n)
		line(`"message":{"id":"msg_%d","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"tool_use","id":"toolu_%d","name":"Bash","input":{"command":"go test ./...","description":"Run tests"}}],%s},"requestId":"req_%d","type":"assistant"`, n, n, usage, n)
		text := source[:len(source)/(1+n%4)]
		text = text[:strings.LastIndexByte(text, '\\')]
		text = strings.TrimRight(text, `\`)
		line(`"promptId":"f5a86da0","type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_%d","type":"tool_result","content":"%s","is_error":false}]},"toolUseResult":{"stdout":"%s","stderr":"","interrupted":false,"isImage":false},"sourceToolAssistantUUID":"%s"`, n, text, text, parent)
	}
	return b.Bytes()
}

func TestSyntheticLog(t *testing.T) {
	data := syntheticLog(200 << 10)
	var st Stats
	for r := range Read("x", bytes.NewReader(data), Options{Stats: &st}) {
		if len(r.Defects) > 0 {
			t.Fatal(r.Defects)
		}
	}
	if st.Records != bytes.Count(data, []byte("\n")) || len(st.UnknownFields)+len(st.UnknownTypes) > 0 {
		t.Errorf("%+v", st)
	}
}

func BenchmarkRead(b *testing.B) {
	data := syntheticLog(8 << 20)
	for _, c := range []struct {
		name string
		opt  Options
	}{{"full", Options{}}, {"sizes", Options{Sizes: true}}} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				for _, err := range Read("x", bytes.NewReader(data), c.opt) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
	b.Run("lines", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			l := lines{r: bytes.NewReader(data), max: DefaultMaxLine, chunk: readSize}
			for l.next() {
			}
		}
	})
	b.Run("skip", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			s := scanner{b: data}
			for s.space() != 0 {
				s.skip()
			}
			if s.failed {
				b.Fatal(s.what)
			}
		}
	})
	b.Run("measure", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			measure(data)
		}
	})
}
