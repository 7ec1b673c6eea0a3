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

// maxListed is how many missing names one error lists; the error also has their total.
const maxListed = 10

// misses are the names for which nothing was found: the first few, and counts.
type misses struct {
	n       int64
	globbed int64  // patterns among them
	remote  int64  // remote names among them
	first   []miss // at most maxListed
}

// A miss is a name for which nothing was found.
type miss struct {
	name    string
	line    string // file and line of the list with the name; "": none
	pattern bool
	remote  error // the service's error; nil for a file or a pattern
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

// err returns the error for all misses.
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

// A lineError adds to an error the line of the list that has the name.
type lineError struct {
	err  error
	line string // list.txt:3
}

func (e *lineError) Error() string { return fmt.Sprintf("%v, at %s", e.err, e.line) }
func (e *lineError) Unwrap() error { return e.err }
