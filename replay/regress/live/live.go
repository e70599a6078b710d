// Package live asks a real model what it would do at a decision point, several times,
// through the Messages API, and counts which skills it calls. One request is one
// sample: the reply's tool calls are read and no tool is ever run. What comes of it is
// a rate with its interval; what could not be asked is errored, never a miss.
//
// It is the one package of the program that reaches the network. It does so only with
// [Asker.Ask], to the address in [Access].
package live

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/anthropics/anthropic-sdk-go/v2"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/replay/regress/request"
)

// Question is a request to ask, and what is hoped for.
type Question struct {
	// ID names the question in results; it is not sent.
	ID      string
	Request request.Request
	Expect  Expect
}

// Expect is what a reply is to do.
type Expect struct {
	// Any are names of skills, one of which is to be called, as the catalogue writes
	// them. Empty: no skill is to be called at all.
	Any []string
}

// What holds where Options leaves a value at 0.
const (
	DefaultSamples = 10
	// DefaultMaxTokens is room for some sentences and several tool calls. Nothing
	// behind the first tool calls is wanted, and what clients ask for, 32,000 and more,
	// would make any bound of the cost useless.
	DefaultMaxTokens = 4096
	DefaultJobs      = 4
	DefaultRetries   = 5
	DefaultTimeout   = 5 * time.Minute
)

// Options say how to ask.
type Options struct {
	Access Access
	// Samples is how often each question is asked.
	Samples int
	// MaxTokens is the room for each reply, in tokens. 0: what the request says, up to
	// DefaultMaxTokens. A reply that is cut off before its tool calls
	// is errored, not a miss.
	MaxTokens int64
	// Cache is a folder for replies, made if it is not there; "" for none. Its files
	// hold the replies' tool names, skills and usage, and nothing of [Access].
	Cache string
	// Jobs is how many calls run at the same time.
	Jobs int
	// Retries is how often a call is tried again; negative for never.
	Retries int
	// Timeout bounds one try.
	Timeout time.Duration
	// Prices and At, the day of the prices, say what a call costs.
	Prices budget.Book
	At     time.Time
	// MaxCost stops the run once what was spent reaches it; no new call is begun then,
	// and at most Jobs-1 are under way. nil for no limit. [Plan.Within] holds the plan
	// to the same limit before the first call.
	MaxCost *budget.Amount
	// Progress, if set, is told of each call that ended, one at a time: done of total
	// calls that were not cached.
	Progress func(done, total int)
	// Sleep waits before a try; nil for a timer. It returns early, with an error, once
	// ctx is done.
	Sleep func(ctx context.Context, d time.Duration) error
}

// Asker asks questions. It is safe for concurrent use.
type Asker struct {
	opt       Options
	cache     cache
	client    anthropic.Client
	estimator budget.Estimator
}

// New checks the options. It reaches no network and needs no key yet: a plan and what
// is cached need none.
func New(o Options) (*Asker, error) {
	if o.Samples == 0 {
		o.Samples = DefaultSamples
	}
	if o.Samples < 0 {
		return nil, fmt.Errorf("%d samples: want 1 or more", o.Samples)
	}
	if o.MaxTokens < 0 {
		return nil, fmt.Errorf("%d tokens for a reply: want 1 or more", o.MaxTokens)
	}
	if o.Jobs <= 0 {
		o.Jobs = DefaultJobs
	}
	switch {
	case o.Retries == 0:
		o.Retries = DefaultRetries
	case o.Retries < 0:
		o.Retries = 0
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	if err := o.Access.check(); err != nil {
		return nil, err
	}
	a := &Asker{opt: o}
	if o.Cache != "" {
		c, err := openCache(o.Cache)
		if err != nil {
			return nil, err
		}
		a.cache = c
	}
	a.client = o.Access.client(newHTTP(o.Jobs))
	return a, nil
}

// newHTTP is the client that requests go through: as the environment's proxies have it,
// and without following a redirect, which would hand the key to another host.
func newHTTP(jobs int) *http.Client {
	t := http.DefaultTransport
	if d, ok := t.(*http.Transport); ok {
		d = d.Clone()
		d.MaxIdleConnsPerHost = jobs
		t = d
	}
	return &http.Client{
		Transport:     bounded{t},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// maxReply bounds what is read of one reply, in bytes: far more than the longest.
const maxReply = 16 << 20

// bounded cuts replies off at maxReply.
type bounded struct{ http.RoundTripper }

func (b bounded) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := b.RoundTripper.RoundTrip(req)
	if res != nil && res.Body != nil {
		res.Body = http.MaxBytesReader(nil, res.Body, maxReply)
	}
	return res, err
}

func sleep(ctx context.Context, d time.Duration) error {
	wait, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	<-wait.Done()
	return ctx.Err()
}
