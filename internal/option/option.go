// Package option holds named settings with text values. They are the options of source formats, which
// are in plans, in specifications, and flags of the command line.
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
	"unicode/utf8"
)

// A Value is a setting that is read from text. Set accepts any text that String returns.
type Value interface {
	Set(text string) error
	String() string
	// Type returns the type of the text: bool, int, int64, string, stringSlice, size, number, or a
	// list of words.
	Type() string
}

// An Option is one setting.
type Option struct {
	Name  string
	Usage string // one line of help

	// Limit is set if the option only decides which inputs are refused. It changes no output, so it
	// is not in a plan: a run that resumes may raise it, and a hostile plan cannot.
	Limit bool

	value Value
	given bool
}

// Set sets the value.
func (o *Option) Set(text string) error {
	if !utf8.ValidString(text) {
		return ErrNotUTF8
	}
	err := o.value.Set(text)
	o.given = o.given || err == nil
	return err
}

// String returns the value as text.
func (o *Option) String() string { return o.value.String() }

// Type returns the type of the value.
func (o *Option) Type() string { return o.value.Type() }

// List reports whether the option takes several values.
func (o *Option) List() bool { return o.value.Type() == listType }

// Words returns the words that the option accepts; nil: it accepts other text.
func (o *Option) Words() []string {
	if c, ok := o.value.(*Choice); ok {
		return c.Words
	}
	return nil
}

// A Set is a list of options in the order of the help. The zero value is empty.
type Set struct{ all []*Option }

// Add adds an option. The current value is its default.
func (s *Set) Add(name, usage string, value Value) {
	s.all = append(s.all, &Option{Name: name, Usage: usage, value: value})
}

// AddLimit adds an option that is a limit.
func (s *Set) AddLimit(name, usage string, value Value) {
	s.all = append(s.all, &Option{Name: name, Usage: usage, Limit: true, value: value})
}

// All returns the options.
func (s *Set) All() []*Option { return s.all }

// Lookup returns the option of a name, or nil.
func (s *Set) Lookup(name string) *Option {
	if i := slices.IndexFunc(s.all, func(o *Option) bool { return o.Name == name }); i >= 0 {
		return s.all[i]
	}
	return nil
}

// Text returns the value of an option, or "" if there is none of that name.
func (s *Set) Text(name string) string {
	if o := s.Lookup(name); o != nil {
		return o.String()
	}
	return ""
}

// Given reports whether an option of this name was set.
func (s *Set) Given(name string) bool {
	o := s.Lookup(name)
	return o != nil && o.given
}

// Errors of setting an option, in an [Error].
var (
	ErrUnknown = errors.New("no such option")
	ErrNotUTF8 = errors.New("it is not UTF-8") // which a plan, that is JSON, could not record as it is
	errLimit   = errors.New("it is a limit, which only the caller sets")
)

// An Error reports that an option could not be set.
type Error struct {
	Name string
	Text string // the refused value
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

// SetKept sets an option of a plan or a specification. It refuses limits.
func (s *Set) SetKept(name, text string) error {
	if o := s.Lookup(name); o != nil && o.Limit {
		return &Error{name, text, errLimit}
	}
	return s.Set(name, text)
}

// CopyTo sets the options of another set of the same options to the values that were set in s.
func (s *Set) CopyTo(to *Set) error {
	for _, o := range s.all {
		if !o.given {
			continue
		}
		if err := to.Set(o.Name, o.String()); err != nil {
			return err
		}
	}
	return nil
}

// Kept returns the options for a plan: all that were set, without limits. It returns nil if there are
// none.
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
