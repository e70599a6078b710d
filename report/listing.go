package report

import (
	"io"
	"strings"

	"github.com/skilltrace/skilltrace/budget"
)

// ListingSchema names the form of a ListingDocument.
const ListingSchema = "skilltrace/listing@1"

// ListingDocument is the answer of the command listing: what the model would be shown of
// skills. Sizes are in characters as the client counts them, unless said otherwise.
type ListingDocument struct {
	Schema     string `json:"schema"`
	Client     string `json:"client"`
	RulesExact bool   `json:"rules_exact"`
	// Described is the description that the rules are those of, where the client was never
	// recorded.
	Described string `json:"described,omitempty"`
	Model     string `json:"model"`
	// Project is the folder in which the client is started; files below it are shown
	// without it.
	Project string `json:"project"`
	ListingSizes
	// Width is that which each description is cut to, where all are cut to one.
	Width       int                `json:"width,omitempty"`
	Own         ListingOwn         `json:"own_entries"`
	Inputs      []Input            `json:"inputs"`
	Assumptions []string           `json:"assumptions"`
	Entries     []ListingEntry     `json:"entries"`
	NotListed   []ListingOff       `json:"not_listed"`
	Duplicates  []ListingDuplicate `json:"duplicates"`
	// Redundant counts the entries that say nothing new.
	Redundant int             `json:"redundant"`
	Against   *ListingAgainst `json:"against,omitempty"`
	Fit       *ListingFit     `json:"fit,omitempty"`
	Sweep     []ListingSpan   `json:"sweep,omitempty"`

	// Sent is the listing as it is sent.
	Sent Text `json:"text"`
	// Again are the options by which the command makes the same listing.
	Again string `json:"-"`
}

// ListingSizes say how large a listing is and what becomes of its entries.
type ListingSizes struct {
	Budget       int    `json:"budget"`
	BudgetSource string `json:"budget_source"`
	// Demand is the size with all descriptions whole, Over what of it does not fit, and Used
	// the size as it is sent. Tokens estimates that.
	Demand int         `json:"demand"`
	Over   int         `json:"over"`
	Used   int         `json:"used"`
	Tokens int         `json:"tokens"`
	Forms  ListingForm `json:"forms"`
}

// ListingForm counts entries by form.
type ListingForm struct {
	Full      int `json:"full"`
	Shortened int `json:"shortened"`
	NameOnly  int `json:"name_only"`
	Absent    int `json:"absent"`
}

func (f *ListingForm) sum() int { return f.Full + f.Shortened + f.NameOnly + f.Absent }

// ListingOwn says what is known of the client's own entries, which count in the budget
// and stand in no file.
type ListingOwn struct {
	Known   bool   `json:"known"`
	Entries int    `json:"entries"`
	Session string `json:"session,omitempty"` // the log that shows them
}

// ListingEntry is one entry, in listing order.
type ListingEntry struct {
	Name  string `json:"name"`
	Label string `json:"label,omitempty"` // where it is listed by another
	// Form is full, shortened, name_only or absent; Cause says why it is not full.
	Form  string `json:"form"`
	Cause string `json:"cause,omitempty"`
	// Size is what it takes as it is sent, WholeSize what it would with its whole text,
	// under the limit of one entry.
	Size      int `json:"size"`
	WholeSize int `json:"whole_size"`
	Tokens    int `json:"tokens"`
	// CutByLimit is what the limit of one entry takes, in UTF-16 code units; CutByBudget
	// what the budget takes of the rest.
	CutByLimit  int    `json:"cut_by_limit"`
	CutByBudget int    `json:"cut_by_budget"`
	Rank        int    `json:"rank,omitempty"`
	Uses        int    `json:"uses"`
	Own         bool   `json:"own"` // the client's own
	Source      string `json:"source,omitempty"`
	File        string `json:"file,omitempty"`
	Description Text   `json:"description"` // whole
	Line        Text   `json:"line"`        // as it is sent
}

