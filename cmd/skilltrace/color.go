package main

import "io"

// colors are the values of --color.
var colors = []string{"auto", "always", "never"}

// colored reports whether the output has colours, by the first of these that says it:
// --color always or never, with the command or in the user's file of defaults; NO_COLOR;
// FORCE_COLOR and CLICOLOR_FORCE, which do not reach files of --output; CLICOLOR=0 and
// TERM=dumb; whether the output is a terminal that shows them.
func (a *app) colored() bool {
	on, _ := a.colorBy(terminalColors)
	return on
}

// colorBy is what [app.colored] says, and the variable that decided, "" if none did.
func (a *app) colorBy(terminal func(io.Writer) bool) (on bool, variable string) {
	switch a.color {
	case "always":
		// On a console that does not take them the sequences would show as text.
		return !isTerminal(a.stdout) || a.output != "" || terminal(a.stdout), ""
	case "never":
		return false, ""
	}
	if a.getenv("NO_COLOR") != "" {
		return false, "NO_COLOR"
	}
	for _, name := range []string{"FORCE_COLOR", "CLICOLOR_FORCE"} {
		switch a.getenv(name) {
		case "":
		case "0", "false":
			if name == "FORCE_COLOR" {
				return false, name
			}
		default:
			return a.output == "", name
		}
	}
	switch {
	case a.output != "":
		return false, ""
	case a.getenv("CLICOLOR") == "0":
		return false, "CLICOLOR"
	case a.getenv("TERM") == "dumb":
		return false, "TERM"
	}
	return terminal(a.stdout), ""
}

// terminalColors reports whether w is a terminal that shows colours.
func terminalColors(w io.Writer) bool { return isTerminal(w) && enableColors(w) }
