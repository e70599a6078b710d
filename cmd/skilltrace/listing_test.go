package main

import "time"

func init() {
	now = func() time.Time { return time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC) }
}
