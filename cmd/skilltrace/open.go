package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/skilltrace/skilltrace/report"
)

// openFlag adds the option of commands that write pages.
func (a *app) openFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.open, "open", false, "write a page and open it in the browser; without --output, a file of the folder for temporary files")
}

// prepareOpen makes --open ask for a page.
func (a *app) prepareOpen(cmd *cobra.Command) error {
	if !a.open {
		return nil
	}
	if f := cmd.Flags().Lookup("format"); !f.Changed {
		if other := formatOf(a.output, string(report.FormatHTML)); other != string(report.FormatHTML) {
			return fmt.Errorf("--open opens a page: --output %s asks for %s, name a file that ends in .html; see %s --help", a.output, other, cmd.CommandPath())
		}
		a.format = string(report.FormatHTML)
	}
	if a.format != string(report.FormatHTML) {
		return fmt.Errorf("--open opens a page: leave --format %s out, or give --format html; see %s --help", a.format, cmd.CommandPath())
	}
	return nil
}

// show writes a document; with --open into a file, which is opened.
func (a *app) show(doc report.Document, name string) error {
	if !a.open {
		return a.write(doc)
	}
	if a.output != "" {
		if err := a.write(doc); err != nil {
			return err
		}
		return a.openFile(a.output)
	}
	a.progress.clear()
	var b bytes.Buffer
	if err := report.Write(&b, doc, report.Format(a.format), a.style()); err != nil {
		return err
	}
	// What a session said is for nobody else on this machine: a new file is its owner's.
	f, err := os.CreateTemp("", "skilltrace-"+name+"-*.html")
	if err != nil {
		return fmt.Errorf("--open: %w; --output FILE names a file", err)
	}
	_, err = f.Write(b.Bytes())
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("--open: %w", err)
	}
	a.note("the page is %s", f.Name())
	return a.openFile(f.Name())
}

// openWait is how long is waited for the program that opens pages: it hands the file over,
// or is the browser where the system has no other.
const openWait = 2 * time.Second

// openFile gives a file to the program that opens pages on this system. It is not waited
// for longer than it takes to hand the file over.
func (a *app) openFile(path string) error {
	full, err := filepath.Abs(path)
	if err != nil {
		return fmt.Errorf("--open %s: %w", path, err)
	}
	name, args := opener(runtime.GOOS, full)
	cmd := exec.Command(name, args...)
	if err = cmd.Start(); err == nil {
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		select {
		case err = <-ended:
		case <-time.After(openWait): // it is the browser itself, and goes on
		}
	}
	if err != nil {
		return fmt.Errorf("--open: %s: %w; open %s yourself", name, err, full)
	}
	return nil
}

// opener is the command by which a system opens a file.
func opener(system, path string) (string, []string) {
	switch system {
	case "darwin":
		return "open", []string{path}
	case "windows":
		return "rundll32", []string{"url.dll,FileProtocolHandler", path}
	}
	return "xdg-open", []string{path}
}
