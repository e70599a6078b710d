package mine

import (
	"bytes"
	"testing"

	"gopkg.in/yaml.v3"
)

// TestBooleansAreTexts: prompts such as "yes" stay texts to readers of YAML 1.1, too.
func TestBooleansAreTexts(t *testing.T) {
	for in, want := range map[string]string{"yes": "\"yes\"\n", "No": "\"No\"\n", "y": "\"y\"\n", "yes, do": "yes, do\n", "3": "\"3\"\n", "true": "\"true\"\n"} {
		var b bytes.Buffer
		if err := yaml.NewEncoder(&b).Encode(str(in)); err != nil || b.String() != want {
			t.Errorf("%s: %s %v", in, &b, err)
		}
	}
}
