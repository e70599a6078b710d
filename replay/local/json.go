package local

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/skilltrace/skilltrace/jsonl"
)

// maxFile bounds what is read of a settings or usage file, in bytes. The client's
// own .claude.json holds the history of all projects and can be large.
const maxFile = 64 << 20

// document is a JSON file.
type document struct {
	name string
	data []byte
	root jsonl.Value
}

// readJSON reads a bounded JSON file whose value is an object. Errors are
// `file: what` or `file:line: what`.
func readJSON(name string) (*document, error) {
	data, err := ReadFile(name)
	if err != nil {
		return nil, err
	}
	d := &document{name: name, data: bytes.TrimPrefix(data, []byte("\uFEFF"))}
	if err := json.Unmarshal(d.data, new(json.RawMessage)); err != nil {
		offset := int64(0)
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			offset = syntax.Offset
		}
		return nil, fmt.Errorf("%s: not JSON: %w", d.at(int(offset)), err)
	}
	if d.root, err = jsonl.ParseValue(d.data); err != nil {
		return nil, fmt.Errorf("%s: not JSON: %w", name, err)
	}
	if d.root.Kind() != jsonl.ValueObject {
		return nil, fmt.Errorf("%s: want a JSON object", d.at(0))
	}
	return d, nil
}

// ReadFile reads a file that somebody named: a regular one of at most 64 MiB, no
// device and no pipe. Errors are `file: what`.
func ReadFile(name string) ([]byte, error) {
	plain := func(err error) error {
		if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
			err = pe.Err
		}
		return fmt.Errorf("%s: %w", name, err)
	}
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, plain(err)
	case info.IsDir():
		return nil, fmt.Errorf("%s: a folder, not a file", name)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: not a regular file", name)
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, plain(err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	switch {
	case err != nil:
		return nil, plain(err)
	case len(data) > maxFile:
		return nil, fmt.Errorf("%s: larger than %d MiB", name, maxFile>>20)
	}
	return data, nil
}

// at is a place in the file, `file:line`.
func (d *document) at(offset int) string {
	return fmt.Sprintf("%s:%d", d.name, 1+bytes.Count(d.data[:min(max(offset, 0), len(d.data))], []byte("\n")))
}

// fault says that a member is not what is wanted. The line is that of the first
// place where its name stands.
func (d *document) fault(key, want string) string {
	return fmt.Sprintf("%s: %s: want %s; passed over", d.at(bytes.Index(d.data, []byte(`"`+key+`"`))), key, want)
}
