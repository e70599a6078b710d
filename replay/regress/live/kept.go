package live

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// Kept is what a folder holds of replies that were asked for.
type Kept struct {
	Entries int
	Bytes   int64
	Oldest  time.Time // when it was kept, zero where there is none
	Newest  time.Time
}

// keptName matches the files that [cache.save] leaves in its folder.
var keptName = regexp.MustCompile(`^(?:[0-9a-f]{64}\.json|\.sample-[0-9]+)$`)

// LookKept counts the replies in a folder. Files of others do not count; a folder that
// does not exist holds none. The error is that of the file system.
func LookKept(folder string) (Kept, error) {
	var k Kept
	err := eachKept(folder, func(_ string, info fs.FileInfo) error {
		k.Entries++
		k.Bytes += info.Size()
		if at := info.ModTime(); k.Oldest.IsZero() || at.Before(k.Oldest) {
			k.Oldest = at
		}
		if at := info.ModTime(); at.After(k.Newest) {
			k.Newest = at
		}
		return nil
	})
	return k, err
}

// ClearKept removes the replies in a folder, and the folder if nothing else is in it. It
// returns what it removed.
func ClearKept(folder string) (Kept, error) {
	k, err := LookKept(folder)
	if err != nil {
		return Kept{}, err
	}
	if err := eachKept(folder, func(path string, _ fs.FileInfo) error { return os.Remove(path) }); err != nil {
		return Kept{}, err
	}
	if rest, err := os.ReadDir(folder); err == nil && len(rest) == 0 {
		return k, os.Remove(folder)
	}
	return k, nil
}

func eachKept(folder string, use func(path string, info fs.FileInfo) error) error {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !keptName.MatchString(e.Name()) || !e.Type().IsRegular() {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // another run took it
		}
		if err != nil {
			return err
		}
		if err := use(filepath.Join(folder, e.Name()), info); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
