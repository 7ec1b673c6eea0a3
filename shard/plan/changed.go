package plan

import (
	"context"
	"errors"
	"fmt"
	"path"
	"reflect"

	"github.com/ffconvert/ffconvert/converters"
)

// ErrorChanged returns the error of a source that changed since it was planned.
func ErrorChanged(name, how string) error {
	return &converters.Error{Where: name, Off: -1, Err: fmt.Errorf("%w: %s", converters.ErrChanged, how), Hint: StartAnew}
}

// ErrorFiltered returns the error of a part of which a filter makes other samples than it did for the plan.
func ErrorFiltered(name string) error {
	return ErrorChanged(name, "the filter makes other samples of it than when it was planned: the file or the program has changed, or the program answers the same samples differently each time")
}

// CheckFiltered returns an error if a filter makes other samples of the part than it did for the plan.
func (p *Part) CheckFiltered(name string, is *converters.Filtered) error {
	if p.Filtered.other(&filtered{is.Bytes, is.Content}) {
		return ErrorFiltered(name)
	}
	return nil
}

// StartAnew is the hint of a source that has changed.
const StartAnew = "option overwrite starts anew"

// ForTask replaces the hint StartAnew of an error: a task cannot start anew.
func ForTask(err error) error {
	if e, ok := errors.AsType[*converters.Error](err); ok && e.Hint == StartAnew {
		e.Hint = "put it back, or plan anew with option overwrite"
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
	case was.Filtered.other(is.Filtered):
		return ErrorFiltered(is.Name)
	case was.Account.Samples != is.Account.Samples:
		return ErrorChanged(is.Name, fmt.Sprintf("it had %d samples when its conversion was begun, it has %d", was.Account.Samples, is.Account.Samples))
	}
	return ErrorChanged(is.Name, "it had other samples when its conversion was begun")
}

// CheckParts returns an error that says how parts differ from the planned parts.
func (p *Plan) CheckParts(ctx context.Context, parts []converters.Part, known *Contents) error {
	if len(parts) != len(p.Parts) {
		return fmt.Errorf("%w: the dataset was made of %d sources, %d were found", converters.ErrChanged, len(p.Parts), len(parts))
	}
	for i := range parts {
		was, is := &p.Parts[i], &parts[i]
		if path.Base(was.Name) != path.Base(KeptName(is.Name)) {
			return fmt.Errorf("%w: source %d was %q, here it is %q", converters.ErrChanged, i+1, was.Name, is.Name)
		}
		if err := was.sameContent(ctx, is, known); err != nil {
			return err
		}
		if (is.Path != "" || p.Whole) && was.Size != is.Size && was.Account.Unread == 0 {
			return ErrorChanged(is.Name, fmt.Sprintf("it had %d bytes when it was converted, it has %d", was.Size, is.Size))
		}
	}
	return nil
}
