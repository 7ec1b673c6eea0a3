// Package hint says which error gets which advice: it knows the flags and commands that help, and the
// libraries do not.
package hint

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/help"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/option"
	"github.com/ffconvert/ffconvert/internal/stage"
	"github.com/ffconvert/ffconvert/internal/text"
	"github.com/ffconvert/ffconvert/record"
)

// Legacy follows [record.ErrLegacy] in the commands that have the flag.
const Legacy = "; --allow-legacy accepts it"

// Add adds its hint to an error, or to each of the errors that were joined.
func Add(err error, command, out string) error {
	return Each(err, func(err error) error {
		if opt, ok := errors.AsType[*option.Error](err); ok && opt.Error() == err.Error() {
			return terminal.WithText(err, help.Flag(opt.Name)+strings.TrimPrefix(err.Error(), opt.Name))
		}
		if errors.Is(err, record.ErrLegacy) {
			return fmt.Errorf("%w%s", err, Legacy)
		}
		if errors.Is(err, dataset.ErrNotDirectory) && (command == "run" || command == "repair") {
			return fmt.Errorf("%w; OUT is the first argument", err)
		}
		if errors.Is(err, dataset.ErrNoSums) && command != "sign" {
			return With(err, "ffconvert sign --key KEY "+text.ShellWord(out)+" reads all files and adds them")
		}
		if in, ok := strings.CutSuffix(err.Error(), ")"); ok && errors.Is(err, stage.ErrCopy) {
			return terminal.WithText(err, in+"; --cache-dir names their directory)")
		}
		if full := errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT); full && convert.IsURL(out) && !strings.HasSuffix(err.Error(), ")") {
			return With(err, "free space there, or name another directory: --bucket scratch-dir")
		}
		at, ok := errors.AsType[*convert.AdvisedError](err)
		if !ok || at.Advice == convert.MoreRoomForAll {
			return err
		}
		return With(err, strings.NewReplacer("COMMAND", command, "OUT", text.ShellWord(out)).Replace(terminal.Flags(string(at.Advice))))
	})
}

// With adds a hint at the end, after a hint that the error has already.
func With(err error, hint string) error {
	if strings.HasSuffix(err.Error(), ")") {
		return fmt.Errorf("%w; %s", err, hint)
	}
	return fmt.Errorf("%w (%s)", err, hint)
}

// Each applies f to an error, or to each of the errors that were joined.
func Each(err error, f func(error) error) error {
	joined, ok := err.(interface{ Unwrap() []error })
	switch {
	case err == nil:
		return nil
	case !ok || errors.Join(joined.Unwrap()...).Error() != err.Error():
		return f(err)
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, Each(e, f))
	}
	return errors.Join(all...)
}

// Limit adds the names of flags to an error of package record about a limit.
func Limit(err error, flags string) error {
	if errors.Is(err, record.ErrTooLarge) {
		return fmt.Errorf("%w (%s)", err, flags)
	}
	return err
}
