// Skilltrace reads the logs of coding-agent sessions and says what they told the
// model about skills, whether that is what the client's rules ask for, and what
// it cost.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// The exit statuses, the same for every command and format.
const (
	statusOK          = 0   // nothing found
	statusFindings    = 1   // a divergence, or agreement below a floor
	statusUnusable    = 2   // wrong use, or an input that cannot be used
	statusInternal    = 3   // a fault of this program
	statusInterrupted = 130 // by a signal, as shells report it
)

// interruptGrace is how long work may go on after a signal.
const interruptGrace = time.Second

var errInterrupted = errors.New("interrupted")

func main() {
	// A reader that went away makes writing fail with EPIPE, which ends the work
	// silently; the default would kill the process with a status of its own.
	signal.Ignore(syscall.SIGPIPE)
	os.Exit(Main(os.Args[1:], os.Stdout, os.Stderr, environment))
}

// environment is os.Getenv with the home directory of Windows, which has another name
// there.
func environment(name string) string {
	value := os.Getenv(name)
	if value == "" && name == "HOME" && runtime.GOOS == "windows" {
		return os.Getenv("USERPROFILE")
	}
	return value
}

// Main runs the command line and returns the exit status. Data goes to stdout
// and all else to stderr. A log given as "-" is read from standard input.
func Main(args []string, stdout, stderr io.Writer, getenv func(string) string) (status int) {
	a := &app{stdout: stdout, stderr: stderr, getenv: getenv}
	defer func() {
		if p := recover(); p != nil {
			a.fail(&internalError{p})
			status = statusInternal
		}
	}()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// Reading looks at the context; a prediction that is under way does not.
	giveUp := context.AfterFunc(ctx, func() {
		time.Sleep(interruptGrace)
		a.fail(errInterrupted)
		os.Exit(statusInterrupted)
	})
	defer giveUp()
	root := a.rootCommand()
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	err = blame(cmd, err)
	a.progress.clear()
	switch {
	case err == nil:
		return a.status
	case errors.Is(err, syscall.EPIPE):
		return a.status
	case errors.Is(err, context.Canceled):
		a.fail(errInterrupted)
		return statusInterrupted
	}
	a.fail(err)
	if internal := (*internalError)(nil); errors.As(err, &internal) {
		return statusInternal
	}
	return statusUnusable
}

// internalError is a fault of this program: what a panic said.
type internalError struct{ what any }

func (e *internalError) Error() string {
	return fmt.Sprintf("internal failure: %v; please report it with the command that you gave", e.what)
}

// fail writes an error, one line with the program's name.
func (a *app) fail(err error) {
	a.progress.clear()
	fmt.Fprintf(a.stderr, "skilltrace: %s\n", safe(err.Error()))
}

// note writes what a user may want to know and did not ask for.
func (a *app) note(format string, args ...any) {
	if a.quiet {
		return
	}
	a.progress.clear()
	fmt.Fprintf(a.stderr, "skilltrace: %s\n", safe(fmt.Sprintf(format, args...)))
}

// raise makes the exit status at least s.
func (a *app) raise(s int) { a.status = max(a.status, s) }

// safe escapes a message line by line: names of files and texts of logs in it
// are the work of strangers.
func safe(message string) string {
	lines := strings.Split(message, "\n")
	for i := range lines {
		lines[i] = escape(lines[i])
	}
	return strings.Join(lines, "\n")
}
