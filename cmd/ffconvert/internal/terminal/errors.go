package terminal

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/internal/text"
)

// maxErrorLines is the most errors that are printed; the others are counted.
const maxErrorLines = 20

// PrintError prints an error on standard error, or each of the errors that were joined: as a line, or as an event if mode, the
// value of --progress, is json. status is the exit status of the process.
func PrintError(err error, status int, mode string, paint Paint) {
	lines := errorLines(err)
	if more := len(lines) - maxErrorLines; more > 0 {
		lines = append(lines[:maxErrorLines], fmt.Sprintf("and %d more", more))
	}
	for _, line := range lines {
		if mode == "json" {
			WriteEvent(os.Stderr, "error", errorEvent{status, line})
		} else {
			fmt.Fprintln(os.Stderr, paint.Head("ffconvert: "+line, paint.Bad))
		}
	}
}

// errorLines returns the lines of an error: one for each of the errors that were joined, equal ones once, with control
// characters and newlines escaped.
func errorLines(err error) []string {
	if inner := errors.Unwrap(err); inner != nil && inner.Error() == err.Error() {
		return errorLines(inner)
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var lines, texts []string
		for _, e := range joined.Unwrap() {
			texts = append(texts, e.Error())
			for _, line := range errorLines(e) {
				if !slices.Contains(lines, line) {
					lines = append(lines, line)
				}
			}
		}
		if strings.Join(texts, "\n") == err.Error() {
			return lines
		}
	}
	return []string{text.Line(ErrorText(err))}
}

// Plain returns an error with the text of err on one line, with control characters escaped.
func Plain(err error) error {
	if err == nil {
		return nil
	}
	return WithText(err, text.Line(ErrorText(err)))
}

// WithText returns an error that wraps err and has another text.
func WithText(err error, text string) error { return &reworded{err, text} }

type reworded struct {
	error
	text string
}

func (e *reworded) Error() string { return e.text }
func (e *reworded) Unwrap() error { return e.error }
