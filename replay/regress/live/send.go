package live

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
)

// How long is waited between tries: doubled from the first, up to the last; or what
// the server asks for, if that is not more than maxWait.
const (
	firstWait = time.Second
	lastWait  = 32 * time.Second
	maxWait   = 2 * time.Minute
)

// betaHeader names parts of the API that are not for all.
const betaHeader = "anthropic-beta"

// fault is why a try gave no reply.
type fault struct {
	text string
	// again: another try may do better. wait is what the server asks for, if asked.
	again bool
	asked bool
	wait  time.Duration
	// fatal: no other call will do better either.
	fatal bool
	// unreached: no server answered.
	unreached bool
}

// send asks for one sample, trying again where that can help. The sample has an Err,
// and there is a fault, if nothing came of it. Once ctx is done, the fault is that.
func (a *Asker) send(ctx context.Context, c *call) (Sample, *fault) {
	for try := 0; ; try++ {
		s, f := a.try(ctx, c)
		s.Tries = try + 1
		if f == nil {
			return s, nil
		}
		if ctx.Err() != nil {
			f = stopped()
		}
		wait := backoff(c.key, try)
		if f.asked {
			wait = f.wait
		}
		switch {
		case !f.again || try >= a.opt.Retries:
		case wait > maxWait:
			f.text += fmt.Sprintf("; the server asks to wait %s", wait.Round(time.Second))
		case a.opt.Sleep(ctx, wait) == nil && ctx.Err() == nil:
			continue
		default:
			f = stopped()
		}
		if try > 0 {
			f.text += fmt.Sprintf(" (%d tries)", try+1)
		}
		s.Err = f.text
		return s, f
	}
}

func stopped() *fault { return &fault{text: "stopped before there was a reply"} }

// backoff is the wait after a try without one that the server asks for. Calls that
// fail together do not come back together: each key takes off up to a quarter.
func backoff(key string, try int) time.Duration {
	d := lastWait
	if try < 5 {
		d = firstWait << try
	}
	spread, _ := strconv.ParseUint(key[:2], 16, 8)
	return d - d/4*time.Duration(spread)/256
}

// try asks once.
func (a *Asker) try(ctx context.Context, c *call) (Sample, *fault) {
	var raw []byte
	var res *http.Response
	options := []option.RequestOption{
		option.WithRequestBody("application/json", c.body),
		option.WithRequestTimeout(a.opt.Timeout),
		option.WithResponseBodyInto(&raw),
		option.WithResponseInto(&res),
	}
	// What the recorded client had switched on; the user's own header stands in its place.
	if len(c.betas) > 0 && a.opt.Access.Headers.Get(betaHeader) == "" {
		options = append(options, option.WithHeader(betaHeader, strings.Join(c.betas, ",")))
	}
	_, err := a.client.Messages.New(ctx, anthropic.MessageNewParams{}, options...)
	var refused *anthropic.Error
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &refused):
		return Sample{}, a.refusal(refused)
	case errors.As(err, &tooLong):
		return Sample{}, &fault{text: fmt.Sprintf("the reply is longer than %d bytes", maxReply)}
	case errors.Is(err, context.DeadlineExceeded):
		return Sample{}, &fault{text: fmt.Sprintf("no reply within %s", a.opt.Timeout), again: true}
	case err != nil:
		return Sample{}, &fault{text: a.transport(err), again: true, unreached: res == nil}
	case res != nil && res.StatusCode != http.StatusOK:
		return Sample{}, &fault{text: fmt.Sprintf("HTTP %d where a message was expected", res.StatusCode)}
	}
	s, err := readReply(raw)
	if err != nil {
		return Sample{}, &fault{text: "what the server sent " + err.Error()}
	}
	return s, nil
}

// refusal is the fault of a status of 400 and above.
func (a *Asker) refusal(e *anthropic.Error) *fault {
	f := &fault{text: fmt.Sprintf("HTTP %d", e.StatusCode)}
	if kind := string(e.Type()); kind != "" {
		f.text += " " + a.opt.Access.clean(kind)
	}
	message := e.Message
	if message == "" {
		message = http.StatusText(e.StatusCode)
	}
	if message = a.opt.Access.clean(message); message != "" {
		f.text += ": " + message
	}
	switch e.StatusCode {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		f.again = true
	case http.StatusUnauthorized, http.StatusPaymentRequired:
		f.fatal = true
	default:
		f.again = e.StatusCode >= http.StatusInternalServerError
	}
	if e.Response == nil {
		return f
	}
	switch h := e.Response.Header; h.Get("x-should-retry") {
	case "true":
		f.again = !f.fatal
	case "false":
		f.again = false
	}
	f.wait, f.asked = retryAfter(e.Response.Header)
	return f
}

// retryAfter is how long a server asks to wait: in milliseconds, in seconds, or until
// a time, which is taken from the server's own clock.
func retryAfter(h http.Header) (time.Duration, bool) {
	if n, ok := number(h.Get("retry-after-ms")); ok {
		return scaled(n, time.Millisecond), true
	}
	value := h.Get("retry-after")
	if n, ok := number(value); ok {
		return scaled(n, time.Second), true
	}
	until, err1 := http.ParseTime(value)
	now, err2 := http.ParseTime(h.Get("date"))
	if err1 != nil || err2 != nil {
		return 0, false
	}
	return max(until.Sub(now), 0), true
}

func number(s string) (float64, bool) {
	n, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	return n, err == nil && n >= 0
}

// scaled is n units, at most a day: more is never waited for.
func scaled(n float64, unit time.Duration) time.Duration {
	return time.Duration(min(n*float64(unit), float64(24*time.Hour)))
}

// transport is the message of an error below HTTP, without the address.
func (a *Asker) transport(err error) string {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	return "the connection failed: " + a.opt.Access.clean(err.Error())
}
