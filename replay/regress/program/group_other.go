//go:build !unix

package program

import "os/exec"

// group does nothing here: only the program itself is killed.
func group(*exec.Cmd) {}

func end(*exec.Cmd) {}
