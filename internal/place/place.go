// Package place has the one error that places a problem, and the kinds of problem that decide the
// exit status.
package place

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"syscall"

	"github.com/ffconvert/ffconvert/internal/text"
)

// An Error places a problem. It prints on one line: where, offset, entry, problem, what to do.
type Error struct {
	Where string // the part, input, file or URL, without secrets
	Off   int64  // byte offset in it, -1 where there is none
	Entry string // member, row, item or file in it; empty where there is none
	Err   error
	Hint  string // what to do about it; may be empty
	Kind  Kind   // None: the kind of Err, else Refused
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(text.Name(e.Where))
	if e.Off >= 0 {
		fmt.Fprintf(&b, ": offset %d", e.Off)
	}
	if e.Entry != "" {
		fmt.Fprintf(&b, ": %s", shown(e.Entry))
	}
	fmt.Fprintf(&b, ": %v", e.Err)
	if e.Hint != "" {
		fmt.Fprintf(&b, " (%s)", e.Hint)
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

// longestEntry is how many bytes of an entry are shown: the keys of a hostile input may have megabytes.
const longestEntry = 300

func shown(entry string) string {
	if len(entry) <= longestEntry {
		return strconv.Quote(entry)
	}
	return strconv.Quote(strings.ToValidUTF8(entry[:longestEntry], "")) + "…"
}

// An OptionsError is about options, which its text names as "option exact", so that a command line can print its flags
// instead. Hints name them so, too.
type OptionsError struct{ Err error } // Err has the text

func (e *OptionsError) Error() string { return e.Err.Error() }
func (e *OptionsError) Unwrap() error { return errors.Unwrap(e.Err) }

// Options returns an [OptionsError] with the text of [fmt.Errorf].
func Options(format string, args ...any) error { return &OptionsError{fmt.Errorf(format, args...)} }

// A Kind is what a problem means to the user of the program. Where an error wraps several, the later
// constant counts.
type Kind int

const (
	None       Kind = iota // an internal error
	Refused                // the input is missing, cut short, hostile, over a limit, or changed
	IO                     // the system failed: no space, no permission, a device, a network
	Usage                  // a mistake on the command line
	Unfinished             // shards of the plan, or the plan, are not there yet
	Corrupt                // bytes are not what was written
)

// A sentinel is an error that other errors wrap, and that has a kind.
type sentinel struct {
	kind Kind
	text string
}

// New returns an error of a kind, for others to wrap.
func New(kind Kind, text string) error { return &sentinel{kind, text} }

func (s *sentinel) Error() string   { return s.text }
func (s *sentinel) PlaceKind() Kind { return s.kind }

// KindOf returns the kind of an error: the latest of the kinds in its tree. An error of the operating
// system is [IO]; that a file which an [Error] places does not exist is [Refused], and so is an
// Error about which nothing else is known.
func KindOf(err error) Kind { return kindOf(err, false) }

func kindOf(err error, placed bool) Kind {
	kind := None
	switch e := err.(type) {
	case interface{ PlaceKind() Kind }:
		kind = e.PlaceKind()
	case *Error:
		if kind = e.Kind; kind == None {
			kind, placed = Refused, true
		}
	case syscall.Errno:
		if kind = IO; placed && errors.Is(e, fs.ErrNotExist) {
			kind = Refused
		}
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		kind = max(kind, kindOf(e.Unwrap(), placed))
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			kind = max(kind, kindOf(inner, placed))
		}
	}
	if err == fs.ErrNotExist {
		kind = Refused
	}
	return kind
}
