package main

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// clock is what progress goes by. Tests stop it: their output must not depend on how
// fast the machine is.
var clock = time.Now

// progress says on stderr how far the work is, once it takes more than a second:
// on a terminal on one line that is written over, and in a verbose run elsewhere
// every ten seconds. A nil progress is silent.
type progress struct {
	w        io.Writer
	terminal bool

	mu    sync.Mutex
	start time.Time
	last  time.Time
	shown bool
}

func newProgress(w io.Writer, quiet, verbose bool) *progress {
	terminal := isTerminal(w)
	if quiet || !terminal && !verbose {
		return nil
	}
	return &progress{w: w, terminal: terminal, start: clock()}
}

// update reports that done of total are done.
func (p *progress) update(what string, done, total int) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := clock()
	pause := 100 * time.Millisecond
	if !p.terminal {
		pause = 10 * time.Second
	}
	if now.Sub(p.start) < time.Second || now.Sub(p.last) < pause {
		return
	}
	p.last = now
	if p.terminal {
		p.shown = true
		fmt.Fprintf(p.w, "\r\x1b[K%s %d/%d", what, done, total)
		return
	}
	fmt.Fprintf(p.w, "%s %d/%d\n", what, done, total)
}

// clear removes the line, so that something else can be written.
func (p *progress) clear() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}
