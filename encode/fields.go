package encode

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/converters"
)

// A choice is a list of field names of which the first that exists is meant, as in
// webdataset's to_tuple("jpg;png").
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

// in returns the index of the chosen field of s, -1 where there is none.
func (c choice) in(fields []converters.Field) int {
	for _, name := range c {
		for i := range fields {
			if fields[i].Name == name {
				return i
			}
		}
	}
	return -1
}

func (c choice) String() string { return strings.Join(c, ";") }

// A selector renames fields, then keeps the chosen ones in the chosen order.
type selector struct {
	renames []rename
	keep    []choice // nil: all
}

// A rename gives the chosen field a new name in its old place; the other fields of
// the choice are dropped, as webdataset's rename does.
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
	for f := range strings.SplitSeq(opts.Fields, ",") {
		c, err := parseChoice(f)
		if err != nil {
			return sel, fmt.Errorf("fields %q: %w", opts.Fields, err)
		}
		sel.keep = append(sel.keep, c)
	}
	return sel, nil
}

// apply appends the selected fields of s to dst.
func (sel selector) apply(dst []converters.Field, s *converters.Sample) ([]converters.Field, error) {
	dst = append(dst, s.Fields...)
	for _, r := range sel.renames {
		found := r.from.in(dst)
		if found < 0 {
			return dst, missing(r.from, s)
		}
		dst[found].Name = r.name
		kept := dst[found]
		dst = slices.DeleteFunc(dst, func(f converters.Field) bool { return slices.Contains(r.from, f.Name) && f.Name != kept.Name })
		if n := count(dst, r.name); n > 1 {
			return dst, fmt.Errorf("%w: after --rename two fields are named %q", converters.ErrDuplicate, r.name)
		}
	}
	if sel.keep == nil {
		return dst, nil
	}
	// The kept fields are put behind the rest, which is then cut off in front.
	all := len(dst)
	for _, c := range sel.keep {
		found := c.in(dst[:all])
		if found < 0 {
			return dst, missing(c, s)
		}
		if count(dst[all:], dst[found].Name) > 0 {
			return dst, fmt.Errorf("%w: --fields takes %q twice", converters.ErrDuplicate, dst[found].Name)
		}
		dst = append(dst, dst[found])
	}
	return dst[:copy(dst, dst[all:])], nil
}

func count(fields []converters.Field, name string) int {
	n := 0
	for i := range fields {
		if fields[i].Name == name {
			n++
		}
	}
	return n
}

func missing(c choice, s *converters.Sample) error {
	names := make([]string, len(s.Fields))
	for i, f := range s.Fields {
		names[i] = f.Name
	}
	return fmt.Errorf("%w: no %s (the sample has %q; --missing skip leaves such samples out)", ErrMissing, c, names)
}
