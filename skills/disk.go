package skills

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Limits of a disk read on behalf of a stranger. A skill file is a page or two
// of text and a skills folder holds hundreds of entries at most; whatever is
// larger is a mistake or an attack, and is reported instead of read.
const (
	DefaultMaxFile   = 4 << 20 // bytes of one file
	DefaultMaxFolder = 100_000 // entries of one folder
)

// ErrTooLarge is what reading a file or folder over the limit gives.
var ErrTooLarge = errors.New("too large")

// Disk is the real file system. The zero value is ready to use.
type Disk struct {
	// MaxFile is the size in bytes over which a file is refused; 0 stands for
	// DefaultMaxFile.
	MaxFile int64
}

// ReadDir lists a folder in the order in which the file system gives it.
func (d Disk) ReadDir(dir string) ([]fs.DirEntry, error) {
	f, err := os.Open(filepath.FromSlash(dir))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(DefaultMaxFolder + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return entries, err
	}
	if len(entries) > DefaultMaxFolder {
		return entries[:DefaultMaxFolder], fmt.Errorf("%s: more than %d entries: %w", dir, DefaultMaxFolder, ErrTooLarge)
	}
	return entries, nil
}

// ReadFile reads a regular file of at most MaxFile bytes; a device or pipe is
// never opened.
func (d Disk) ReadFile(name string) ([]byte, error) {
	limit := d.MaxFile
	if limit <= 0 {
		limit = DefaultMaxFile
	}
	path := filepath.FromSlash(name)
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", name)
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("%s: %d bytes, the limit is %d: %w", name, info.Size(), limit, ErrTooLarge)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(text)) > limit {
		return nil, fmt.Errorf("%s: over %d bytes: %w", name, limit, ErrTooLarge)
	}
	return text, nil
}

// Resolve follows all links of an existing path.
func (d Disk) Resolve(name string) (string, error) {
	p, err := filepath.EvalSymlinks(filepath.FromSlash(name))
	return filepath.ToSlash(p), err
}

// Stat describes what a path leads to.
func (d Disk) Stat(name string) (fs.FileInfo, error) {
	return os.Stat(filepath.FromSlash(name))
}
