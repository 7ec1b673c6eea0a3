package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/summary"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/convert/option"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/input/remote"
	"github.com/ffconvert/ffconvert/input/stage"
)

// hints are the flags and commands that help against an error. Libraries return an Advice, because
// they know no flags. COMMAND and OUT are replaced by the command and the directory of the run.
var hints = map[convert.Advice]string{
	convert.MoreRoomForOne:    "raise --cache-size, or make more shards, by --shards or --shard-size, where it has several parts",
	convert.DirectoryForCache: "name a directory that can be written to with --cache-dir",
	convert.NotAligned:        "leave --whole-parts out; --exact cuts at samples",
	convert.FewerInputs:       "--max-names",
	convert.NamedSources:      "run it where the conversion was planned, or name the sources: ffconvert COMMAND OUT SOURCE",
	convert.ProgramArguments:  "to run a plugin again, name it and its arguments: ffconvert COMMAND --plugin NAME OUT ARGS",
	convert.APlan:             "ffconvert plan makes one",
	convert.VerifyOrPlan:      "ffconvert verify OUT checks the dataset, the command that made it writes the plan anew",
}

// remoteHints are the flags that help if an object cannot be read.
var remoteHints = map[remote.Advice]string{
	remote.SetEndpoint:    "is the endpoint right? see --s3-endpoint, AWS_ENDPOINT_URL_S3",
	remote.SetRegion:      "see --s3-region, AWS_REGION",
	remote.SetProfile:     "see --s3-profile, AWS_PROFILE, ~/.aws/config",
	remote.SetAnonymous:   "--anonymous for a public bucket",
	remote.UnsetAnonymous: "without --anonymous the credentials of the environment are used",
}

// hintLegacy follows [record.ErrLegacy] in the commands that have the flag.
const hintLegacy = "; --allow-legacy accepts it"

// remoteHint returns the entry of remoteHints for an error, or "".
func remoteHint(err error) string {
	if e, ok := errors.AsType[*remote.Error](err); ok {
		return remoteHints[e.Advice]
	}
	return ""
}

// hinted adds its hint to an error, or to each of the errors that were joined.
func hinted(err error, command, out string) error {
	return eachError(err, func(err error) error {
		if opt, ok := errors.AsType[*option.Error](err); ok && opt.Error() == err.Error() {
			return fmt.Errorf("--%w", err)
		}
		if hint := remoteHint(err); hint != "" {
			return besideHint(err, hint)
		}
		if errors.Is(err, dataset.ErrNotDirectory) && (command == "run" || command == "repair") {
			return fmt.Errorf("%w; OUT is the first argument", err)
		}
		if errors.Is(err, stage.ErrCopy) {
			return besideHint(err, "--cache-dir names their directory")
		}
		at, ok := errors.AsType[*convert.AdvisedError](err)
		if !ok || hints[at.Advice] == "" {
			return err
		}
		return withHint(err, strings.NewReplacer("COMMAND", command, "OUT", out).Replace(hints[at.Advice]))
	})
}

// withHint adds a hint at the end, after a hint that the error has already.
func withHint(err error, hint string) error {
	if strings.HasSuffix(err.Error(), ")") {
		return fmt.Errorf("%w; %s", err, hint)
	}
	return fmt.Errorf("%w (%s)", err, hint)
}

// besideHint adds a hint inside the brackets at the end of an error, or makes such brackets.
func besideHint(err error, hint string) error {
	if text, ok := strings.CutSuffix(err.Error(), ")"); ok {
		return terminal.WithText(err, text+"; "+hint+")")
	}
	return withHint(err, hint)
}

// hint adds hints to the errors of a conversion.
func (c *conversion) hint(err error) error {
	return hinted(eachError(err, func(err error) error {
		at, ok := errors.AsType[*convert.AdvisedError](err)
		switch {
		case ok && at.Advice == convert.MoreRoomForAll:
			return withHint(err, c.moreRoom())
		case errors.Is(err, dataset.ErrNotDirectory):
			return fmt.Errorf("%w; OUT is the last argument", err)
		case errors.Is(err, dataset.ErrNotEmpty):
			return fmt.Errorf("%w; OUT is the last argument (--into-nonempty: put the dataset among the files there)", err)
		}
		if empty, ok := errors.AsType[*convert.EmptyError](err); ok {
			return explainEmpty(empty)
		}
		return err
	}), "convert", c.Out)
}

// moreRoom is the hint if the cache is too small for all parts together.
func (c *conversion) moreRoom() string {
	bySlice, orNot := "ffconvert plan "+c.formatName(), ""
	if c.opts.exact {
		bySlice, orNot = bySlice+" --exact", " leave --exact out,"
	}
	bySlice += " --task K/N …"
	switch {
	case c.opts.shuffle:
		return "raise --cache-size: --shuffle wants all parts here at once"
	case c.Choice.Ordered() || c.Choice.Sort != "":
		return "raise --cache-size: --limit, --slice and --sort want all parts here at once"
	case c.planning == nil:
		return "raise --cache-size," + orNot + " or plan a slice at a time: " + bySlice + ", for each K, then plan and run without --task"
	case c.planning.task == "":
		return "raise --cache-size, or index a slice at a time: " + bySlice + ", for each K from 0 to N-1, then this command again"
	}
	return "raise --cache-size, or take a larger N: --task K/N"
}

// formatName returns the name of the format's command.
func (c *conversion) formatName() string {
	if c.Mixture != nil {
		return convert.SpecFormat
	}
	return c.Reader.Name
}

// explainEmpty adds to the error of a dataset without samples why its entries were skipped.
func explainEmpty(e *convert.EmptyError) error {
	var why []string
	if e.LeftOut > 0 {
		why = append(why, "left out "+terminal.Counted(e.LeftOut, "sample")+" without a field, by --missing skip")
	}
	if len(e.NotChosen) > 0 {
		why = append(why, "left out "+summary.LeftOutText(e.NotChosen))
	}
	rest := make(map[string]int64)
	for reason, n := range e.Skipped {
		rest[reason] = n
	}
	for _, row := range whyEmpty {
		if n := rest[row.reason]; n > 0 {
			why = append(why, terminal.Counted(n, row.noun)+" "+row.text)
			delete(rest, row.reason)
		}
	}
	if len(rest) > 0 {
		why = append(why, "skipped "+summary.SkippedText(rest))
	}
	if why == nil {
		return e
	}
	return fmt.Errorf("%w: %s", e, strings.Join(why, "; "))
}

// whyEmpty explains reasons of skipping, and what to do about them.
var whyEmpty = []struct{ reason, noun, text string }{
	{"file outside a class", "file", "outside a class, which is a directory of files: --flat makes a record of each file"},
	{"extension not selected", "file", "of other suffixes than --ext selects"},
	{"name without key", "member", "without a key: a name has a dot behind its key, as 0001.jpg has"},
	{"header line", "header", "and no rows"},
}

// eachError applies f to an error, or to each of the errors that were joined.
func eachError(err error, f func(error) error) error {
	joined, ok := err.(interface{ Unwrap() []error })
	switch {
	case err == nil:
		return nil
	case !ok || errors.Join(joined.Unwrap()...).Error() != err.Error():
		return f(err)
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, eachError(e, f))
	}
	return errors.Join(all...)
}
