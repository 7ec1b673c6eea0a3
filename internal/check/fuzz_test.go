package check

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzFolded: keys are the same without case exactly where strings.EqualFold says so.
func FuzzFolded(f *testing.F) {
	f.Add("a/B", "A/b")
	f.Add("Σ", "ς")
	f.Add("K", "k")
	f.Add("a\xff", "A\xff")
	f.Add("..", " ")
	f.Fuzz(func(t *testing.T, a, b string) {
		same := bytes.Equal(folded(nil, a), folded(nil, b))
		if utf8.ValidString(a) && utf8.ValidString(b) && same != strings.EqualFold(a, b) {
			t.Errorf("%q and %q are the same: %v", a, b, same)
		}
		if plainKey(a) && oddKey(a+"-") != "" {
			t.Errorf("%q is plain and odd", a)
		}
	})
}
