package plan

import (
	"context"
	"errors"
	"fmt"
	"path"
	"reflect"

	"github.com/ffconvert/ffconvert/converters"
)

// ErrorChanged returns the error for a source that changed after it was planned.
func ErrorChanged(name, how string) error {
	return &converters.Error{Where: name, Off: -1, Err: fmt.Errorf("%w: %s", converters.ErrChanged, how), Hint: StartAnew}
}

// ErrorFiltered returns the error for a part whose filtered samples differ from the planned ones.
func ErrorFiltered(name string) error {
	return ErrorChanged(name, "the filter makes other samples of it than when it was planned: the file or the program has changed, or the program answers the same samples differently each time")
}

// CheckFiltered returns an error if the filter's samples of the part differ from the planned ones.
func (p *Part) CheckFiltered(name string, found *converters.Filtered) error {
	if p.Filtered.other(&filtered{found.Bytes, found.Content}) {
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

// Changed returns an error that names the difference between the planned part p and the part found.
func (p Part) Changed(found Part) error {
	planned := p
	planned.Account.Seen, found.Account.Seen, found.Modified, planned.Modified = nil, nil, 0, 0
	switch {
	case reflect.DeepEqual(planned, found):
		return nil
	case planned.Size != found.Size:
		return ErrorChanged(found.Name, fmt.Sprintf("it had %d bytes when its conversion was begun, it has %d", planned.Size, found.Size))
	case planned.Filtered.other(found.Filtered):
		return ErrorFiltered(found.Name)
	case planned.Account.Samples != found.Account.Samples:
		return ErrorChanged(found.Name, fmt.Sprintf("it had %d samples when its conversion was begun, it has %d", planned.Account.Samples, found.Account.Samples))
	}
	return ErrorChanged(found.Name, "it had other samples when its conversion was begun")
}

// CheckParts returns an error that names the difference between parts and the planned parts.
func (p *Plan) CheckParts(ctx context.Context, parts []converters.Part, known *Contents) error {
	if len(parts) != len(p.Parts) {
		return fmt.Errorf("%w: the dataset was made of %d sources, %d were found", converters.ErrChanged, len(p.Parts), len(parts))
	}
	for i := range parts {
		planned, found := &p.Parts[i], &parts[i]
		if path.Base(planned.Name) != path.Base(KeptName(found.Name)) {
			return fmt.Errorf("%w: source %d was %q, here it is %q", converters.ErrChanged, i+1, planned.Name, found.Name)
		}
		if err := planned.sameContent(ctx, found, known); err != nil {
			return err
		}
		if (found.Path != "" || p.Whole) && planned.Size != found.Size && planned.Account.Unread == 0 {
			return ErrorChanged(found.Name, fmt.Sprintf("it had %d bytes when it was converted, it has %d", planned.Size, found.Size))
		}
	}
	return nil
}
