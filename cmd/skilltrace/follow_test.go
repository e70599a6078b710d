package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
)

// written is what a command wrote, for readers while it writes.
type written struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (w *written) Write(data []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.Write(data)
}

func (w *written) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.String()
}

// waitFor waits until something is written.
func (w *written) waitFor(t *testing.T, text string) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if strings.Contains(w.String(), text) {
			return
		}
	}
	t.Fatalf("%q is not written:\n%s", text, w.String())
}

// sessionLines are the lines of the log of the session scripts.
func sessionLines(t *testing.T) []string {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", "script", "session.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		if strings.HasSuffix(f.Name, "000000000001.jsonl") {
			return strings.SplitAfter(strings.TrimSpace(string(f.Data))+"\n", "\n")[:6]
		}
	}
	t.Fatal("the log is gone")
	return nil
}

// following starts a command that follows, and ends it with the test.
func following(t *testing.T, args ...string) (stdout, stderr *written, stop func() error) {
	t.Helper()
	pause := followPause
	followPause = 5 * time.Millisecond
	stdout, stderr = &written{}, &written{}
	a := &app{stdout: stdout, stderr: stderr, getenv: func(key string) string { return map[string]string{"COLUMNS": "140"}[key] }}
	root := a.rootCommand()
	root.SetArgs(append([]string{"timeline", "--follow"}, args...))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- root.ExecuteContext(ctx) }()
	stop = sync.OnceValue(func() error {
		cancel()
		err := <-done
		followPause = pause
		return err
	})
	t.Cleanup(func() { stop() })
	return stdout, stderr, stop
}

func TestFollow(t *testing.T) {
	lines := sessionLines(t)
	path := filepath.Join(t.TempDir(), "5274deb5-0000-4000-8000-000000000001.jsonl")
	put(t, path, lines[0])
	stdout, stderr, stop := following(t, path)
	grow := func(text string) {
		t.Helper()
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	stdout.waitFor(t, "put it online")
	grow(lines[1])
	stdout.waitFor(t, "2 skills: commit, deploy")
	// The half of a line is nothing yet.
	grow(lines[2][:200])
	time.Sleep(30 * time.Millisecond)
	grow(lines[2][200:])
	stdout.waitFor(t, "skill call")
	if n := strings.Count(stdout.String(), "put it online"); n != 1 {
		t.Errorf("the prompt is written %d times:\n%s", n, stdout)
	}
	grow(strings.Join(lines[3:5], ""))
	stdout.waitFor(t, "body")
	// A subagent begins.
	agent := filepath.Join(strings.TrimSuffix(path, ".jsonl"), "subagents", "agent-a8c17d3e9.jsonl")
	put(t, agent, strings.ReplaceAll(strings.ReplaceAll(lines[0], "put it online", "look around"), `"type":"user"`, `"isSidechain":true,"agentId":"a8c17d3e9","type":"user"`))
	stdout.waitFor(t, "── agent a8c17d3e9")
	stdout.waitFor(t, "look around")
	titles, widths := 0, map[int]bool{}
	for line := range strings.Lines(stdout.String()) {
		if strings.Contains(line, " event ") {
			titles++
		}
		if at := strings.Index(line, "main "); at >= 0 {
			widths[at] = true
		}
	}
	if titles != 1 || len(widths) != 1 {
		t.Errorf("the titles stand %d times, and the agents in columns %v:\n%s", titles, widths, stdout)
	}

	// It is replaced by another file, and cut short.
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	stderr.waitFor(t, "it is gone; waiting for it")
	put(t, path, strings.ReplaceAll(lines[0], "put it online", "another session"))
	stdout.waitFor(t, "another session")
	grow(lines[1])
	stdout.waitFor(t, "2 skills: commit, deploy")
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	stderr.waitFor(t, "it was cut short, and is read from its start")
	grow(strings.ReplaceAll(lines[0], "put it online", "the third one"))
	stdout.waitFor(t, "the third one")
	if err := stop(); !errors.Is(err, context.Canceled) {
		t.Errorf("it ends with %v", err)
	}
}

func TestFollowNDJSON(t *testing.T) {
	lines := sessionLines(t)
	path := filepath.Join(t.TempDir(), "a.jsonl")
	put(t, path, lines[0])
	stdout, _, stop := following(t, path, "--format", "ndjson", "--kind", "prompt,body")
	stdout.waitFor(t, `"kind":"prompt"`)
	put(t, path, strings.Join(lines, ""))
	stdout.waitFor(t, `"kind":"body"`)
	if err := stop(); !errors.Is(err, context.Canceled) {
		t.Errorf("it ends with %v", err)
	}
	if n := strings.Count(stdout.String(), "\n"); n != 2 {
		t.Errorf("%d lines:\n%s", n, stdout)
	}
}

func TestFollowErrors(t *testing.T) {
	p := newPlace(t)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--format", "json"}, "--format json: want table or ndjson with --follow, as the end is not known"},
		{[]string{"--output", "x.txt"}, "--output x.txt: --follow writes as it goes"},
		{[]string{"-"}, "--follow: want the log of a session"},
		{[]string{filepath.Join(p.home, "no.jsonl")}, "no.jsonl: "},
		{[]string{p.config, p.wide}, "--follow: 2 sessions; name one"},
	} {
		if status, out, errs := p.run(append([]string{"timeline", "-f"}, c.args...)...); status != statusUnusable || out != "" || !strings.Contains(errs, c.want) {
			t.Errorf("%v: status %d, %s%s, want %s", c.args, status, out, errs, c.want)
		}
	}
}
