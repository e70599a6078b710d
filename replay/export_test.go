package replay

// CPUTime is for the benchmarks of the other test package.
var CPUTime = cpuTime

// UnknownCommand is for the tests of the other test package.
var UnknownCommand = unknownCommand
