package main

import (
	"bytes"
	"io"
	"testing"
)

func TestColor(t *testing.T) {
	type env = map[string]string
	for _, tt := range []struct {
		name     string
		color    string
		env      env
		terminal bool
		output   string
		want     bool
		variable string
	}{
		{"a terminal", "auto", nil, true, "", true, ""},
		{"no terminal", "auto", nil, false, "", false, ""},
		{"a file", "auto", nil, true, "x.txt", false, ""},
		{"always", "always", env{"NO_COLOR": "1", "TERM": "dumb"}, false, "", true, ""},
		{"always, to a file", "always", nil, false, "x.txt", true, ""},
		{"never", "never", env{"FORCE_COLOR": "1"}, true, "", false, ""},
		{"NO_COLOR", "auto", env{"NO_COLOR": "1"}, true, "", false, "NO_COLOR"},
		{"NO_COLOR of any value", "auto", env{"NO_COLOR": "0"}, true, "", false, "NO_COLOR"},
		{"NO_COLOR that is empty", "auto", env{"NO_COLOR": ""}, true, "", true, ""},
		{"NO_COLOR before FORCE_COLOR", "auto", env{"NO_COLOR": "1", "FORCE_COLOR": "1"}, true, "", false, "NO_COLOR"},
		{"FORCE_COLOR", "auto", env{"FORCE_COLOR": "1"}, false, "", true, "FORCE_COLOR"},
		{"FORCE_COLOR, dumb", "auto", env{"FORCE_COLOR": "3", "TERM": "dumb"}, true, "", true, "FORCE_COLOR"},
		{"FORCE_COLOR, to a file", "auto", env{"FORCE_COLOR": "1"}, true, "x.txt", false, "FORCE_COLOR"},
		{"FORCE_COLOR=0", "auto", env{"FORCE_COLOR": "0"}, true, "", false, "FORCE_COLOR"},
		{"CLICOLOR_FORCE", "auto", env{"CLICOLOR_FORCE": "1"}, false, "", true, "CLICOLOR_FORCE"},
		{"CLICOLOR_FORCE=0", "auto", env{"CLICOLOR_FORCE": "0"}, true, "", true, ""},
		{"CLICOLOR=0", "auto", env{"CLICOLOR": "0"}, true, "", false, "CLICOLOR"},
		{"CLICOLOR=1", "auto", env{"CLICOLOR": "1"}, false, "", false, ""},
		{"dumb", "auto", env{"TERM": "dumb"}, true, "", false, "TERM"},
	} {
		a := &app{color: tt.color, output: tt.output, stdout: &bytes.Buffer{}, getenv: func(key string) string { return tt.env[key] }}
		on, variable := a.colorBy(func(io.Writer) bool { return tt.terminal })
		if on != tt.want || variable != tt.variable {
			t.Errorf("%s: %v by %q, want %v by %q", tt.name, on, variable, tt.want, tt.variable)
		}
	}
}
