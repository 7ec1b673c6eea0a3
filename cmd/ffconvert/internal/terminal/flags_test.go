package terminal

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/ffconvert/ffconvert/internal/place"
)

// Hints have flags, also in an error that has another one's text. A name that looks like an option stays.
func TestErrorLinesFlags(t *testing.T) {
	t.Parallel()
	one := &place.Error{Where: "option max-row", Off: 7, Err: errors.New("too large"), Hint: "option max-columns, if option delimiter is right"}
	two := &place.Error{Where: "b", Off: -1, Err: errors.New("cut"), Hint: "option on-duplicate-key keep"}
	three := &place.Error{Where: "out", Off: -1, Err: place.Options("it was made with option seed=7, and option shards"), Hint: "option exact"}
	err := errors.Join(fmt.Errorf("a: %w", one), fmt.Errorf("%w; it is text", two), three, three)
	want := []string{
		"a: option max-row: offset 7: too large (--max columns, if --delimiter is right)",
		"b: cut (--on-duplicate-key keep); it is text",
		"out: it was made with --seed=7, and --shards (--exact)",
	}
	if got := ErrorLines(err); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
