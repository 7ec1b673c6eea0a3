package plan

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/ffconvert/ffconvert/converters"
)

// ErrorChanged returns the error of a source that changed since it was planned.
func ErrorChanged(name, how string) error {
	return &converters.Error{Where: name, Off: -1, Err: fmt.Errorf("%w: %s", converters.ErrChanged, how), Hint: StartAnew}
}

// startAnew is what can be done where a source has changed.
const StartAnew = "--overwrite starts anew"

// ForTask says what a task can do about an error of a source that has changed, which cannot
// start anew by itself.
func ForTask(err error) error {
	if e, ok := errors.AsType[*converters.Error](err); ok && e.Hint == StartAnew {
		e.Hint = "put it back, or plan anew with --overwrite"
	}
	return err
}

// Changed says how a part has changed since a plan had it.
func (p Part) Changed(is Part) error {
	was := p
	was.Account.Seen, is.Account.Seen, is.Modified, was.Modified = nil, nil, 0, 0
	switch {
	case reflect.DeepEqual(was, is):
		return nil
	case was.Size != is.Size:
		return ErrorChanged(is.Name, fmt.Sprintf("it had %d bytes when its conversion was begun, it has %d", was.Size, is.Size))
	case was.Account.Samples != is.Account.Samples:
		return ErrorChanged(is.Name, fmt.Sprintf("it had %d samples when its conversion was begun, it has %d", was.Account.Samples, is.Account.Samples))
	}
	return ErrorChanged(is.Name, "it had other samples when its conversion was begun")
}
