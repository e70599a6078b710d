package live

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/skilltrace/skilltrace/replay/regress/request"
)

// body is the request as it goes out. System, tools and messages are kept byte for
// byte: the SDK's own parameters, and encoding/json, would write them anew.
func body(q *request.Request, maxTokens int64) ([]byte, error) {
	if q.Model == "" {
		return nil, errors.New("the request names no model")
	}
	if len(q.Messages) == 0 {
		return nil, errors.New("the request has no messages")
	}
	model, err := json.Marshal(q.Model)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"model":%s,"max_tokens":%d`, model, maxTokens)
	if len(q.System) > 0 {
		if err := wants(q.System, "[\""); err != nil {
			return nil, fmt.Errorf("the request's system prompt %w", err)
		}
		b.WriteString(`,"system":`)
		b.Write(q.System)
	}
	if len(q.Tools) > 0 {
		if err := wants(q.Tools, "["); err != nil {
			return nil, fmt.Errorf("the request's tools: the list %w", err)
		}
		b.WriteString(`,"tools":`)
		b.Write(q.Tools)
	}
	b.WriteString(`,"messages":[`)
	for i, m := range q.Messages {
		if err := wants(m, "{"); err != nil {
			return nil, fmt.Errorf("message %d of the request %w", i+1, err)
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(m)
	}
	b.WriteString("]}")
	return b.Bytes(), nil
}

// wants checks that raw is a JSON value that begins with one of the bytes in starts.
func wants(raw json.RawMessage, starts string) error {
	trimmed := bytes.TrimLeft(raw, " \t\r\n")
	switch {
	case !json.Valid(raw):
		return errors.New("is no JSON")
	case bytes.IndexByte([]byte(starts), trimmed[0]) < 0:
		return errors.New("is of the wrong kind")
	}
	return nil
}

// key names a sample: the hash of all that is asked, model, system prompt, tools,
// messages and max_tokens, and of the sample's index. Where it is asked is no part of
// it.
func key(body []byte, index int) string {
	h := sha256.New()
	h.Write(body)
	h.Write([]byte("\n" + strconv.Itoa(index)))
	return hex.EncodeToString(h.Sum(nil))
}
