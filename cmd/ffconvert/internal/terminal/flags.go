package terminal

import (
	"strings"

	"github.com/ffconvert/ffconvert/internal/option"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/store"
	"github.com/ffconvert/ffconvert/internal/text"
)

var optionName = text.Pattern(`\boption [a-z][a-z0-9-]*`)

// Flags returns the text of a library with flags. Libraries do not know flags: they write "option NAME".
func Flags(text string) string {
	return optionName().ReplaceAllStringFunc(text, func(name string) string { return option.Flag(name[len("option "):]) })
}

// ErrorText returns the text of an error with the flags of the options that it names.
func ErrorText(err error) string { return replaceHints(err.Error(), err) }

func replaceHints(s string, err error) string {
	hint := ""
	switch e := err.(type) {
	case *place.Error:
		hint = e.Hint
	case *store.Error:
		hint = e.Hint
	case *place.OptionsError:
		before, within, after := e.Error(), "", ""
		if inner := e.Unwrap(); inner != nil {
			within = inner.Error()
			before, after, _ = strings.Cut(before, within)
		}
		s = strings.Replace(s, e.Error(), Flags(before)+within+Flags(after), 1)
	}
	if hint != "" {
		s = strings.Replace(s, "("+hint, "("+Flags(hint), 1)
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			s = replaceHints(s, inner)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			s = replaceHints(s, inner)
		}
	}
	return s
}
