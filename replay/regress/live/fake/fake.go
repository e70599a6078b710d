// Package fake is a server of the Messages API for tests: it answers as its script
// says, and keeps what it was asked.
package fake

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"
)

// Reply is one step of a script.
type Reply struct {
	// Match is a part of the body of the requests that it answers; "" for any.
	Match string `json:"match,omitempty"`
	// Times is how many requests it answers; 0 for all that come.
	Times int `json:"times,omitempty"`

	// Calls are the tools the model calls: "Skill:NAME" for a Skill call, else a tool's
	// name, or "text:…" for text between them.
	Calls []string `json:"calls,omitempty"`
	// Stop is the stop reason; "" for tool_use with a call and end_turn without.
	Stop string `json:"stop,omitempty"`
	// Usage is the usage as JSON; nil for 1,000 tokens in and 50 out.
	Usage json.RawMessage `json:"usage,omitempty"`

	// Status above 200 is an error of this kind, with a message.
	Status  int               `json:"status,omitempty"`
	Kind    string            `json:"kind,omitempty"`
	Message string            `json:"message,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`

	// Raw is the whole body, in place of the above.
	Raw string `json:"raw,omitempty"`
	// Drop hangs up without a response. Cut hangs up in the middle of the body.
	Drop bool `json:"drop,omitempty"`
	Cut  bool `json:"cut,omitempty"`
	// DelayMS waits before the response, in milliseconds, or until the client leaves.
	DelayMS int `json:"delay_ms,omitempty"`
	// Hold waits until it is closed, or until the client leaves.
	Hold <-chan struct{} `json:"-"`
}

// Server answers POST v1/messages.
type Server struct {
	URL string

	http   *httptest.Server
	mu     sync.Mutex
	script []Reply
	left   []int
	asked  []Request
}

// Request is what the server was asked.
type Request struct {
	Body   []byte
	Header http.Header
}

// Start serves until Close. A request is answered by the first reply of the script that
// matches and has times left; where there is none, with a status of 400.
func Start(script ...Reply) *Server {
	s := &Server{script: script}
	for _, r := range script {
		s.left = append(s.left, r.Times)
	}
	s.http = httptest.NewServer(s)
	s.URL = s.http.URL
	return s
}

// ReadScript reads a script as JSON: a list of replies.
func ReadScript(r io.Reader) ([]Reply, error) {
	var script []Reply
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	if err := d.Decode(&script); err != nil {
		return nil, fmt.Errorf("script of the fake server: %w", err)
	}
	return script, nil
}

// Close ends the server and the requests that it holds.
func (s *Server) Close() {
	s.http.CloseClientConnections()
	s.http.Close()
}

// Asked are the requests so far, in the order of their arrival.
func (s *Server) Asked() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.asked...)
}

func (s *Server) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return
	}
	r := s.pick(Request{body, req.Header.Clone()})
	if req.Method != http.MethodPost || !strings.HasSuffix(req.URL.Path, "/v1/messages") {
		r = Reply{Status: http.StatusNotFound, Kind: "not_found_error", Message: req.Method + " " + req.URL.Path}
	}
	if r.DelayMS > 0 {
		wait, cancel := context.WithTimeout(req.Context(), time.Duration(r.DelayMS)*time.Millisecond)
		<-wait.Done()
		cancel()
		if req.Context().Err() != nil {
			return
		}
	}
	if r.Hold != nil {
		select {
		case <-r.Hold:
		case <-req.Context().Done():
			return
		}
	}
	if r.Drop {
		panic(http.ErrAbortHandler) // hangs up, and net/http says nothing of it
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Request-Id", "req_fake")
	for name, value := range r.Headers {
		w.Header().Set(name, value)
	}
	out := r.body()
	if r.Cut {
		w.Header().Set("Content-Length", fmt.Sprint(len(out)))
		out = out[:len(out)/2]
	}
	if r.Status != 0 {
		w.WriteHeader(r.Status)
	}
	w.Write(out)
	if r.Cut {
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
}

// pick notes a request and finds its reply.
func (s *Server) pick(q Request) Reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, q)
	for i, r := range s.script {
		if !strings.Contains(string(q.Body), r.Match) || r.Times > 0 && s.left[i] == 0 {
			continue
		}
		s.left[i]--
		return r
	}
	return Reply{Status: http.StatusBadRequest, Kind: "invalid_request_error", Message: "the script has no reply to this"}
}

// body is the response's body.
func (r *Reply) body() []byte {
	switch {
	case r.Raw != "":
		return []byte(r.Raw)
	case r.Status > http.StatusOK:
		return encode(map[string]any{"type": "error", "request_id": "req_fake",
			"error": map[string]string{"type": r.Kind, "message": r.Message}})
	}
	content := []any{}
	stop := "end_turn"
	for i, call := range r.Calls {
		if text, ok := strings.CutPrefix(call, "text:"); ok {
			content = append(content, map[string]any{"type": "text", "text": text})
			continue
		}
		stop = "tool_use"
		tool, input := call, map[string]string{}
		if skill, ok := strings.CutPrefix(call, "Skill:"); ok {
			tool, input = "Skill", map[string]string{"skill": skill}
		}
		content = append(content, map[string]any{"type": "tool_use", "id": fmt.Sprintf("toolu_%d", i), "name": tool, "input": input})
	}
	if r.Stop != "" {
		stop = r.Stop
	}
	usage := r.Usage
	if usage == nil {
		usage = json.RawMessage(`{"input_tokens":1000,"output_tokens":50,"cache_creation_input_tokens":0,"cache_read_input_tokens":0}`)
	}
	return encode(map[string]any{"id": "msg_fake", "type": "message", "role": "assistant", "model": "claude-fake",
		"content": content, "stop_reason": stop, "stop_sequence": nil, "usage": usage})
}

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // of this package's own values: a script with broken usage
	}
	return b
}
