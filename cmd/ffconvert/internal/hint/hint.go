// Package hint says which error gets which advice: it knows the flags and commands that help, and the
// libraries do not.
package hint

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/convert/option"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/stage"
	"github.com/ffconvert/ffconvert/internal/store"
	"github.com/ffconvert/ffconvert/internal/text"
	"github.com/ffconvert/ffconvert/record"
)

// hints are the flags and commands that help against an error. Libraries return an Advice, because
// they know no flags. COMMAND and OUT are replaced by the command and the directory of the run.
var hints = map[convert.Advice]string{
	convert.MoreRoomForOne:    "raise --cache-size, or make more shards, by --shards or --shard-size, where it has several parts",
	convert.DirectoryForCache: "name a directory that can be written to with --cache-dir",
	convert.NotAligned:        "leave --whole-parts out; --exact cuts at samples",
	convert.FewerInputs:       "--max-names",
	convert.NamedSources:      "run it where the conversion was planned, or name the sources: ffconvert COMMAND OUT SOURCE",
	convert.TheFilter:         "give it again with --filter",
	convert.ProgramArguments:  "to run a plugin again, name it and its arguments: ffconvert COMMAND --plugin NAME OUT ARGS",
	convert.APlan:             "ffconvert plan makes one",
	convert.TheCopy:           "the same ffconvert copy goes on",
	convert.TheExport:         "the same ffconvert export goes on",
	convert.VerifyOrPlan:      "ffconvert verify OUT checks the dataset, the command that made it writes the plan anew",
}

// remoteHints are the flags that help if an object cannot be read.
var remoteHints = map[store.Advice]string{
	store.SetEndpoint:    "is the endpoint right? see --s3-endpoint, AWS_ENDPOINT_URL_S3",
	store.SetRegion:      "see --s3-region, AWS_REGION",
	store.SetProfile:     "see --s3-profile, AWS_PROFILE, ~/.aws/config",
	store.SetAnonymous:   "--anonymous for a public bucket",
	store.UnsetAnonymous: "without --anonymous the credentials of the environment are used",
}

// Legacy follows [record.ErrLegacy] in the commands that have the flag.
const Legacy = "; --allow-legacy accepts it"

// Remote returns the entry of remoteHints for an error, or "".
func Remote(err error) string {
	if e, ok := errors.AsType[*store.Error](err); ok {
		return remoteHints[e.Advice]
	}
	return ""
}

// Add adds its hint to an error, or to each of the errors that were joined.
func Add(err error, command, out string) error {
	return Each(err, func(err error) error {
		if opt, ok := errors.AsType[*option.Error](err); ok && opt.Error() == err.Error() {
			return fmt.Errorf("--%w", err)
		}
		if hint := Remote(err); hint != "" {
			return beside(err, hint)
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
		if errors.Is(err, stage.ErrCopy) {
			return beside(err, "--cache-dir names their directory")
		}
		if full := errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT); full && convert.IsURL(out) && !strings.HasSuffix(err.Error(), ")") {
			return With(err, "free space there, or name another directory: --scratch-dir")
		}
		at, ok := errors.AsType[*convert.AdvisedError](err)
		if !ok || hints[at.Advice] == "" {
			return err
		}
		return With(err, strings.NewReplacer("COMMAND", command, "OUT", text.ShellWord(out)).Replace(hints[at.Advice]))
	})
}

// With adds a hint at the end, after a hint that the error has already.
func With(err error, hint string) error {
	if strings.HasSuffix(err.Error(), ")") {
		return fmt.Errorf("%w; %s", err, hint)
	}
	return fmt.Errorf("%w (%s)", err, hint)
}

// beside adds a hint inside the brackets at the end of an error, or makes such brackets.
func beside(err error, hint string) error {
	if text, ok := strings.CutSuffix(err.Error(), ")"); ok {
		return terminal.WithText(err, text+"; "+hint+")")
	}
	return With(err, hint)
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
