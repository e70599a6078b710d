package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strings"
)

// answers makes an empty document for each schema of an answer.
var answers = map[string]func() Document{
	ReplaySchema:   func() Document { return &ReplayDocument{} },
	TimelineSchema: func() Document { return &TimelineDocument{} },
	SessionsSchema: func() Document { return &SessionsDocument{} },
	CostSchema:     func() Document { return &CostDocument{saved: true} },
	WhySchema:      func() Document { return &WhyDocument{} },
	ListingSchema:  func() Document { return &ListingDocument{} },
	TestSchema:     func() Document { return &TestDocument{} },
	TestInitSchema: func() Document { return &TestInitDocument{} },
	ConformSchema:  func() Document { return &ConformDocument{} },
	RulesSchema:    func() Document { return &RulesDocument{} },
	VersionSchema:  func() Document { return &VersionDocument{} },
	ConfigSchema:   func() Document { return &ConfigDocument{} },
	CacheSchema:    func() Document { return &CacheDocument{} },
}

// checkedDocument is a document that holds references into itself.
type checkedDocument interface {
	// check says what is wrong with it.
	check() error
}

// Read reads an answer that was written as JSON, by the schema that it names. What is
// written of the document is what was written of the one that was saved.
func Read(data []byte) (Document, error) {
	var head struct {
		Schema string `json:"schema"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, fmt.Errorf("not a saved answer: %w; save one with --format json", plainly(err))
	}
	if head.Schema == "" {
		return nil, fmt.Errorf(`not a saved answer: it names no "schema"; save one with --format json`)
	}
	make, ok := answers[head.Schema]
	if !ok {
		name, _, _ := strings.Cut(head.Schema, "@")
		for known := range answers {
			if strings.HasPrefix(known, name+"@") {
				return nil, fmt.Errorf("its schema is %q, and this version of skilltrace reads %q", head.Schema, known)
			}
		}
		return nil, fmt.Errorf("its schema is %q, which is no answer of a command: want one of %s", head.Schema, strings.Join(answerSchemas(), ", "))
	}
	doc := make()
	if err := json.Unmarshal(data, doc); err != nil {
		return nil, fmt.Errorf("not the form of %s: %w", head.Schema, plainly(err))
	}
	if c, ok := doc.(checkedDocument); ok {
		if err := c.check(); err != nil {
			return nil, fmt.Errorf("not the form of %s: %w", head.Schema, err)
		}
	}
	return doc, nil
}

// plainly says without Go's types where a value is not what is wanted.
func plainly(err error) error {
	var mismatch *json.UnmarshalTypeError
	if !errors.As(err, &mismatch) {
		return err
	}
	where := mismatch.Field
	if where == "" {
		where = "the answer"
	}
	return fmt.Errorf("%s is not to be of kind %s, at byte %d", where, mismatch.Value, mismatch.Offset)
}

// answerSchemas are the schemas that Read knows, sorted.
func answerSchemas() []string {
	var out []string
	for name := range answers {
		out = append(out, name)
	}
	sort.Strings(out)
	return out
}

func (d *CostDocument) check() error {
	if len(d.By) == 0 && (len(d.Rows) > 0 || d.Calls != 0) {
		return errors.New("it does not say what its rows are by")
	}
	return nil
}

func (d *WhyDocument) check() error {
	if d.Focus != nil && (*d.Focus < 0 || *d.Focus >= len(d.Questions)) {
		return fmt.Errorf("focus %d is not one of %d questions", *d.Focus, len(d.Questions))
	}
	return nil
}
