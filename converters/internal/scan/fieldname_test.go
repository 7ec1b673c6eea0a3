package scan

import (
	"errors"
	"fmt"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
)

func TestOf(t *testing.T) {
	t.Parallel()
	var n FieldNames
	for in, want := range map[string]string{"JPG": "jpg", "Seg.PNG": "seg.png", "": "", "É": "é", "ЖPG": "жpg", "KEY": "key", "\u212aEY": "key"} {
		for range 2 {
			if got, err := n.Of([]byte(in)); got != want || err != nil {
				t.Errorf("%q: %q, %v", in, got, err)
			}
		}
	}
	for _, in := range []string{"İ", "ΑΣ", "__key__", "__KEY__", "__URL__", "__\u212aey__"} {
		if got, err := n.Of([]byte(in)); !errors.Is(err, converters.ErrUnsupported) {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
	for i := range 10 * maxSuffixes {
		if _, err := n.Of([]byte{byte('a' + i%26), byte('a' + i/26%26), byte('a' + i/676)}); err != nil {
			t.Fatal(err)
		}
	}
	if len(n.known) > maxSuffixes {
		t.Errorf("%d suffixes are remembered", len(n.known))
	}
}

// A set has each name once, few or many, and none after Reset.
func TestSet(t *testing.T) {
	t.Parallel()
	var s FieldSet
	for range 2 {
		for i := range 3 * manyNames {
			if !s.Add(fmt.Sprint(i)) {
				t.Fatalf("name %d is refused", i)
			}
			for j := range i + 1 {
				if s.Add(fmt.Sprint(j)) {
					t.Fatalf("name %d of %d is added twice", j, i)
				}
			}
		}
		s.Reset()
	}
}
