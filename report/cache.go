package report

import (
	"io"
	"strings"
	"time"
)

// CacheSchema names the form of a CacheDocument.
const CacheSchema = "skilltrace/cache@1"

// CacheDocument is the answer of the command cache: what is kept of the replies of models,
// or what was.
type CacheDocument struct {
	Schema  string `json:"schema"`
	Folder  string `json:"folder"`
	Usual   bool   `json:"usual"` // it is the folder where none is named
	Entries int    `json:"entries"`
	Bytes   int64  `json:"bytes"`
	// Oldest and Newest are when replies were kept, nil where there are none.
	Oldest *time.Time `json:"oldest,omitempty"`
	Newest *time.Time `json:"newest,omitempty"`
	// Cleared says that these are gone now.
	Cleared bool `json:"cleared"`
}

// NewCache is a document; zero times are those of no reply.
func NewCache(folder string, usual bool, entries int, bytes int64, oldest, newest time.Time, cleared bool) *CacheDocument {
	return &CacheDocument{Schema: CacheSchema, Folder: folder, Usual: usual, Entries: entries, Bytes: bytes, Oldest: timeOf(oldest), Newest: timeOf(newest), Cleared: cleared}
}

// WriteTable writes what there is, or was, and what to do with it.
func (d *CacheDocument) WriteTable(w io.Writer, style Style) error {
	var b strings.Builder
	folder := style.shortPath(d.Folder)
	switch {
	case d.Entries == 0 && d.Cleared:
		style.line(&b, folder+": nothing was there to clear")
	case d.Entries == 0:
		style.line(&b, folder+": no reply of a model is kept")
	case d.Cleared:
		style.line(&b, folder+": "+plural(d.Entries, "reply")+" removed, "+plural(d.Bytes, "byte"))
	default:
		text := folder + ": " + plural(d.Entries, "reply") + " of models, " + plural(d.Bytes, "byte")
		if first, last := style.date(d.Oldest), style.date(d.Newest); first == last {
			text += ", of " + first
		} else {
			text += ", " + first + " to " + last
		}
		style.line(&b, text)
		if d.Usual {
			writeNext(&b, style, []string{"skilltrace cache --clear"})
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
