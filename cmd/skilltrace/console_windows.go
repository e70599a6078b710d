package main

import (
	"io"
	"os"

	"golang.org/x/sys/windows"
)

// enableColors makes a console of Windows act on sequences for colours and the cursor, as it does not by
// itself before Windows 11. It reports false where the console cannot.
func enableColors(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	console := windows.Handle(f.Fd())
	var mode uint32
	if err := windows.GetConsoleMode(console, &mode); err != nil {
		return false
	}
	if mode&windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING != 0 {
		return true
	}
	return windows.SetConsoleMode(console, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
