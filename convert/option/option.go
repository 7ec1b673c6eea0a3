// Package option holds named settings whose values are text: those of a source format, as
// a plan keeps them, a specification names them and a command line has them as flags.
//
//	var set option.Set
//	var header bool
//	set.Add("header", "the first line names the columns", option.Bool(&header))
//	err := set.Set("header", "true")
package option

import (
	"errors"
	"fmt"
	"slices"
)

// A Value is a setting that is read from text. Text that String returns, Set takes.
type Value interface {
	Set(text string) error
	String() string
	// Type says what the text is: bool, int, int64, string, stringSlice, size, number, or for
	// a few words these.
	Type() string
}

// An Option is one setting.
type Option struct {
	Name  string
	Usage string // one line of help

	// Limit says that the option decides what is refused, and no byte of what is written. No
	// plan keeps it: a run that goes on may raise it, and a plan, which may be hostile, cannot.
	Limit bool

	value Value
	given bool
}

// Set sets the value.
func (o *Option) Set(text string) error {
	err := o.value.Set(text)
	o.given = o.given || err == nil
	return err
}

// String is the value as text.
func (o *Option) String() string { return o.value.String() }

// Type is that of the value.
func (o *Option) Type() string { return o.value.Type() }

// List reports whether the option takes several values.
func (o *Option) List() bool {
	_, list := o.value.(*listValue)
	return list
}

// Words returns the words of which the option takes one; nil where it takes others.
func (o *Option) Words() []string {
	if c, ok := o.value.(*Choice); ok {
		return c.Words
	}
	return nil
}

// A Set is options in the order in which help shows them. The zero value has none.
type Set struct{ all []*Option }

// Add adds an option whose default is what the value is now.
func (s *Set) Add(name, usage string, value Value) {
	s.all = append(s.all, &Option{Name: name, Usage: usage, value: value})
}

// AddLimit adds an option that is a limit.
func (s *Set) AddLimit(name, usage string, value Value) {
	s.all = append(s.all, &Option{Name: name, Usage: usage, Limit: true, value: value})
}

// All returns the options.
func (s *Set) All() []*Option { return s.all }

// Lookup returns an option; nil where there is none of that name.
func (s *Set) Lookup(name string) *Option {
	if i := slices.IndexFunc(s.all, func(o *Option) bool { return o.Name == name }); i >= 0 {
		return s.all[i]
	}
	return nil
}

// Text is the value of an option; "" where there is none of that name.
func (s *Set) Text(name string) string {
	if o := s.Lookup(name); o != nil {
		return o.String()
	}
	return ""
}

// Errors of setting an option, in an [Error].
var (
	ErrUnknown = errors.New("no such option")
	ErrLimit   = errors.New("it is a limit, which only the caller sets")
)

// An Error is that of one option.
type Error struct {
	Name string
	Text string // what it was to be set to
	Err  error
}

func (e *Error) Error() string { return fmt.Sprintf("%s %q: %v", e.Name, e.Text, e.Err) }
func (e *Error) Unwrap() error { return e.Err }

// Set sets an option, limits too.
func (s *Set) Set(name, text string) error {
	o := s.Lookup(name)
	if o == nil {
		return &Error{name, text, ErrUnknown}
	}
	if err := o.Set(text); err != nil {
		return &Error{name, text, err}
	}
	return nil
}

// SetKept sets an option that comes from a plan or a specification: none that is a limit.
func (s *Set) SetKept(name, text string) error {
	if o := s.Lookup(name); o != nil && o.Limit {
		return &Error{name, text, ErrLimit}
	}
	return s.Set(name, text)
}

// Kept returns the options that a plan keeps: those that were set, limits left out. It is nil
// where there are none.
func (s *Set) Kept() map[string]string {
	var kept map[string]string
	for _, o := range s.all {
		if !o.given || o.Limit {
			continue
		}
		if kept == nil {
			kept = make(map[string]string)
		}
		kept[o.Name] = o.String()
	}
	return kept
}
