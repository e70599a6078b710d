package request

import (
	"slices"

	"github.com/skilltrace/skilltrace/jsonl"
)

// maxMessages bounds the messages of a request, and maxBases the requests that each
// extends the one before: real ones have some thousands.
const (
	maxMessages = 200_000
	maxBases    = 200_000
)

// hashes are the names of the messages of a recorded request: the first ones of
// another, and more. False where the log does not hold all of them.
func (l *Log) hashes(id string) ([]string, bool) {
	var chain []*recorded
	seen := map[*recorded]bool{}
	for {
		q := l.requests[id]
		if q == nil || seen[q] || len(chain) >= maxBases {
			return nil, false
		}
		seen[q] = true
		chain = append(chain, q)
		if q.base == "" || q.keep == 0 {
			break
		}
		id = q.base
	}
	var list []string
	for _, q := range slices.Backward(chain) {
		keep := q.keep
		if q.base == "" {
			keep = 0
		}
		if keep > int64(len(list)) || len(q.tail) > maxMessages-int(keep) {
			return nil, false
		}
		list = append(list[:keep], q.tail...)
	}
	return list, len(list) > 0
}

// exact are the messages of a recorded request, from the log's copies of messages and,
// where it has none because it would repeat its records, from those rebuilt ones that
// have the digest. Where a message is in neither, the rebuilt one in its place stands
// in, and guessed counts it. False where the record is of no use.
func (l *Log) exact(ref string, rebuilt []jsonl.Value) (messages []jsonl.Value, guessed int, ok bool) {
	list, ok := l.hashes(ref)
	if !ok {
		return nil, 0, false
	}
	var byDigest map[string]jsonl.Value
	for i, hash := range list {
		if b := l.blobs[hash]; b != nil && b.missing == 0 {
			messages = append(messages, b.message)
			continue
		}
		if byDigest == nil {
			byDigest = make(map[string]jsonl.Value, len(rebuilt))
			for _, m := range rebuilt {
				byDigest[digest(m)] = m
				if o := otherForm(m); o != nil {
					byDigest[digest(o)] = o
				}
			}
		}
		if m := byDigest[hash]; m != nil {
			messages = append(messages, m)
			continue
		}
		if len(list) != len(rebuilt) {
			return nil, 0, false
		}
		if b := l.blobs[hash]; b != nil && b.role != rebuilt[i].Get("role").Text() {
			return nil, 0, false
		}
		messages = append(messages, rebuilt[i])
		guessed++
	}
	return messages, guessed, true
}

// otherForm is a message of one text with that as a block, where it is a string, and
// as a string, where it is a block: the same to the API. Which of both the log's record
// has depends on where the message stood when the process first sent it. Nil for any
// other message.
func otherForm(m jsonl.Value) jsonl.Value {
	content := m.Get("content")
	if content.Kind() == jsonl.ValueString {
		return message(m.Get("role").Text(), array([]jsonl.Value{textBlock(content)}), m.Get("output_config"))
	}
	var only jsonl.Value
	for block := range content.Items() {
		if only != nil || block.Get("type").Text() != "text" {
			return nil
		}
		only = block
	}
	if only == nil {
		return nil
	}
	return message(m.Get("role").Text(), only.Get("text"), m.Get("output_config"))
}
