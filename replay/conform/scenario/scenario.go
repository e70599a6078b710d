// Package scenario reads recordings of the real client: what the user, the
// script and the file system put in, and which logs came out.
//
// A recording is a folder FAMILY/SCENARIO/VERSION with a case.yaml, next to the
// scenario's files/, the input tree that all its versions share. The families
// differ in the shape of case.yaml; a [Case] is the same for all. Nothing here
// knows a rule of any client.
package scenario

// Case is one recording. All paths in it, but Dir and those of logs, are as the
// client saw them.
type Case struct {
	Family, Scenario, Version string // the names of its folders
	Code                      string // the scenario's code, e.g. L02_overflow
	Dir                       string // the folder of the recording
	Home, Project             string
	Notes                     string
	Settings                  Settings // of the user
	// SkillUsage is the client's usage counts at the start of run 0; AtEnd those
	// after the last one, where recorded (interactive), else nil.
	SkillUsage, AtEnd map[string]Usage
	Model             string // as given; empty where only runs have one
	Window            int64  // tokens; 0 if not recorded
	InputKey          string // the name of the Skill tool's argument: skill, or command
	Runs              []Run
	// Readdir is the directory order of folders as read after the last run (in
	// fuzz, before the first): it lists what was added in between and lacks what
	// was removed.
	Readdir map[string][]string
	// Git are the folders that were repository roots; their .git is not in files/.
	Git []string
	// Managed: files/managed stood at [ManagedDir].
	Managed bool

	screen bool // the terminal screen: runs by their steps
	logs   []SessionLog
	spare  []string
	noLogs []int
}

// ManagedDir is where an administrator's files stand on Linux.
const ManagedDir = "/etc/claude-code"

// Usage is the count of one skill's invocations.
type Usage struct {
	Count      int   `yaml:"usageCount"`
	LastUsedMS int64 `yaml:"lastUsedAt"` // Unix milliseconds
}

// Settings are the client's settings that matter to skills.
type Settings struct {
	Permissions struct {
		Allow []string `yaml:"allow"`
		Deny  []string `yaml:"deny"`
	} `yaml:"permissions"`
	Fraction     float64           `yaml:"skillListingBudgetFraction"` // 0: not set
	MaxDesc      int               `yaml:"skillListingMaxDescChars"`   // UTF-16 code units; 0: not set
	Overrides    map[string]string `yaml:"skillOverrides"`
	DisableShell bool              `yaml:"disableSkillShellExecution"`
}

// Run is one client process. All runs of a case share one home.
type Run struct {
	Index int
	// Session is the id of the log, empty where case.yaml does not say.
	Session string
	// Resume: the process goes on with an earlier session, that of the run before
	// or ResumeID; Fork: in a log of its own.
	Resume, Fork bool
	ResumeID     string
	// Args are all extra arguments; the fields below are taken from them.
	Args                []string
	AddDirs, PluginDirs []string
	SettingsJSON        string // --settings, inline
	PermissionArgs      []string
	Env                 map[string]string // merged with that of the case
	Model               string
	Window              int64 // tokens; 0 if not recorded
	CWD                 string
	// BeforeRun are file changes before the process started.
	BeforeRun []Change
	// Prompts is what then happened, in order.
	Prompts []Step
	// Times in Unix milliseconds, 0 if not recorded. EndedAtMS is "now" of this
	// run for the usage score; FirstRequestAtMS, where known, is nearer to it.
	StartedAtMS, FirstRequestAtMS, EndedAtMS int64
	ExitCode                                 int
	Killed                                   bool // on purpose
}

// StepKind is what a [Step] is.
type StepKind string

// The kinds of steps.
const (
	StepText   StepKind = "text"   // a user message
	StepPause  StepKind = "pause"  // nothing, for Seconds
	StepChange StepKind = "change" // files changed
	StepKeys   StepKind = "keys"   // keys other than text, on the terminal screen
	StepExit   StepKind = "exit"   // the user left the client
)

// Step is one thing that happened during a run.
type Step struct {
	Kind    StepKind
	Text    string
	Seconds float64
	Keys    []string
	Change  *Change // not nil for StepChange alone
	// AtMS is when, in Unix milliseconds, and Requests how many requests had been
	// sent by then; both 0 where not recorded (all but interactive).
	AtMS     int64
	Requests int
}

// Change is a change of the file tree: files written, then paths removed.
type Change struct {
	Write  []File
	Remove []string // a file, or a folder with all below it
}

// File is a file and its content.
type File struct{ Path, Text string }

// Filler is the filler of the recording's texts.
func (c *Case) Filler() Filler {
	if c.Family == "billing" {
		return Words
	}
	return Letters
}

// Same reports whether a recorded text is the predicted one, with allowance for
// the filler of this recording.
func (c *Case) Same(predicted, recorded string) bool {
	return Same(predicted, recorded, c.Filler())
}
