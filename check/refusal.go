package check

import (
	"errors"
	"io/fs"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/findings"
)

// Refusal makes a finding of the error that a source, or an input, is refused with. file is
// its place where the error names none.
func Refusal(err error, file string) findings.Finding {
	f := findings.Finding{Place: findings.Place{File: file, Offset: -1}}
	if at, ok := errors.AsType[*converters.Error](err); ok {
		f.Place = findings.Place{File: at.Part, Offset: at.Off, Entry: at.Entry}
		f.Hint, err = at.Hint, at.Err
	}
	f.Rule, f.Text = RuleOf(err), err.Error()
	return f
}

// RuleOf returns the rule of an error of a source, by its sentinel.
func RuleOf(err error) string {
	for _, kind := range kinds {
		if errors.Is(err, kind.err) {
			return kind.rule
		}
	}
	return Unreadable
}

var kinds = [...]struct {
	err  error
	rule string
}{
	{converters.ErrTruncated, Truncated},
	{converters.ErrMalformed, Malformed},
	{converters.ErrUnsupported, Unsupported},
	{converters.ErrDuplicate, Duplicate},
	{converters.ErrChanged, Changed},
	{converters.ErrLimit, Limit},
	{encode.ErrMissing, MissingField},
	{fs.ErrNotExist, Missing},
}
