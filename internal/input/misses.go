package input

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/text"
)

// maxListed is how many missing names one error lists; it also says how many there are.
const maxListed = 10

// misses are the names that lead nowhere: some of them, and how many there are.
type misses struct {
	n       int64
	globbed int64  // how many of them are patterns
	remote  int64  // how many of them are of services
	first   []miss // a few of them
}

// A miss is a name that leads nowhere.
type miss struct {
	name    string
	line    string // of the list that names it; "": none
	pattern bool
	remote  error // what the service said of it; nil: it is a file, or a pattern
}

func (m *misses) add(one miss) {
	m.n++
	if one.pattern {
		m.globbed++
	}
	if one.remote != nil {
		m.remote++
	}
	if len(m.first) < maxListed {
		m.first = append(m.first, one)
	}
}

// advice returns a hint and the kind of error.
func (m *misses) advice(opts Options) (hint string, kind error) {
	switch {
	case opts.Directories && m.remote == m.n:
		return "no objects lie below them; check the spelling", ErrNotFound
	case m.globbed < m.n && m.remote == m.n && slices.Contains(listedSchemes, schemeOf(m.first[0].name)):
		return "check the spelling; a name that ends in / stands for the objects below it", ErrNotFound
	case m.globbed < m.n && m.remote == m.n:
		return "check the spelling", ErrNotFound
	case m.globbed < m.n:
		return "check the spelling and the directory", ErrNotFound
	case m.remote == m.n:
		return "check the pattern; hidden objects and those further down are left out", ErrNoMatch
	case opts.Directories:
		return "check the pattern; hidden directories are left out", ErrNoMatch
	}
	return "check the pattern; hidden files and subdirectories are left out", ErrNoMatch
}

// err reports them.
func (m *misses) err(opts Options) error {
	hint, kind := m.advice(opts)
	first := m.first[0]
	if m.n == 1 {
		if e, ok := errors.AsType[*place.Error](first.remote); ok {
			one := *e
			one.Hint = cmp.Or(e.Hint, hint)
			return at(first.line, &one)
		}
		return at(first.line, place.Refuse(first.name, kind, hint, ""))
	}
	if first.line != "" {
		kind = &lineError{kind, first.line}
	}
	var also []string
	for _, one := range m.first[1:] {
		name := text.Name(one.name)
		if one.line != "" {
			name += " at " + one.line
		}
		also = append(also, name)
	}
	if m.n > int64(len(m.first)) {
		also = append(also, "…")
	}
	return place.Refuse(first.name, kind, hint, "%d names in all, also %s", m.n, strings.Join(also, ", "))
}

// at adds the line of a list to an error that does not have one.
func at(line string, err error) error {
	e, ok := err.(*place.Error)
	if _, said := errors.AsType[*lineError](err); !ok || said || line == "" {
		return err
	}
	placed := *e
	placed.Err = &lineError{e.Err, line}
	return &placed
}

// A lineError adds the line of the list that has the name.
type lineError struct {
	err  error
	line string // list.txt:3
}

func (e *lineError) Error() string { return fmt.Sprintf("%v, at %s", e.err, e.line) }
func (e *lineError) Unwrap() error { return e.err }
