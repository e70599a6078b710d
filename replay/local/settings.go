package local

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
)

// settingsFile is what a settings file says of skills. Members of another type
// than the client's are passed over one by one.
type settingsFile struct {
	err    error    // the file cannot be used
	faults []string // members that cannot

	deny         []string
	fraction     float64 // 0: not set
	maxDesc      int     // 0: not set
	overrides    map[string]string
	disableShell *bool
	charBudget   *string // of its env
}

// The members that matter.
const (
	keyFraction = "skillListingBudgetFraction"
	keyMaxDesc  = "skillListingMaxDescChars"
	keyOverride = "skillOverrides"
	keyNoShell  = "disableSkillShellExecution"
)

// CheckSettings reads a settings file that the user named; the error is
// `file:line: what`.
func CheckSettings(name string) error { return readSettings(name).err }

func readSettings(name string) *settingsFile {
	s := &settingsFile{}
	d, err := readJSON(name)
	if err != nil {
		s.err = err
		return s
	}
	check := func(v jsonl.Value, kind jsonl.ValueKind, key, want string) bool {
		ok := v.Kind() == kind
		if !ok && v.Kind() != jsonl.ValueAbsent {
			s.faults = append(s.faults, d.fault(key, want))
		}
		return ok
	}
	if v := d.root.Get("permissions"); check(v, jsonl.ValueObject, "permissions", "an object") {
		if deny := v.Get("deny"); check(deny, jsonl.ValueArray, "deny", "a list of texts") {
			for item := range deny.Items() {
				if check(item, jsonl.ValueString, "deny", "a list of texts") {
					s.deny = append(s.deny, item.Text())
				}
			}
		}
	}
	if v := d.root.Get(keyFraction); check(v, jsonl.ValueNumber, keyFraction, "a number") {
		s.fraction, _ = strconv.ParseFloat(v.Number(), 64)
	}
	if v := d.root.Get(keyMaxDesc); check(v, jsonl.ValueNumber, keyMaxDesc, "a whole number") {
		n, ok := v.Int()
		if !ok {
			s.faults = append(s.faults, d.fault(keyMaxDesc, "a whole number"))
		}
		s.maxDesc = int(n)
	}
	if v := d.root.Get(keyOverride); check(v, jsonl.ValueObject, keyOverride, "an object of texts") {
		s.overrides = map[string]string{}
		for name, o := range v.Members() {
			if check(o, jsonl.ValueString, keyOverride, "an object of texts") {
				s.overrides[name] = o.Text()
			}
		}
	}
	if v := d.root.Get(keyNoShell); check(v, jsonl.ValueBool, keyNoShell, "true or false") {
		s.disableShell = new(v.Bool())
	}
	if v := d.root.Get("env"); check(v, jsonl.ValueObject, "env", "an object of texts") {
		if n := v.Get(budget.EnvCharBudget); check(n, jsonl.ValueString, budget.EnvCharBudget, "a text") {
			s.charBudget = new(n.Text())
		}
	}
	return s
}

// apply lays the file over what other files set.
func (s *settingsFile) apply(to *replay.Settings, env map[string]string) {
	to.Deny = append(to.Deny, s.deny...)
	if s.fraction != 0 {
		to.Fraction = s.fraction
	}
	if s.maxDesc != 0 {
		to.MaxDesc = s.maxDesc
	}
	if s.disableShell != nil {
		to.DisableShell = *s.disableShell
	}
	for name, o := range s.overrides {
		if to.Overrides == nil {
			to.Overrides = map[string]string{}
		}
		to.Overrides[name] = o
	}
	if s.charBudget != nil {
		env[budget.EnvCharBudget] = *s.charBudget
	}
}

// settingsOf reads a file once for all sessions.
func (x *Finder) settingsOf(name string) *settingsFile {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := x.settings[name]
	if s == nil {
		s = readSettings(name)
		x.settings[name] = s
	}
	return s
}

// readSettings merges the settings files, later ones over earlier ones: user,
// project, project local, the one given, managed.
func (f *finding) readSettings() {
	var names []string
	add := func(parts ...string) {
		if name := filepath.Join(parts...); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if f.configDir != "" {
		add(f.configDir, "settings.json")
	}
	if f.place == own && here(f.s.CWD) {
		add(f.s.CWD, ".claude", "settings.json")
		add(f.s.CWD, ".claude", "settings.local.json")
	}
	if f.o.Settings != "" {
		add(f.o.Settings)
	}
	if dir := f.managed(); dir != "" {
		add(dir, "managed-settings.json")
	}
	var read, bad []string
	for _, name := range names {
		s := f.settingsOf(name)
		switch {
		case errors.Is(s.err, fs.ErrNotExist):
			continue
		case s.err != nil:
			bad = append(bad, s.err.Error()+"; passed over")
			continue
		}
		bad = append(bad, s.faults...)
		read = append(read, name)
		s.apply(&f.p.Settings, f.p.Env)
	}
	switch {
	case len(read) > 0:
		f.use("settings", strings.Join(read, ", "), "as they are now")
	case f.place != elsewhere:
		f.use("settings", "none", "")
	default:
		f.lacks("settings", "another machine's; --settings FILE gives them")
	}
	for _, what := range bad {
		f.unusable("settings", what)
	}
}

// managed is the administrator's folder, "" where it says nothing of the session.
func (f *finding) managed() string {
	switch {
	case f.o.Managed != "":
		if abs, err := filepath.Abs(f.o.Managed); err == nil {
			return slashed(abs)
		}
		return slashed(f.o.Managed)
	case f.place == own:
		return slashed(SystemManagedDir())
	}
	return ""
}
