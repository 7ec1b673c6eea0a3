package encode

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/decode"
	"github.com/ffconvert/ffconvert/internal/place"
)

// find returns the index of the pick that a choice selects, or -1: the first of its names that exists, as webdataset's
// to_tuple("jpg;png") does.
func find(choice []string, picks []pick) int {
	for _, name := range choice {
		for i := range picks {
			if picks[i].name == name {
				return i
			}
		}
	}
	return -1
}

// A pick is a selected field.
type pick struct {
	name string // in the record
	from int    // index in the sample
}

// A selector applies Options.Rename, then Options.Fields, then the fields that the encoding names, as raw:FIELD does.
type selector struct {
	renames []rename
	keep    [][]string // choices, each a list of alternative names; nil means all
	only    [][]string // of the encoding; nil means all
}

// all reports whether the selector keeps all fields unchanged.
func (sel *selector) all() bool {
	return sel.renames == nil && sel.keep == nil && sel.only == nil
}

// A rename renames the selected field, which keeps its position, and drops the other fields of the
// choice, as webdataset's rename does.
type rename struct {
	name string
	from []string
}

func parseSelector(opts Options) (selector, error) {
	var sel selector
	for _, r := range opts.Rename {
		name, from, ok := strings.Cut(r, "=")
		if !ok || name == "" {
			return sel, fmt.Errorf("rename %q: want NEW=FIELD or NEW=FIELD;FIELD", r)
		}
		c := strings.Split(from, ";")
		if slices.Contains(c, "") {
			return sel, fmt.Errorf("rename %q has an empty field name", from)
		}
		if slices.ContainsFunc(sel.renames, func(r rename) bool { return r.name == name }) {
			return sel, fmt.Errorf("rename %q: %s is given twice", r, name)
		}
		sel.renames = append(sel.renames, rename{name, c})
	}
	if opts.Fields == "" {
		return sel, nil
	}
	var err error
	if sel.keep, err = decode.Choices(opts.Fields); err != nil {
		return sel, fmt.Errorf("fields %q: %w", opts.Fields, err)
	}
	return sel, nil
}

// apply appends the selected fields of s to dst, which must be empty.
func (sel *selector) apply(dst []pick, s *converters.Sample) ([]pick, error) {
	for i := range s.Fields {
		dst = append(dst, pick{s.Fields[i].Name, i})
	}
	after := ""
	for _, r := range sel.renames {
		found := find(r.from, dst)
		if found < 0 {
			return dst, missing(r.from, dst, after)
		}
		dst[found].name = r.name
		dst = slices.DeleteFunc(dst, func(p pick) bool { return slices.Contains(r.from, p.name) && p.name != r.name })
		if n := count(dst, r.name); n > 1 {
			return dst, place.WithHint(fmt.Errorf("%w: after renaming two fields are named %q", converters.ErrDuplicate, r.name), "option rename")
		}
		after = " after renaming"
	}
	if sel.keep != nil {
		var err error
		if dst, err = take(dst, sel.keep, after, "option fields"); err != nil {
			return dst, err
		}
		after = " after selection"
	}
	if sel.only != nil {
		return take(dst, sel.only, after, "option encode")
	}
	return dst, nil
}

// take replaces picks by those that choices select, in the order of choices. after ("", " after renaming", …) and option,
// which holds the choices, are for its errors.
func take(picks []pick, choices [][]string, after, option string) ([]pick, error) {
	// Append the selected ones, then remove the original ones at the start.
	all := len(picks)
	for _, c := range choices {
		found := find(c, picks[:all])
		if found < 0 {
			return picks, missing(c, picks[:all], after)
		}
		if count(picks[all:], picks[found].name) > 0 {
			return picks, place.WithHint(fmt.Errorf("%w: %q is selected twice", converters.ErrDuplicate, picks[found].name), option)
		}
		picks = append(picks, picks[found])
	}
	return picks[:copy(picks, picks[all:])], nil
}

func count(picks []pick, name string) int {
	n := 0
	for i := range picks {
		if picks[i].name == name {
			n++
		}
	}
	return n
}

func fieldNames(s *converters.Sample) []string {
	names := make([]string, len(s.Fields))
	for i := range s.Fields {
		names[i] = s.Fields[i].Name
	}
	return names
}

// missing returns the error for a choice that selects none of picks. after is as for take.
func missing(choice []string, picks []pick, after string) error {
	names := make([]string, len(picks))
	for i := range picks {
		names[i] = picks[i].name
	}
	return place.WithHint(fmt.Errorf("%w: no %s, the sample has %q%s", ErrMissing, strings.Join(choice, ";"), names, after), "option missing skip leaves such samples out")
}
