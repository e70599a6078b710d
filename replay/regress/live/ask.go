package live

import (
	"context"
	"fmt"
	"sync"

	"github.com/skilltrace/skilltrace/budget"
)

// Run is what came of asking.
type Run struct {
	// Results, one for each question, in their order.
	Results []Result
	// Asked are the calls that ended in this run, Cached the replies that were there
	// before, Errored the calls without a reply, of which NotAsked were never begun.
	Asked, Cached, Errored, NotAsked int
	// Spent is the cost of the replies of this run, by their recorded usage. Those of
	// models without a price are not in it.
	Spent budget.Amount
	// Stopped says why the run ended early; "" if it did not.
	Stopped string
	// Unsaved is the first reason why a reply could not be kept in the cache; nil if
	// all are.
	Unsaved error
}

// giveUp is after how many calls, to no answer at all from anywhere, a run ends.
const giveUp = 5

// Ask asks each question as often as the options say, and counts. Replies that are in
// the cache are not asked for again, and questions that are alike share their replies.
// What is asked for when ctx ends, or the run stops for another reason, is errored;
// replies that came are kept in the cache. The error is ErrNoKey, or that of ctx, with
// what there is of a run.
func (a *Asker) Ask(ctx context.Context, questions []Question) (*Run, error) {
	w := a.prepare(questions)
	if w.plan.Calls > 0 && !a.opt.Access.hasKey() {
		return nil, ErrNoKey
	}
	s := session{asker: a, calls: w.calls, samples: make([]Sample, len(w.calls)), total: w.plan.Calls}
	s.ask(ctx)
	run := &s.run
	run.Cached = w.plan.Cached
	run.Results = make([]Result, len(questions))
	charged := make([]bool, len(w.calls))
	for i := range questions {
		r := &run.Results[i]
		r.ID = questions[i].ID
		for _, at := range w.of[i] {
			r.Samples = append(r.Samples, s.samples[at])
			if c := &w.calls[at]; !charged[at] && c.cached == nil && c.priced {
				r.Cost = r.Cost.Add(c.price.Cost(s.samples[at].Usage))
				charged[at] = true
			}
		}
		if why := w.faults[i]; why != "" {
			for range a.opt.Samples {
				r.Samples = append(r.Samples, Sample{Err: why})
			}
		}
		r.count(questions[i].Expect)
	}
	return run, ctx.Err()
}

// session is a run under way.
type session struct {
	asker   *Asker
	calls   []call
	samples []Sample // of the calls, each written by whoever asks for it
	total   int

	mu    sync.Mutex
	next  int // the call to look at next
	ended int
	// reached: some server answered. unreached are the calls that none did.
	reached   bool
	unreached int
	run       Run
}

// ask makes the calls, in order, up to Jobs at a time.
func (s *session) ask(ctx context.Context) {
	var wg sync.WaitGroup
	for range min(s.asker.opt.Jobs, len(s.calls)) {
		wg.Go(func() {
			for {
				i, ok := s.take(ctx)
				if !ok {
					return
				}
				sample, f := s.asker.send(ctx, &s.calls[i])
				s.end(ctx, i, sample, f)
			}
		})
	}
	wg.Wait()
}

// take gives out the next call to make. What is cached, and what the run ends before,
// is settled on the way.
func (s *session) take(ctx context.Context) (int, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.run.Stopped == "" && ctx.Err() != nil {
		s.run.Stopped = "interrupted"
	}
	if limit := s.asker.opt.MaxCost; s.run.Stopped == "" && limit != nil && s.run.Spent.Compare(*limit) >= 0 && s.ended < s.total {
		s.run.Stopped = fmt.Sprintf("the limit of $%s is reached: $%s spent", limit, s.run.Spent)
	}
	for ; s.next < len(s.calls); s.next++ {
		switch c := &s.calls[s.next]; {
		case c.cached != nil:
			s.samples[s.next] = *c.cached
		case s.run.Stopped != "":
			s.samples[s.next] = Sample{Err: "not asked: " + s.run.Stopped}
			s.run.Errored++
			s.run.NotAsked++
		default:
			s.next++
			return s.next - 1, true
		}
	}
	return 0, false
}

// end takes in what came of a call.
func (s *session) end(ctx context.Context, i int, sample Sample, f *fault) {
	var unsaved error
	if f == nil {
		unsaved = s.asker.cache.save(s.calls[i].key, &sample)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.samples[i] = sample
	s.run.Asked++
	s.ended++
	switch {
	case f == nil:
		s.reached = true
		if c := &s.calls[i]; c.priced {
			s.run.Spent = s.run.Spent.Add(c.price.Cost(sample.Usage))
		}
		if s.run.Unsaved == nil {
			s.run.Unsaved = unsaved
		}
	case f.unreached && ctx.Err() == nil:
		s.unreached++
		s.run.Errored++
	default:
		s.reached = s.reached || ctx.Err() == nil
		s.run.Errored++
	}
	if s.run.Stopped == "" {
		switch {
		case f != nil && f.fatal:
			s.run.Stopped = f.text
		case !s.reached && s.unreached >= giveUp:
			s.run.Stopped = fmt.Sprintf("no server answered %d calls", s.unreached)
		}
	}
	if s.asker.opt.Progress != nil {
		s.asker.opt.Progress(s.ended, s.total)
	}
}
