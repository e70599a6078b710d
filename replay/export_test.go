package replay

// CPUTime is for the benchmarks of the other test package.
var CPUTime = cpuTime
