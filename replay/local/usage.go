package local

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
)

// usageFile is the skillUsage of a .claude.json.
type usageFile struct {
	err    error
	counts map[string]replay.UsageCount
}

const usageName = ".claude.json"

// CheckUsage reads a file of usage counts that the user named; the error is
// `file:line: what`.
func CheckUsage(name string) error { return readUsage(name, false).err }

// readUsage reads a file of counts. Where it is flat, the skills are its outermost
// members, unless it has skillUsage.
func readUsage(name string, flat bool) *usageFile {
	u := &usageFile{counts: map[string]replay.UsageCount{}}
	d, err := readJSON(name)
	if err != nil {
		u.err = err
		return u
	}
	all := d.root.Get("skillUsage")
	if flat && all.Kind() != jsonl.ValueObject {
		all = d.root
	}
	for skill, v := range all.Members() {
		c := replay.UsageCount{Count: int(number(v.Get("usageCount"))), LastUsedMS: int64(number(v.Get("lastUsedAt")))}
		switch {
		case !flat || c.Count > 0:
		case v.Kind() == jsonl.ValueNumber:
			c.Count = int(number(v))
		default:
			c.Count = int(number(v.Get("count")))
		}
		if c.Count > 0 {
			u.counts[skill] = c
		}
	}
	return u
}

// number is a number as JavaScript reads it, 0 for anything else. Counts and times
// are whole; what is not is cut.
func number(v jsonl.Value) float64 {
	n, err := strconv.ParseFloat(v.Number(), 64)
	if err != nil || n < 0 || n > 1<<53 {
		return 0
	}
	return n
}

func (x *Finder) usageOf(name string, flat bool) *usageFile {
	x.mu.Lock()
	defer x.mu.Unlock()
	u := x.usages[name]
	if u == nil {
		u = readUsage(name, flat)
		x.usages[name] = u
	}
	return u
}

// usageFile is the client's own file of counts: beside the logs where
// CLAUDE_CONFIG_DIR names the configuration folder, else in the user's home. A
// folder that was named in another way may be either.
func (f *finding) usageFile() string {
	if own := f.r.Size.UsageFile; own != usageName {
		return filepath.Join(f.configDir, own)
	}
	beside, home := filepath.Join(f.configDir, usageName), filepath.Join(f.o.Home, usageName)
	switch {
	case f.place == copied || f.o.Home == "":
		return beside
	case f.o.Getenv("CLAUDE_CONFIG_DIR") == "" && isDefault(f.configDir, f.o.Home):
		if exists(home) || !exists(beside) {
			return home
		}
	case !exists(beside) && isDefault(f.configDir, f.o.Home):
		return home
	}
	return beside
}

// isDefault reports whether dir is where the client looks without being told.
func isDefault(dir, home string) bool {
	return dir == slashed(filepath.Join(home, ".claude")) || dir == slashed(filepath.Join(home, ".config", "claude"))
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// usage reads the counts. Those that the user gives are taken for the counts at
// the start of the session; the client's own have grown since, and what the session
// itself added is taken off.
func (f *finding) usage() {
	name := f.o.Usage
	if name == "" {
		if f.place == elsewhere {
			f.lacks("usage counts", "another machine's; --usage FILE gives them")
			return
		}
		name = f.usageFile()
	}
	file := f.usageOf(name, f.r.Size.UsageFile != usageName)
	switch {
	case errors.Is(file.err, fs.ErrNotExist):
		f.lacks("usage counts", name+" does not exist; --usage FILE gives them")
		return
	case file.err != nil:
		f.unusable("usage counts", file.err.Error())
		return
	}
	u := &replay.Usage{Counts: maps.Clone(file.counts)}
	replay.CountUses(u, f.s)
	f.Inputs.Usage = u
	if f.o.Usage != "" {
		f.use("usage counts", name, "as given, for the start of the session")
		return
	}
	since := f.takeBack(u)
	if since == 0 {
		f.use("usage counts", name, "no skill was used since, they are those of the session")
		return
	}
	f.use("usage counts", name, "as they are now")
	f.assume(fmt.Sprintf("usage counts are those of now, less those of the session: skills used since: %d", since))
}

// takeBack makes counts read now those of the session's start, as far as the log
// can tell: calls of the session are taken off. It returns how many skills others
// have used since, whose counts then are unknown.
func (f *finding) takeBack(u *replay.Usage) (since int) {
	if f.s.Start.IsZero() {
		return len(u.Counts)
	}
	start, end := f.s.Start.UnixMilli(), f.s.End.UnixMilli()
	ours := &replay.Usage{Counts: map[string]replay.UsageCount{}}
	replay.CountUses(ours, f.s)
	added := ours.At(f.s.End)
	for _, name := range slices.Sorted(maps.Keys(u.Counts)) {
		c := u.Counts[name]
		if c.LastUsedMS < start {
			continue
		}
		c.Count -= added[name].Count
		if c.Count > 0 {
			c.LastUsedMS = start // the latest that it can have been
			u.Counts[name] = c
		} else {
			delete(u.Counts, name)
		}
		if c.Count > 0 || c.LastUsedMS > end+clockSkew {
			since++
		}
	}
	return since
}

// clockSkew is how far, in milliseconds, the client's count of a use may stand
// behind the record of it.
const clockSkew = 5_000
