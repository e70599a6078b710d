package jsonl

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
)

// maxUnpacked bounds what a compressed log may unpack to: 64 GiB. A small file
// can unpack to any length, and would be read for ever.
const maxUnpacked = 64 << 30

// Open opens a log: a plain file, one compressed with gzip (told by its content,
// not by its name), or standard input for "-". The errors are those of the file
// system. The caller closes it; for standard input that does nothing.
func Open(path string) (io.ReadCloser, error) {
	if path == "-" {
		return unpack(io.NopCloser(os.Stdin))
	}
	// Anything but a file could block for ever, or is a mistake.
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return unpack(f)
}

// ReadFile is [Read] of the file at path, which it opens and closes. An error in
// opening it is yielded like one in reading.
func ReadFile(path string, opt Options) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		r, err := Open(path)
		if err != nil {
			yield(nil, err)
			return
		}
		defer r.Close()
		for rec, err := range Read(path, r, opt) {
			if !yield(rec, err) {
				return
			}
		}
	}
}

type file struct {
	io.Reader
	io.Closer
}

// unpack looks at the first two bytes of f and unpacks it if they are those of
// gzip. No text begins with them.
func unpack(f io.ReadCloser) (io.ReadCloser, error) {
	b := bufio.NewReader(f)
	if magic, _ := b.Peek(2); string(magic) != "\x1F\x8B" {
		return file{b, f}, nil
	}
	z, err := gzip.NewReader(b)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the compressed file is damaged: %w", err), f.Close())
	}
	return file{&bounded{r: z, left: maxUnpacked}, f}, nil
}

// bounded is a reader that ends in an error when more than left bytes come.
type bounded struct {
	r    io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errors.New("the compressed log unpacks to more than 64 GiB")
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	if corrupt := flate.CorruptInputError(0); errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) || errors.As(err, &corrupt) {
		err = &damagedError{err}
	}
	return n, err
}

// damagedError ends a compressed file that is cut off or damaged: what came before
// it stands.
type damagedError struct{ err error }

func (e *damagedError) Error() string {
	return "the compressed file is damaged from here on: " + e.err.Error()
}

func (e *damagedError) Unwrap() error { return e.err }
