package checksum

import (
	"bytes"
	"encoding/json"
	"testing"
)

// Names that are not UTF-8 are written as they are read back, or no file that holds one would be
// what its checksum says.
func TestCanonical(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a", "\xff", "a\xfe\xffb", "\ufffd", `\ufffd`, "\\\xff", `\\ufffd`, "\xff<&\n\"\u2028"} {
		for _, encode := range []func(any) ([]byte, error){Marshal} {
			first, err := encode(name)
			if err != nil {
				t.Fatal(err)
			}
			var read string
			if err := json.Unmarshal(first, &read); err != nil {
				t.Fatalf("%q: %s: %v", name, first, err)
			}
			if second, err := encode(read); err != nil || !bytes.Equal(first, second) {
				t.Errorf("%q: %s became %s, %v", name, first, second, err)
			}
		}
	}
}
