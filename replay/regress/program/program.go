// Package program asks another agent or model which skill it would use: a program that
// reads a case as JSON and answers with the skill's name. The program is the one that
// the user named; it is run without a shell, and no text of a log ever becomes part of
// its command line.
package program

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/skilltrace/skilltrace/budget"
)

// CaseSchema names the form of a case; docs/schema/test-case.json is its JSON Schema.
const CaseSchema = "skilltrace/test-case@1"

// Case is what the program is told, on its standard input.
type Case struct {
	// Schema is set by Ask.
	Schema string `json:"schema"`
	Name   string `json:"name"`
	// Prompt is the text of the user's prompt.
	Prompt string `json:"prompt"`
	// Skills are those listed at the prompt, in the order of the listing.
	Skills []Skill `json:"skills"`
	// Candidates are the names of the skills under test, listed or not.
	Candidates []string `json:"candidates"`
	// Session is the session's ID and Model the model's name, as the log has them.
	Session string `json:"session,omitempty"`
	Model   string `json:"model,omitempty"`
}

// Skill is an entry of the listing, as the model would see it.
type Skill struct {
	Name string `json:"name"`
	// Description is what of it is listed: cut, or "" where the name stands alone.
	Description string `json:"description"`
}

// Limits of a run that Program leaves at 0.
const (
	DefaultTimeout = time.Minute
	// maxOutput bounds what a program may write to standard output, in bytes.
	maxOutput = 1 << 20
	// maxError bounds a message of the program in an error, in bytes.
	maxError = 500
	// lingers is how long a program that ended may keep its output open.
	lingers = 2 * time.Second
)

// Program is a program to ask.
type Program struct {
	// Args are the program and its arguments, as spec.Words makes them. A program without a
	// slash is looked for in PATH; one with is relative to Dir.
	Args []string
	// Dir is the working directory; "" for that of this process.
	Dir string
	// Timeout bounds one run.
	Timeout time.Duration
}

// Ask runs the program on a case. The result are the names of the skills that it would
// use, in order; none if it would use none. Whatever else happens is an error of one
// line: the case is errored then, not missed. The program and all that it started are
// killed when ctx ends or the time is over.
func (p *Program) Ask(ctx context.Context, c Case) ([]string, error) {
	if len(p.Args) == 0 {
		return nil, errors.New("no program is named")
	}
	input, err := c.encode()
	if err != nil {
		return nil, err
	}
	timeout := p.Timeout
	if timeout <= 0 {
		timeout = DefaultTimeout
	}
	timed, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	out := &head{stop: cancel}
	last := &tail{}
	cmd := exec.CommandContext(timed, p.Args[0], p.Args[1:]...)
	cmd.Dir = p.Dir
	cmd.Stdin = bytes.NewReader(input)
	cmd.Stdout, cmd.Stderr = out, last
	cmd.WaitDelay = lingers
	group(cmd)
	err = cmd.Start()
	if err != nil {
		return nil, fmt.Errorf("cannot run %s: %w", p.Args[0], plain(err))
	}
	err = cmd.Wait()
	end(cmd)
	var exit *exec.ExitError
	switch {
	case out.over:
		return nil, fmt.Errorf("%s wrote more than %d bytes", p.Args[0], maxOutput)
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%s was stopped: %w", p.Args[0], ctx.Err())
	case timed.Err() != nil:
		return nil, fmt.Errorf("%s did not answer within %s", p.Args[0], timeout)
	case errors.As(err, &exit):
		if line := last.line(); line != "" {
			return nil, fmt.Errorf("%s: %s: %s", p.Args[0], exit, line)
		}
		return nil, fmt.Errorf("%s: %s", p.Args[0], exit)
	case errors.Is(err, exec.ErrWaitDelay):
		return nil, fmt.Errorf("%s left a process behind that kept its output open", p.Args[0])
	case err != nil:
		return nil, fmt.Errorf("%s: %w", p.Args[0], err)
	}
	names, err := readAnswer(out.b.Bytes())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Args[0], err)
	}
	return names, nil
}

// encode is the case as one line of JSON.
func (c Case) encode() ([]byte, error) {
	c.Schema = CaseSchema
	c.Prompt = budget.ReplaceLone(c.Prompt)
	skills := make([]Skill, len(c.Skills))
	for i, s := range c.Skills {
		skills[i] = Skill{budget.ReplaceLone(s.Name), budget.ReplaceLone(s.Description)}
	}
	c.Skills = skills
	if c.Candidates == nil {
		c.Candidates = []string{}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(c); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// readAnswer reads {"skill": …}: a name, a list of names, or null for none. A text
// under "error" says that the program could not tell.
func readAnswer(raw []byte) ([]string, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, errors.New("no answer on standard output")
	}
	var answer map[string]json.RawMessage
	if err := json.Unmarshal(raw, &answer); err != nil || answer == nil {
		return nil, errors.New(`the answer is not one JSON object such as {"skill": "name"}`)
	}
	if raw, ok := answer["error"]; ok && string(raw) != "null" {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			text = string(raw)
		}
		return nil, fmt.Errorf("says: %s", oneLine(text))
	}
	skill, ok := answer["skill"]
	if !ok {
		return nil, errors.New(`the answer has no "skill"`)
	}
	var names []string
	var name string
	switch {
	case json.Unmarshal(skill, &name) == nil && string(skill) != "null":
		names = []string{name}
	case json.Unmarshal(skill, &names) != nil:
		return nil, errors.New(`"skill" in the answer is no name, list of names, or null`)
	}
	for _, n := range names {
		if strings.TrimSpace(n) == "" {
			return nil, errors.New(`"skill" in the answer has an empty name; null says that no skill is used`)
		}
	}
	return names, nil
}

// head keeps what is written, up to maxOutput; then it stops the program.
type head struct {
	b    bytes.Buffer
	over bool
	stop func()
}

func (h *head) Write(p []byte) (int, error) {
	if h.over || h.b.Len()+len(p) > maxOutput {
		h.over = true
		h.stop()
		return len(p), nil
	}
	return h.b.Write(p)
}

// tail keeps the end of what is written.
type tail struct{ b []byte }

// keepTail is how much a tail keeps, in bytes.
const keepTail = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p...)
	if extra := len(t.b) - keepTail; extra > 0 {
		t.b = append(t.b[:0], t.b[extra:]...)
	}
	return len(p), nil
}

// line is the last line that is not blank.
func (t *tail) line() string {
	text := strings.TrimSpace(string(t.b))
	return oneLine(text[strings.LastIndexByte(text, '\n')+1:])
}

// oneLine is a program's text for an error: one line, bounded.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	if len(text) > maxError {
		text = strings.ToValidUTF8(text[:maxError], "") + "…"
	}
	return text
}

// plain is why a program could not be started, without its name.
func plain(err error) error {
	var e *exec.Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}
