package program

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The test program plays the program that is asked, as its first argument says.
func TestMain(m *testing.M) {
	if os.Getenv("PLAY") == "" || len(os.Args) < 2 {
		os.Exit(m.Run())
	}
	input, _ := io.ReadAll(os.Stdin)
	arg := ""
	if len(os.Args) > 2 {
		arg = os.Args[2]
	}
	switch os.Args[1] {
	case "say":
		fmt.Print(arg)
	case "file":
		os.WriteFile(arg, input, 0o600)
		fmt.Print(`{"skill":null}`)
	case "first":
		var c Case
		if json.Unmarshal(input, &c) == nil {
			json.NewEncoder(os.Stdout).Encode(map[string]string{"skill": c.Skills[0].Name})
		}
	case "fail":
		fmt.Fprint(os.Stderr, strings.Repeat("noise\n", 10000), arg)
		fmt.Print(`{"skill":"a"}`)
		os.Exit(3)
	case "flood":
		for {
			if _, err := fmt.Println(strings.Repeat("x", 1000)); err != nil {
				os.Exit(1)
			}
		}
	case "hang":
		child := exec.Command(os.Args[0], "sleep")
		child.Stdout = os.Stdout
		child.Start()
		os.WriteFile(arg, []byte(strconv.Itoa(child.Process.Pid)), 0o600)
		time.Sleep(time.Minute)
	case "leave":
		child := exec.Command(os.Args[0], "sleep")
		child.Stdout = os.Stdout
		child.Start()
		fmt.Print(`{"skill":"a"}`)
	case "sleep":
		time.Sleep(time.Minute)
	}
}

func play(t *testing.T, args ...string) *Program {
	t.Helper()
	t.Setenv("PLAY", "1")
	me, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &Program{Args: append([]string{me}, args...)}
}

func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		answer string
		want   []string
		err    string
	}{
		{`{"skill":"commit"}`, []string{"commit"}, ""},
		{" {\"skill\" : [\"a\", \"b\"], \"why\": 1}\n", []string{"a", "b"}, ""},
		{`{"skill":null}`, nil, ""},
		{`{"skill":[]}`, nil, ""},
		{`{"skill":"a","error":null}`, []string{"a"}, ""},
		{`{"skill":"a","error":"no model\nhere"}`, nil, "says: no model here"},
		{`{"error":{"code":5}}`, nil, `says: {"code":5}`},
		{`{"skills":"a"}`, nil, `the answer has no "skill"`},
		{`{"skill":""}`, nil, "has an empty name"},
		{`{"skill":["a"," "]}`, nil, "has an empty name"},
		{`{"skill":1}`, nil, `"skill" in the answer is no name`},
		{`{"skill":["a",1]}`, nil, `"skill" in the answer is no name`},
		{`{"skill":{"name":"a"}}`, nil, `"skill" in the answer is no name`},
		{`null`, nil, "the answer is not one JSON object"},
		{`"a"`, nil, "the answer is not one JSON object"},
		{`{"skill":"a"} {"skill":"b"}`, nil, "the answer is not one JSON object"},
		{`{"skill":"a"`, nil, "the answer is not one JSON object"},
		{"  \n", nil, "no answer"},
	} {
		got, err := play(t, "say", c.answer).Ask(t.Context(), Case{})
		if !slices.Equal(got, c.want) || (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %q, %v", c.answer, got, err)
		}
	}
}

func TestCaseIsOfSchema(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join("..", "..", "..", "docs", "schema", "test-case.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []Case{
		{Name: "empty"},
		{Name: "n", Prompt: "<b> lone \xed\xa0\x80", Skills: []Skill{{"a", "is \xed\xa0\x80"}, {"b", ""}}, Candidates: []string{"a"}, Session: "s", Model: "m"},
	} {
		file := filepath.Join(t.TempDir(), "case.json")
		if _, err := play(t, "file", file).Ask(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(string(raw)))
		if err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		if err := schema.Validate(v); err != nil {
			t.Errorf("%s: %v", raw, err)
		}
		if c.Prompt != "" && !strings.Contains(string(raw), `"prompt":"<b> lone `+"\uFFFD"+`"`) {
			t.Errorf("%s", raw)
		}
	}
	got, err := play(t, "first").Ask(t.Context(), Case{Skills: []Skill{{Name: "x"}, {Name: "y"}}})
	if err != nil || !slices.Equal(got, []string{"x"}) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestFailures(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"fail", "the model is down\n\n"}, "exit status 3: the model is down"},
		{[]string{"fail", strings.Repeat("long ", 700)}, ": exit status 3: long long"},
		{[]string{"flood"}, "wrote more than 1048576 bytes"},
		{[]string{"leave"}, "left a process behind"},
	} {
		if got, err := play(t, c.args...).Ask(t.Context(), Case{}); got != nil || err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.30q: %q, %v", c.args, got, err)
		}
	}
	for _, p := range []*Program{{Args: []string{"no-such-program-here"}}, {Args: []string{"./none"}, Dir: t.TempDir()}, {}} {
		if _, err := p.Ask(t.Context(), Case{}); err == nil {
			t.Errorf("%q ran", p.Args)
		}
	}
}

// TestKilled: with the program goes what it started.
func TestKilled(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pid")
	p := play(t, "hang", pids)
	p.Timeout = 3 * time.Second
	_, err := p.Ask(t.Context(), Case{})
	if err == nil || !strings.Contains(err.Error(), "did not answer within 3s") {
		t.Errorf("%v", err)
	}
	gone(t, pids)

	ctx, cancel := context.WithCancel(t.Context())
	p = play(t, "hang", pids)
	go func() {
		for {
			if b, err := os.ReadFile(pids); err == nil && len(b) > 0 {
				cancel()
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	if err := os.Remove(pids); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Ask(ctx, Case{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	gone(t, pids)
}

func FuzzAnswer(f *testing.F) {
	for _, s := range []string{`{"skill":"a"}`, `{"skill":["a",null]}`, `{"skill":null,"error":""}`, `[]`, `{"skill":"a"}x`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		names, err := readAnswer(raw)
		if err != nil && (names != nil || strings.ContainsAny(err.Error(), "\n\r")) || err == nil && slices.Contains(names, "") {
			t.Errorf("%q, %v", names, err)
		}
	})
}
