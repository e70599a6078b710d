package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// fakeClock sets the clock of progress, which add moves on.
func fakeClock(t *testing.T) (add func(d time.Duration)) {
	t.Helper()
	now, real := time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC), clock
	clock = func() time.Time { return now }
	t.Cleanup(func() { clock = real })
	return func(d time.Duration) { now = now.Add(d) }
}

func TestProgressOnTerminal(t *testing.T) {
	add := fakeClock(t)
	var b bytes.Buffer
	p := &progress{w: &b, terminal: true, width: 60, start: clock(), begun: clock()}
	p.expect(100e6)
	wrote := func(want string) {
		t.Helper()
		if got := strings.ReplaceAll(b.String(), "\r\x1b[K", "|"); got != want {
			t.Errorf("wrote %q, want %q", got, want)
		}
		b.Reset()
	}
	p.read(10e6)
	add(900 * time.Millisecond)
	p.update("sessions", 1, 4)
	wrote("") // it may be done in a moment
	add(200 * time.Millisecond)
	p.read(10e6)
	wrote("|[####................] sessions 1/4 · 20.0 of 100.0 MB")
	add(50 * time.Millisecond)
	p.read(5e6)
	wrote("") // a moment ago
	add(2850 * time.Millisecond)
	p.update("sessions", 2, 4)
	wrote("|[#####...............] sessions 2/4 · 25.0 of 100.0 MB · 1…")
	p.width = 100
	add(time.Second)
	p.update("sessions", 3, 4)
	wrote("|[#####...............] sessions 3/4 · 25.0 of 100.0 MB · 15 s left")
	add(time.Second)
	p.read(80e6) // the log grew meanwhile
	wrote("|[####################] sessions 3/4 · 100.0 of 100.0 MB")
	add(time.Second)
	p.update("recordings", 0, 4) // other work, of which the bytes are not known
	wrote("|[....................] recordings 0/4")
	add(3 * time.Second)
	p.update("recordings", 3, 4)
	wrote("|[###############.....] recordings 3/4 · 1 s left")
	p.clear()
	p.clear()
	wrote("|")
}

func TestProgressElsewhere(t *testing.T) {
	add := fakeClock(t)
	var b bytes.Buffer
	p := &progress{w: &b, start: clock(), begun: clock()}
	for i := range 25 {
		add(time.Second)
		p.update("sessions", i+1, 100)
	}
	if want := "sessions 1/100\nsessions 11/100 · 1 min 29 s left\nsessions 21/100 · 1 min 19 s left\n"; b.String() != want {
		t.Errorf("wrote %q, want %q", b.String(), want)
	}
	p.clear()
	for _, quiet := range []*progress{nil, newProgress(&b, true, true), newProgress(&b, false, false)} {
		if quiet != nil {
			t.Error("it is not silent")
		}
		quiet.expect(1)
		quiet.read(1)
		quiet.update("sessions", 1, 1)
		quiet.clear()
	}
}

func TestRemaining(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "1 s left", 59400 * time.Millisecond: "59 s left", time.Minute: "1 min 00 s left", 61 * time.Minute: "1 h 01 min left"} {
		if got := remaining(d); got != want {
			t.Errorf("%s: %s, want %s", d, got, want)
		}
	}
}
