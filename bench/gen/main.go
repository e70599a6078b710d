// Command gen writes a session log for benchmarks.
//
//	gen DIR SIZE          a session of about SIZE bytes, with its subagents, into DIR
//	gen DIR SHAPE [N]     a log of a hostile shape, of size N, into DIR
//	gen DIR bills         logs that put questions to programs which count tokens, each
//	                      question in a configuration folder of its own, into DIR
//	gen                   the names of the shapes
//
// It prints the path of the main log; of each question its folder, what it asks, and
// why programs are known to answer it differently.
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/skilltrace/skilltrace/bench/synth"
)

func main() {
	if len(os.Args) < 3 {
		for _, s := range synth.Shapes {
			fmt.Printf("%s\t%d\n", s.Name, s.Big)
		}
		return
	}
	if os.Args[2] == "bills" {
		if err := bills(os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, "gen:", err)
			os.Exit(1)
		}
		return
	}
	path, err := write(os.Args[1], os.Args[2], os.Args[3:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
	fmt.Println(path)
}

// in makes files below a folder.
func in(dir string) func(name string) (io.WriteCloser, error) {
	return func(name string) (io.WriteCloser, error) {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return nil, err
		}
		return os.Create(file)
	}
}

func bills(dir string) error {
	for _, b := range synth.Bills {
		folder := filepath.Join(dir, strings.ReplaceAll(b.Name, " ", "-"))
		if err := synth.WriteBill(b, in(folder)); err != nil {
			return err
		}
		fmt.Printf("%s\t%s\t%s\n", folder, b.Asks, b.Reason)
	}
	return nil
}

func write(dir, what string, rest []string) (path string, err error) {
	if size, err := strconv.ParseInt(what, 10, 64); err == nil {
		main := filepath.Join(dir, synth.ID+".jsonl")
		return main, synth.Session(size, in(dir))
	}
	for _, s := range synth.Shapes {
		if s.Name != what {
			continue
		}
		n := s.Big
		if len(rest) > 0 {
			if n, err = strconv.Atoi(rest[0]); err != nil {
				return "", err
			}
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return "", err
		}
		path = filepath.Join(dir, strings.ReplaceAll(s.Name, " ", "-")+".jsonl")
		f, err := os.Create(path)
		if err != nil {
			return "", err
		}
		if err := s.Write(f, n); err != nil {
			f.Close()
			return "", err
		}
		return path, f.Close()
	}
	return "", fmt.Errorf("no shape is called %q; without arguments gen lists them", what)
}
