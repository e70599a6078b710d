//go:build !unix

package replay_test

import "time"

// cpuTime is not told here.
func cpuTime() time.Duration { return 0 }
