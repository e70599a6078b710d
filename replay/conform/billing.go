package conform

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/conform/scenario"
	"github.com/skilltrace/skilltrace/replay/ledger"
)

// Billed compares what a layer took in a recorded session with the truth. Kind is
// how its tokens were billed: read, write or input.
type Billed struct {
	Layer       replay.Layer
	Kind        string
	Truth, Ours int64
	Allowed     int64 // the greatest difference that counts as agreement
	Judged      bool
	// Line is that of the request, in the file with the truth, that is farthest off.
	Line int
}

// Off is how far ours is from the truth, in tokens.
func (b *Billed) Off() int64 {
	if b.Ours < b.Truth {
		return b.Truth - b.Ours
	}
	return b.Ours - b.Truth
}

// judgedLayers are those whose split is judged, in the order in which they are
// shown; the truth counts under call the reminders that are glued to a result.
var judgedLayers = []replay.Layer{replay.LayerListing, replay.LayerBody, replay.LayerReattachment, replay.LayerReference, replay.LayerCall, replay.LayerOther}

var billedKinds = []string{"read", "write", "input"}

// truth is a line of truth.jsonl: one request.
type truth struct {
	N       int    `json:"n"`
	Kind    string `json:"kind"`
	Message string `json:"message_id"`
	Request string `json:"request_id"`
	Usage   struct {
		Input  int64 `json:"input_tokens"`
		Write  int64 `json:"cache_creation_input_tokens"`
		Read   int64 `json:"cache_read_input_tokens"`
		Output int64 `json:"output_tokens"`
	} `json:"usage"`
	Layers map[string]map[string]int64 `json:"layers"`
}

func readTruth(name string) ([]truth, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []truth
	in := bufio.NewReader(f)
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			var t truth
			if err := json.Unmarshal(line, &t); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", name, n, err)
			}
			out = append(out, t)
		}
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// callID tells requests apart.
type callID struct{ message, request string }

// CheckTokens compares what a layer of a recording took, as read, written or plain
// input, with the truth.
const CheckTokens replay.CheckKind = "tokens"

// truthFile is beside the recordings of which the true split is known.
const truthFile = "truth.jsonl"

// tokens compares the ledger of the recording with its truth, if it has one.
func (r *runner) tokens() ([]replay.Check, error) {
	name := filepath.Join(r.c.Dir, truthFile)
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	rows, err := billing(r.sessions, name)
	if err != nil {
		return nil, err
	}
	var checks []replay.Check
	for i := range rows {
		b := &rows[i]
		if !b.Judged {
			continue
		}
		ch := replay.Check{Kind: CheckTokens, Verdict: replay.Match, Agent: "main", Where: replay.Where{File: name, Line: b.Line}}
		if b.Off() > b.Allowed {
			ch.Verdict = replay.Divergent
			ch.Expected, ch.Observed = strconv.FormatInt(b.Truth, 10), strconv.FormatInt(b.Ours, 10)
			ch.Reason = fmt.Sprintf("tokens of %s %s: %d are allowed to be off", b.Layer, b.Kind, b.Allowed)
		}
		checks = append(checks, ch)
	}
	return checks, nil
}

// Billing compares the ledger of a recording's sessions with its truth, by layer and
// kind. Requests that are in no log, as those for a summary, are left out. What is
// wrong with the requests themselves is an error: each must be there once, with its
// usage.
func Billing(dir string) ([]Billed, error) {
	c, err := scenario.Load(dir)
	if err != nil {
		return nil, err
	}
	var sessions []*replay.Session
	for _, l := range c.Sessions() {
		s, err := observe(l)
		if err != nil {
			return nil, err
		}
		sessions = append(sessions, s)
	}
	return billing(sessions, filepath.Join(dir, truthFile))
}

func billing(sessions []*replay.Session, name string) ([]Billed, error) {
	lines, err := readTruth(name)
	if err != nil {
		return nil, err
	}
	// Index into ours: by layer, then kind.
	place := map[replay.Layer]int{}
	for i, l := range judgedLayers {
		place[l] = i
	}
	ours := map[callID][][3]int64{}
	book := budget.DefaultBook()
	var owners ledger.Owners
	numbers := make([]int, len(sessions))
	for i, s := range sessions {
		numbers[i] = owners.Note(s)
	}
	for i, s := range sessions {
		for call := range ledger.Calls(s, &book, owners.Of(numbers[i])) {
			split := make([][3]int64, len(judgedLayers))
			for j := range call.Charges {
				ch := &call.Charges[j]
				if k, ok := place[ch.Layer]; ok {
					split[k][0] += ch.Tokens.CacheRead
					split[k][1] += ch.Tokens.CacheWrite5m + ch.Tokens.CacheWrite1h
					split[k][2] += ch.Tokens.Input
				}
			}
			ours[callID{call.Message, call.Request}] = split
		}
	}
	sums := make([][2][3]int64, len(judgedLayers)) // truth, ours
	worst := make([][3]struct {
		off  int64
		line int
	}, len(judgedLayers))
	calls := int64(0)
	for line, t := range lines {
		id := callID{t.Message, t.Request}
		split, ok := ours[id]
		if !ok && t.Kind != "loop" {
			continue
		}
		if !ok {
			return nil, fmt.Errorf("%s: request %d (%s) is in no log", name, t.N, t.Message)
		}
		delete(ours, id)
		calls++
		want := make([][3]int64, len(judgedLayers))
		for layer, kinds := range t.Layers {
			k, ok := place[replay.Layer(layer)]
			if !ok {
				k = place[replay.LayerOther] // the definition of the Skill tool
			}
			for i, kind := range billedKinds {
				want[k][i] += kinds[kind]
			}
		}
		var sum [3]int64
		for k := range split {
			for i, n := range split[k] {
				sums[k][0][i] += want[k][i]
				sums[k][1][i] += n
				sum[i] += n
				if off := max(n-want[k][i], want[k][i]-n); off > worst[k][i].off || worst[k][i].line == 0 {
					worst[k][i].off, worst[k][i].line = off, line+1
				}
			}
		}
		if want := [3]int64{t.Usage.Read, t.Usage.Write, t.Usage.Input}; sum != want {
			return nil, fmt.Errorf("%s: request %d: the layers make %d read, written and plain, not %d", name, t.N, sum, want)
		}
	}
	if len(ours) > 0 {
		return nil, fmt.Errorf("%s: %d requests of the logs are not in it", name, len(ours))
	}
	var out []Billed
	for k, layer := range judgedLayers {
		for i, kind := range billedKinds {
			b := Billed{Layer: layer, Kind: kind, Truth: sums[k][0][i], Ours: sums[k][1][i],
				Judged: layer != replay.LayerCall && layer != replay.LayerOther, Line: worst[k][i].line}
			b.Allowed = max((b.Truth+19)/20, 20*calls)
			if b.Truth != 0 || b.Ours != 0 {
				out = append(out, b)
			}
		}
	}
	return out, nil
}
