package encode

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/converters"
)

// A choice is a list of alternative field names. It selects the first name that exists, as
// webdataset's to_tuple("jpg;png") does.
type choice []string

func parseChoice(s string) (choice, error) {
	names := strings.Split(s, ";")
	for _, n := range names {
		if n == "" {
			return nil, fmt.Errorf("%q has an empty field name", s)
		}
	}
	return names, nil
}

// in returns the index of the selected pick, or -1.
func (c choice) in(picks []pick) int {
	for _, name := range c {
		for i := range picks {
			if picks[i].name == name {
				return i
			}
		}
	}
	return -1
}

func (c choice) String() string { return strings.Join(c, ";") }

// A pick is a selected field.
type pick struct {
	name string // in the record
	from int    // index in the sample
}

// A selector applies Options.Rename, then Options.Fields, then the fields that the encoding names, as raw:FIELD does.
type selector struct {
	renames []rename
	keep    []choice // nil means all
	only    []choice // of the encoding; nil means all
}

// all reports whether the selector keeps all fields unchanged.
func (sel *selector) all() bool {
	return sel.renames == nil && sel.keep == nil && sel.only == nil
}

// A rename renames the selected field, which keeps its position, and drops the other fields of the
// choice, as webdataset's rename does.
type rename struct {
	name string
	from choice
}

func parseSelector(opts Options) (selector, error) {
	var sel selector
	for _, r := range opts.Rename {
		name, from, ok := strings.Cut(r, "=")
		if !ok || name == "" {
			return sel, fmt.Errorf("rename %q: want NEW=FIELD or NEW=FIELD;FIELD", r)
		}
		c, err := parseChoice(from)
		if err != nil {
			return sel, fmt.Errorf("rename %w", err)
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
	if sel.keep, err = parseChoices(opts.Fields); err != nil {
		return sel, fmt.Errorf("fields %q: %w", opts.Fields, err)
	}
	return sel, nil
}

// parseOnly reads the argument of raw:FIELD.
func parseOnly(arg string) ([]choice, error) {
	c, err := parseChoice(arg)
	return []choice{c}, err
}

// parseTuple reads the argument of pickle:FIELD,FIELD. A tuple has no names: each value has the first one of its choice, so
// these differ.
func parseTuple(arg string) ([]choice, error) {
	all, err := parseChoices(arg)
	for i, c := range all {
		if slices.ContainsFunc(all[:i], func(other choice) bool { return other[0] == c[0] }) {
			return nil, fmt.Errorf("%q comes twice", c[0])
		}
	}
	return all, err
}

// parseChoices parses "jpg;png,cls".
func parseChoices(s string) (all []choice, err error) {
	for f := range strings.SplitSeq(s, ",") {
		c, err := parseChoice(f)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// apply appends the selected fields of s to dst, which must be empty.
func (sel *selector) apply(dst []pick, s *converters.Sample) ([]pick, error) {
	for i := range s.Fields {
		dst = append(dst, pick{s.Fields[i].Name, i})
	}
	after := ""
	for _, r := range sel.renames {
		found := r.from.in(dst)
		if found < 0 {
			return dst, missing(r.from, dst, after)
		}
		dst[found].name = r.name
		dst = slices.DeleteFunc(dst, func(p pick) bool { return slices.Contains(r.from, p.name) && p.name != r.name })
		if n := count(dst, r.name); n > 1 {
			return dst, &hintedError{fmt.Errorf("%w: after renaming two fields are named %q", converters.ErrDuplicate, r.name), "Options.Rename"}
		}
		after = " after renaming"
	}
	if sel.keep != nil {
		var err error
		if dst, err = take(dst, sel.keep, after, "Options.Fields"); err != nil {
			return dst, err
		}
		after = " after selection"
	}
	if sel.only != nil {
		return take(dst, sel.only, after, "Options.Encoding")
	}
	return dst, nil
}

// take replaces picks by those that choices select, in their order. after says what has been done to picks, option
// what has the choices.
func take(picks []pick, choices []choice, after, option string) ([]pick, error) {
	// Append the selected ones, then remove the original ones at the start.
	all := len(picks)
	for _, c := range choices {
		found := c.in(picks[:all])
		if found < 0 {
			return picks, missing(c, picks[:all], after)
		}
		if count(picks[all:], picks[found].name) > 0 {
			return picks, &hintedError{fmt.Errorf("%w: %q is selected twice", converters.ErrDuplicate, picks[found].name), option}
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

// missing returns the error for a choice that selects none of picks. after says what has been
// done to picks.
func missing(c choice, picks []pick, after string) error {
	names := make([]string, len(picks))
	for i := range picks {
		names[i] = picks[i].name
	}
	return &hintedError{fmt.Errorf("%w: no %s, the sample has %q%s", ErrMissing, c, names, after), "Options.Missing skip leaves such samples out"}
}
