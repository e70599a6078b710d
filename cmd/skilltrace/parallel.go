package main

import (
	"context"
	"sync"
)

// parallel does work for 0 to n-1, at most jobs at the same time, and returns
// when all is done or the context ends. A panic in work becomes an error.
func parallel(ctx context.Context, jobs, n int, work func(i int)) error {
	var (
		wg     sync.WaitGroup
		mu     sync.Mutex
		failed error
	)
	next := make(chan int)
	do := func(i int) {
		defer func() {
			if p := recover(); p != nil {
				mu.Lock()
				defer mu.Unlock()
				if failed == nil {
					failed = &internalError{p}
				}
			}
		}()
		work(i)
	}
	for range min(jobs, n) {
		wg.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := 0; i < n && ctx.Err() == nil; i++ {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	wg.Wait()
	if failed != nil {
		return failed
	}
	return ctx.Err()
}
