package local

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/skilltrace/skilltrace/skills"
)

// The git program is asked only what is in a repository's object database. None of
// these commands writes, looks at the working tree, or runs hooks, filters or text
// conversions. Its configuration is what says whose repositories are trusted, and
// is left to it; the environment and the repository are kept from choosing a
// program to run or a place to fetch from.

// maxGit bounds what is read of one answer of git, in bytes.
const maxGit = 64 << 20

// errGit says that there is no git program.
var errGit = errors.New("the git program is not in PATH")

// CheckGit says whether the history of a folder can be read here.
func CheckGit() error {
	if _, err := exec.LookPath("git"); err != nil {
		return errGit
	}
	return nil
}

// CheckRevision says what is wrong with a text that is to name a revision.
func CheckRevision(ref string) error {
	if ref == "" || strings.HasPrefix(ref, "-") || strings.ContainsFunc(ref, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return fmt.Errorf("%q is no revision; want now, session, or what git calls one, such as a tag or HEAD~3", ref)
	}
	return nil
}

// git asks about the repository in which a folder lies. The error is one line.
func git(dir, input string, args ...string) ([]byte, error) {
	cmd := exec.Command("git", append([]string{"-C", dir, "--no-pager", "--no-replace-objects", "--literal-pathspecs",
		"-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "protocol.allow=never"}, args...)...)
	if cmd.Err != nil {
		return nil, errGit
	}
	for _, v := range os.Environ() {
		if !strings.HasPrefix(strings.ToUpper(v), "GIT_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	// A partial clone would fetch what it lacks.
	cmd.Env = append(cmd.Env, "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	cmd.Stdin = strings.NewReader(input)
	said := &firstBytes{most: 4 << 10}
	cmd.Stderr = said
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("git cannot be run: %w", err)
	}
	data, readErr := io.ReadAll(io.LimitReader(out, maxGit+1))
	if len(data) > maxGit {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return nil, fmt.Errorf("%s: git answers more than %d MiB", dir, maxGit>>20)
	}
	if err := cmd.Wait(); err != nil || readErr != nil {
		what, _, _ := strings.Cut(strings.TrimSpace(string(said.data)), "\n")
		if what = strings.TrimPrefix(what, "fatal: "); what == "" {
			what = errors.Join(err, readErr).Error()
		}
		return nil, fmt.Errorf("git: %s", what)
	}
	return data, nil
}

// firstBytes keeps the beginning of what is written.
type firstBytes struct {
	data []byte
	most int
}

func (b *firstBytes) Write(p []byte) (int, error) {
	b.data = append(b.data, p[:min(len(p), b.most-len(b.data))]...)
	return len(p), nil
}

// revision is a commit of a repository.
type revision struct {
	top  string // the work tree, links resolved
	hash string
	time time.Time // of the commit
}

// name is how reports name it: its hash, shortened, and its date in UTC.
func (r *revision) name() string {
	return r.hash[:7] + " of " + r.time.UTC().Format("2006-01-02")
}

// workTree is the work tree in which a folder lies, and the folder's path in it.
func workTree(dir string) (top, prefix string, err error) {
	out, err := git(dir, "", "rev-parse", "--show-toplevel")
	if err != nil {
		return "", "", err
	}
	top = strings.TrimSuffix(string(out), "\n")
	if out, err = git(dir, "", "rev-parse", "--show-prefix"); err != nil {
		return "", "", err
	}
	return top, strings.TrimSuffix(strings.TrimSuffix(string(out), "\n"), "/"), nil
}

// revisionOf is the commit that a text names in a repository.
func revisionOf(top, ref string) (*revision, error) {
	if err := CheckRevision(ref); err != nil {
		return nil, err
	}
	out, err := git(top, "", "rev-parse", "--verify", "--end-of-options", ref+"^{commit}")
	if err != nil {
		if errors.Is(err, errGit) {
			return nil, err
		}
		return nil, fmt.Errorf("%s: no revision %q there; git log --all shows what there is", top, ref)
	}
	return newRevision(top, string(out))
}

// revisionBefore is the last commit on the main line that is not younger than a
// moment. By commit date: when it was written says nothing of when it came here.
func revisionBefore(top string, at time.Time) (*revision, error) {
	if at.IsZero() {
		return nil, errors.New("the log does not tell when the session began")
	}
	out, err := git(top, "", "rev-list", "-1", "--first-parent", fmt.Sprintf("--before=@%d +0000", at.Unix()), "HEAD")
	if err != nil {
		return nil, fmt.Errorf("%s: its history cannot be read: %w", top, err)
	}
	if len(bytes.TrimSpace(out)) == 0 {
		why := "its history begins after that"
		if shallow, err := git(top, "", "rev-parse", "--is-shallow-repository"); err == nil && strings.TrimSpace(string(shallow)) == "true" {
			why = "its history is shallow; git fetch --unshallow brings the rest"
		}
		return nil, fmt.Errorf("%s: no commit from before %s: %s", top, at.UTC().Format(time.RFC3339), why)
	}
	return newRevision(top, string(out))
}

func newRevision(top, hash string) (*revision, error) {
	r := &revision{top: top, hash: strings.TrimSpace(hash)}
	if len(r.hash) < 40 || strings.Trim(r.hash, "0123456789abcdef") != "" {
		return nil, fmt.Errorf("%s: git names no commit", top)
	}
	blobs, err := readObjects(top, []string{r.hash})
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(blobs[r.hash])) {
		if line == "\n" {
			break
		}
		if who, ok := strings.CutPrefix(line, "committer "); ok {
			if words := strings.Fields(who); len(words) > 1 {
				seconds, _ := strconv.ParseInt(words[len(words)-2], 10, 64)
				r.time = time.Unix(seconds, 0)
			}
		}
	}
	return r, nil
}

// readObjects reads objects by their hashes. Those that the repository lacks are
// left out.
func readObjects(top string, hashes []string) (map[string][]byte, error) {
	out := map[string][]byte{}
	if len(hashes) == 0 {
		return out, nil
	}
	data, err := git(top, strings.Join(hashes, "\n")+"\n", "cat-file", "--batch")
	if err != nil {
		return nil, err
	}
	if out, err = parseObjects(data); err != nil {
		return nil, fmt.Errorf("%s: %w", top, err)
	}
	return out, nil
}

// parseObjects reads what git cat-file --batch writes.
func parseObjects(data []byte) (map[string][]byte, error) {
	out := map[string][]byte{}
	in := bufio.NewReader(bytes.NewReader(data))
	for {
		head, err := in.ReadString('\n')
		if err != nil {
			return out, nil
		}
		words := strings.Fields(head)
		if len(words) != 3 {
			continue // "HASH missing"
		}
		size, err := strconv.ParseInt(words[2], 10, 64)
		if err != nil || size < 0 || size > int64(len(data)) {
			return nil, fmt.Errorf("git answers %q", strings.TrimSpace(head))
		}
		text := make([]byte, size)
		if _, err := io.ReadFull(in, text); err != nil {
			return nil, errors.New("git breaks off in an object")
		}
		_, _ = in.Discard(1) // a newline
		out[words[0]] = text
	}
}

// object is an entry of a tree in the database.
type object struct {
	kind kind
	hash string
	size int64
}

type kind int

const (
	isFile kind = iota
	isFolder
	isLink
	isOther // the place of another repository
)

// listTree lists what lies at a path of a commit: the entry itself, or, of a folder
// with a slash behind its path, all below it. A folder of skills that holds more
// than the disk is read for is refused.
func listTree(r *revision, at string, all bool) (map[string]object, error) {
	args := []string{"ls-tree", "-z", "-l", "--full-tree"}
	if all {
		args = append(args, "-r", "-t")
	}
	args = append(args, "--", r.hash)
	if at != "" && at != "/" {
		args = append(args, at)
	}
	out, err := git(r.top, "", args...)
	if err != nil {
		return nil, err
	}
	entries, err := parseTree(string(out))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path.Join(r.top, at), err)
	}
	return entries, nil
}

// parseTree reads what git ls-tree -z -l writes: the entries by their paths.
func parseTree(out string) (map[string]object, error) {
	entries := map[string]object{}
	for record := range strings.SplitSeq(out, "\x00") {
		head, name, ok := strings.Cut(record, "\t")
		words := strings.Fields(head)
		if !ok || len(words) != 4 {
			continue
		}
		if len(entries) >= skills.DefaultMaxFolder {
			return nil, fmt.Errorf("more than %d files: %w", skills.DefaultMaxFolder, skills.ErrTooLarge)
		}
		o := object{kind: isFile, hash: words[2]}
		switch words[0] {
		case "040000":
			o.kind = isFolder
		case "120000":
			o.kind = isLink
		case "160000":
			o.kind = isOther
		}
		o.size, _ = strconv.ParseInt(words[3], 10, 64)
		entries[name] = o
	}
	return entries, nil
}
