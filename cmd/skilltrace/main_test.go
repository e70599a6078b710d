package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/skilltrace/skilltrace/replay/regress/live/fake"
	"github.com/skilltrace/skilltrace/report"
)

func TestMain(m *testing.M) {
	clock = func() time.Time { return time.Time{} }
	testscript.Main(m, map[string]func(){
		"skilltrace": func() {
			signal.Ignore(syscall.SIGPIPE)
			os.Exit(Main(os.Args[1:], os.Stdout, os.Stderr, os.Getenv))
		},
	})
}

func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		UpdateScripts:       *update,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("SHARED", shared())
			env.Setenv("TZ", "UTC")
			env.Setenv("CLAUDE_CONFIG_DIR", "")
			env.Setenv("NO_COLOR", "")
			env.Setenv("COLUMNS", "")
			return nil
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "root":
				return os.Geteuid() == 0, nil
			case "shared":
				_, err := os.Stat(filepath.Join(shared(), "conformance"))
				return err == nil, nil
			}
			return false, errors.New("unknown condition " + name)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			// status runs skilltrace and checks its exit status, which exec cannot.
			"status": status,
			// model SCRIPT serves the Messages API by a script, and is what live asks.
			"model": func(ts *testscript.TestScript, _ bool, args []string) {
				script, err := fake.ReadScript(strings.NewReader(ts.ReadFile(args[0])))
				ts.Check(err)
				server := fake.Start(script...)
				ts.Defer(server.Close)
				ts.Setenv("ANTHROPIC_BASE_URL", server.URL)
				ts.Setenv("ANTHROPIC_API_KEY", "key")
			},
			// binary writes a file that is no text.
			"binary": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Check(os.WriteFile(ts.MkAbs(args[0]), bytes.Repeat([]byte{0, 1, 2, 0xff, 0x7f, 'E', 'L', 'F'}, 500), 0o644))
			},
			// fixtures copies folders of the project's fixtures into the home.
			"fixtures": func(ts *testscript.TestScript, _ bool, args []string) {
				for _, name := range args {
					to := filepath.Join(ts.Getenv("HOME"), "fixtures", name)
					ts.Check(os.CopyFS(to, os.DirFS(filepath.Join(root(), "fixtures", name))))
				}
			},
			// json checks files against the schemas that they name.
			"json": func(ts *testscript.TestScript, _ bool, args []string) {
				for _, name := range args {
					ts.Check(validate([]byte(ts.ReadFile(name))))
				}
			},
			// subst OLD NEW FILE… puts a text in place of another: paths that only the
			// run knows.
			"subst": func(ts *testscript.TestScript, _ bool, args []string) {
				for _, name := range args[2:] {
					text := strings.ReplaceAll(ts.ReadFile(name), args[0], filepath.ToSlash(args[1]))
					ts.Check(os.WriteFile(ts.MkAbs(name), []byte(text), 0o644))
				}
			},
			// safe checks that a file holds nothing that acts on a terminal.
			"safe": func(ts *testscript.TestScript, _ bool, args []string) {
				for line := range strings.Lines(ts.ReadFile(args[0])) {
					line = strings.TrimSuffix(line, "\n")
					if report.Escape(line) != line {
						ts.Fatalf("%s lets through: %q", args[0], line)
					}
				}
			},
		},
	})
}

// root is the folder of the project.
func root() string {
	dir, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		panic(err)
	}
	return dir
}

// shared is where the recordings are that are not in the project.
func shared() string {
	if dir := os.Getenv("SKILLTRACE_SHARED"); dir != "" {
		return dir
	}
	return filepath.Join(root(), "..", "shared")
}

// validate checks a document against the schema that it names.
func validate(data []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return err
	}
	object, _ := value.(map[string]any)
	name, _ := object["schema"].(string)
	command, ok := strings.CutPrefix(strings.TrimSuffix(name, "@1"), "skilltrace/")
	if !ok {
		return fmt.Errorf("names no schema: %q", name)
	}
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join(root(), "docs", "schema", command+".json"))
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

// status WANT ARGS… runs skilltrace with ARGS; its output is in the files stdout
// and stderr of the work directory.
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: status WANT ARGS…")
	}
	err := ts.Exec("skilltrace", args[1:]...)
	got := "0"
	if err != nil {
		got = strings.TrimPrefix(err.Error(), "exit status ")
	}
	ts.Check(os.WriteFile(ts.MkAbs("out.txt"), []byte(ts.ReadFile("stdout")), 0o644))
	ts.Check(os.WriteFile(ts.MkAbs("err.txt"), []byte(ts.ReadFile("stderr")), 0o644))
	if got != args[0] {
		ts.Fatalf("skilltrace %s: status %s, want %s", strings.Join(args[1:], " "), got, args[0])
	}
}

// A fault is one line on stderr and its own status.
func TestPanic(t *testing.T) {
	var out, errs bytes.Buffer
	got := Main([]string{"version"}, panicWriter{}, &errs, func(string) string { return "" })
	if got != statusInternal || !strings.HasPrefix(errs.String(), "skilltrace: internal failure: ") || strings.Count(errs.String(), "\n") != 1 {
		t.Errorf("status %d, stdout %q, stderr %q", got, out.String(), errs.String())
	}
}

type panicWriter struct{}

func (panicWriter) Write([]byte) (int, error) { panic("disk on fire") }

// A reader that went away ends the work silently.
func TestBrokenPipe(t *testing.T) {
	var errs bytes.Buffer
	got := Main([]string{"version"}, brokenPipe{}, &errs, func(string) string { return "" })
	if got != statusOK || errs.Len() > 0 {
		t.Errorf("status %d, stderr %q", got, errs.String())
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) {
	return 0, &os.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.EPIPE}
}

func TestParallel(t *testing.T) {
	var n atomic.Int64
	if err := parallel(t.Context(), 3, 100, func(i int) { n.Add(int64(i)) }); err != nil || n.Load() != 4950 {
		t.Errorf("sum %d, %v", n.Load(), err)
	}
	var internal *internalError
	if err := parallel(t.Context(), 2, 10, func(i int) {
		if i == 5 {
			panic("five")
		}
	}); !errors.As(err, &internal) {
		t.Errorf("a panic gave %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	n.Store(0)
	if err := parallel(ctx, 1, 1000, func(int) {
		n.Add(1)
		cancel()
	}); !errors.Is(err, context.Canceled) || n.Load() > 3 {
		t.Errorf("%d done after the end, %v", n.Load(), err)
	}
	if err := parallel(t.Context(), 4, 0, nil); err != nil {
		t.Error(err)
	}
}

func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.json")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link.json")
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	if err := writeFile(link, []byte("new")); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil || string(data) != "new" {
		t.Errorf("%q, %v", data, err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v", err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 2 {
		t.Errorf("left behind: %v", entries)
	}
	if err := writeFile(filepath.Join(dir, "no", "such", "folder"), nil); err == nil || strings.Count(err.Error(), "such") != 2 {
		t.Errorf("error %v", err)
	}
}