func (e *ListingEntry) cut() int { return e.CutByLimit + e.CutByBudget }

// ListingOff is a skill that is not listed, or a file that looks like one and is none.
type ListingOff struct {
	Name   string `json:"name,omitempty"`
	File   string `json:"file"`
	Kind   string `json:"kind"`
	Reason string `json:"reason"`
}

// ListingDuplicate is a group of entries that stand for the same.
type ListingDuplicate struct {
	Kind     string   `json:"kind"`
	Entries  []string `json:"entries"`
	SameText bool     `json:"same_text"`
}

// ListingAgainst is the listing beside that of another state.
type ListingAgainst struct {
	Name    string          `json:"name"`
	Before  ListingSizes    `json:"before"`
	Changes []ListingChange `json:"changes"`
}

// ListingChange is an entry that differs.
type ListingChange struct {
	Skill  string `json:"skill"`
	Before string `json:"before"` // form
	After  string `json:"after"`
	// Own: its own text differs; else only what is shown of it.
	Own          bool   `json:"own_text"`
	SizeBefore   int    `json:"size_before"`
	SizeAfter    int    `json:"size_after"`
	TokensBefore int    `json:"tokens_before"`
	TokensAfter  int    `json:"tokens_after"`
	TextBefore   Text   `json:"text_before"`
	TextAfter    Text   `json:"text_after"`
	Diff         string `json:"diff,omitempty"`
	Reason       string `json:"reason,omitempty"` // why it is not listed any more
}

// ListingFit is the least that has to be cut for all descriptions to be shown whole.
type ListingFit struct {
	// Fewest is the characters to cut in all: those over the limit of one entry, and those
	// over the budget.
	Fewest     int          `json:"fewest"`
	OverLimit  []ListingCut `json:"over_limit"`
	OverBudget int          `json:"over_budget"`
	// Longest and Evenly are two ways to cut what is over the budget.
	Longest []ListingCut `json:"longest_first"`
	Evenly  []ListingCut `json:"evenly"`
	// Short is what would be lacking with every description at one character.
	Short int `json:"short,omitempty"`
	// Room is the budget that is enough as the texts are, and Fraction the setting that
	// gives it.
	Room     int    `json:"budget_needed"`
	Fraction string `json:"fraction_needed,omitempty"`
}

// ListingCut is what one description gives up.
type ListingCut struct {
	Skill string `json:"skill"`
	File  string `json:"file,omitempty"`
	Had   int    `json:"had"`
	Cut   int    `json:"cut"`
	Leave int    `json:"leave"`
}

// ListingSpan is a range of client versions that show the same.
type ListingSpan struct {
	Since  string `json:"since,omitempty"`
	Until  string `json:"until,omitempty"`
	Before string `json:"before,omitempty"` // the version since which something else holds
	ListingSizes
	Losses []ListingLoss `json:"losses"`
}

// ListingLoss is a skill that a version does not show whole.
type ListingLoss struct {
	Skill  string `json:"skill"`
	Form   string `json:"form"`
	Cut    int    `json:"cut,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// Settle fills what follows from the rest.
func (d *ListingDocument) Settle() {
	d.Schema = ListingSchema
	if d.Against != nil {
		for i := range d.Against.Changes {
			c := &d.Against.Changes[i]
			if c.After != "absent" {
				c.Diff = Diff(string(c.TextBefore), string(c.TextAfter))
			}
		}
	}
}

// WriteText writes the listing as the model is sent it: lone surrogates as the character
// that stands for them in a request. For a terminal each line is escaped.
func (d *ListingDocument) WriteText(w io.Writer, terminal bool) error {
	text := budget.ReplaceLone(string(d.Sent))
	if terminal {
		lines := strings.Split(text, "\n")
		for i := range lines {
			lines[i] = Escape(lines[i])
		}
		text = strings.Join(lines, "\n")
	}
	if text == "" {
		return nil
	}
	_, err := io.WriteString(w, text+"\n")
	return err
}
