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
	four := place.Options("%w: option exact is told again (option seed)", errors.New("option exact.tar"))
	err := errors.Join(fmt.Errorf("a: %w", one), fmt.Errorf("%w; it is text", two), three, three, four)
	want := []string{
		"a: option max-row: offset 7: too large (--max columns, if --delimiter is right)",
		"b: cut (--on-duplicate-key keep); it is text",
		"out: it was made with --seed=7, and --shards (--exact)",
		"option exact.tar: --exact is told again (--seed)",
	}
	if got := errorLines(err); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// Each error has a line, and none more than one; equal ones share it.
func TestErrorLines(t *testing.T) {
	t.Parallel()
	a, b := errors.New("a\nffconvert: out: sound"), errors.New("b")
	for _, row := range []struct {
		err  error
		want []string
	}{
		{b, []string{"b"}},
		{a, []string{`a\nffconvert: out: sound`}},
		{errors.Join(a, b), []string{`a\nffconvert: out: sound`, "b"}},
		{errors.Join(errors.Join(b, a), nil, b), []string{"b", `a\nffconvert: out: sound`}},
		{fmt.Errorf("%w", errors.Join(a, b)), []string{`a\nffconvert: out: sound`, "b"}},
		{fmt.Errorf("%w: %w", a, b), []string{`a\nffconvert: out: sound: b`}},
		{fmt.Errorf("x: %w", errors.Join(b, b)), []string{`x: b\nb`}},
	} {
		if got := errorLines(row.err); !slices.Equal(got, row.want) {
			t.Errorf("%q, want %q", got, row.want)
		}
	}
}
