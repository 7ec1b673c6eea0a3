package cliflag

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/option"
	"github.com/ffconvert/ffconvert/internal/stage"
	"github.com/ffconvert/ffconvert/record"
)

// Legacy follows [record.ErrLegacy] in the commands that have the flag.
const Legacy = "; --allow-legacy accepts it"

// Hint adds to an error, or to each of the errors that were joined, the flags and commands that help: libraries know none.
func Hint(err error, command, out string) error {
	return each(err, func(err error) error {
		if opt, ok := errors.AsType[*option.Error](err); ok && opt.Error() == err.Error() {
			return terminal.WithText(err, option.Flag(opt.Name)+strings.TrimPrefix(err.Error(), opt.Name))
		}
		if empty, ok := errors.AsType[*convert.EmptyError](err); ok {
			return withReasons(empty)
		}
		switch {
		case errors.Is(err, record.ErrLegacy):
			return fmt.Errorf("%w%s", err, Legacy)
		case errors.Is(err, dataset.ErrNotDirectory) && (command == "run" || command == "repair"):
			return fmt.Errorf("%w; OUT is the first argument", err)
		case errors.Is(err, dataset.ErrNotDirectory) && command == "convert":
			return fmt.Errorf("%w; OUT is the last argument", err)
		case errors.Is(err, dataset.ErrNotEmpty) && command == "convert":
			return fmt.Errorf("%w; OUT is the last argument (--into-nonempty: put the dataset among the files there)", err)
		}
		if in, ok := strings.CutSuffix(err.Error(), ")"); ok && errors.Is(err, stage.ErrCopy) {
			return terminal.WithText(err, in+"; --cache-dir names their directory)")
		}
		if full := errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT); full && convert.IsURL(out) && !strings.HasSuffix(err.Error(), ")") {
			return withHint(err, "free space there, or name another directory: --bucket scratch-dir")
		}
		return err
	})
}

// withHint adds a hint at the end, after a hint that the error has already.
func withHint(err error, hint string) error {
	if strings.HasSuffix(err.Error(), ")") {
		return fmt.Errorf("%w; %s", err, hint)
	}
	return fmt.Errorf("%w (%s)", err, hint)
}

// each applies f to an error, or to each of the errors that were joined.
func each(err error, f func(error) error) error {
	joined, ok := err.(interface{ Unwrap() []error })
	switch {
	case err == nil:
		return nil
	case !ok || errors.Join(joined.Unwrap()...).Error() != err.Error():
		return f(err)
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, each(e, f))
	}
	return errors.Join(all...)
}

// OverLimit adds the names of flags to an error of package record about a limit.
func OverLimit(err error, flags string) error {
	if errors.Is(err, record.ErrTooLarge) {
		return fmt.Errorf("%w (%s)", err, flags)
	}
	return err
}
