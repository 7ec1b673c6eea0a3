package cliflag

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/convert/format"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/check"
	"github.com/ffconvert/ffconvert/internal/findings"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/text"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A Purpose is what a command does with its sources.
type Purpose bool

const (
	converting Purpose = false
	Checking   Purpose = true
)

// InputFormatFlag is the name that check gives to --format of a source format, because --format
// chooses the form of its report.
const InputFormatFlag = "input-format"

// command returns the command line for a source. name is quoted for a shell.
func (p Purpose) command(format string, flags []string, name string) string {
	words := append([]string{"ffconvert", format}, text.ShellWords(flags)...)
	if p == converting {
		return strings.Join(append(words, name, "OUT"), " ")
	}
	words = slices.Insert(words, 1, "check")
	if at := slices.Index(words, "--format"); at > 0 {
		words[at] = "--" + InputFormatFlag
	}
	return strings.Join(append(words, name), " ")
}

// HowTo returns the hint for an input of a kind.
func (p Purpose) HowTo(k input.Kind, path string) string {
	name := text.ShellWord(path)
	switch {
	case k.Format != "":
		return p.command(k.Format, k.Flags, name)
	case k.ID == "empty", k.ID == "markup":
		return ""
	case k.ID == "mds-directories":
		return p.command("mds", nil, text.ShellWord(strings.TrimSuffix(path, "/")+"/*/"))
	case k.ID == "arrow-directories":
		return p.command("arrow", nil, text.ShellWord(strings.TrimSuffix(path, "/")+"/SPLIT"))
	case k.ID == "dataset", k.ID == "ffrecord":
		return "ffconvert verify " + name + ", ffconvert inspect " + name
	case k.ID == "image", k.ID == "audio", k.ID == "video", k.ID == "pdf":
		return p.command("folder", []string{"--flat"}, text.ShellWord(filepath.Dir(path))) + " takes the directory it is in"
	case k.ID == "archive" && p == Checking:
		return "unpack it, and check the directory: " + p.command("folder", nil, "DIR")
	case k.ID == "archive":
		return "unpack it, and convert the directory: " + p.command("folder", nil, "DIR")
	case k.ID == "compressed":
		return "decompress it, or recompress it as xz or zstd"
	case k.ID == "encoded":
		return "write it in UTF-8, such as by iconv -f LATIN1 -t UTF-8"
	case k.ID == "yaml":
		return "ffconvert spec " + name + " OUT, where it names collections"
	case k.ID == "text":
		return p.command("csv", nil, name) + " if its lines are rows of a table"
	}
	return "a Python program that reads it can write it: ffconvert.convert(SAMPLES, \"OUT\")"
}

// whatIs returns what an input of another kind is, with its hint if there is one.
func (p Purpose) whatIs(k input.Kind, path string) string {
	what := "it is " + k.What
	if how := p.HowTo(k, path); how != "" {
		what += ": " + how
	}
	return what
}

// HintKind adds to the errors of inputs that the format of r does not read what kind of input they are. sources
// are the names on the command line.
func HintKind(err error, p Purpose, r *format.Reader, sources []string) error {
	return each(err, func(err error) error {
		if at, ok := errors.AsType[*format.KindError](err); ok {
			if placed, ok := errors.AsType[*converters.Error](err); ok && placed.Hint == "" {
				placed.Hint = p.HowTo(at.Kind, placed.Where)
			}
			return err
		}
		path := refusedPath(err, r, sources)
		k, ok := r.Another(path)
		switch {
		case path == "" || !ok || errors.Is(err, format.ErrAnotherKind):
			return err
		case isDirectory(path) && k.ID != "empty": // the kind replaces the error about an entry
			return &converters.Error{Where: path, Off: -1, Err: &format.KindError{Format: r.Name, Kind: k}, Hint: p.HowTo(k, path)}
		}
		return fmt.Errorf("%w; %s", err, p.whatIs(k, path))
	})
}

// refusedPath returns the input of an error that may be due to its kind; else "".
func refusedPath(err error, r *format.Reader, sources []string) string {
	path := ""
	if at, ok := errors.AsType[*place.Error](err); ok {
		path = at.Where
	}
	if errors.Is(err, plan.ErrEmpty) && len(sources) == 1 {
		return sources[0]
	} else if !refusesContent(err) || path == r.Set.Text("classes") || path == r.Set.Text("list") || isTable(path, r) || r.Name == "mds" && filepath.Base(path) == "index.json" || r.Name == "arrow" && filepath.Base(path) == "state.json" { // not an input
		return ""
	}
	return path
}

// isTable reports whether a path is a table of --add-field.
func isTable(path string, r *format.Reader) bool {
	for field := range strings.SplitSeq(r.Set.Text("add-field"), ",") {
		if _, file, _ := strings.Cut(field, "="); file == path {
			return true
		}
	}
	return false
}

func isDirectory(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.IsDir()
}

// HintFindings does the same as HintKind for the first error of each file in a report.
func HintFindings(report *findings.Report, p Purpose, r *format.Reader) {
	done := make(map[string]bool)
	for i := range report.Found {
		f := &report.Found[i]
		if done[f.Place.File] || !slices.Contains(rulesOfContent, f.Rule) {
			continue
		}
		done[f.Place.File] = true
		k, ok := r.Another(f.Place.File)
		switch {
		case !ok || strings.Contains(f.Text, format.ErrAnotherKind.Error()):
		case isDirectory(f.Place.File) && k.ID != "empty":
			f.Text, f.Hint = (&format.KindError{Format: r.Name, Kind: k}).Error(), p.HowTo(k, f.Place.File)
		default:
			f.Text += "; " + p.whatIs(k, f.Place.File)
		}
	}
}

// rulesOfContent are the rules that an input of another kind may break.
var rulesOfContent = []string{check.Malformed, check.Truncated, check.Unsupported, check.Limit, check.Duplicate, check.Missing, check.EmptyDataset}

// refusesContent reports whether an error may be due to the kind of the input.
func refusesContent(err error) bool {
	for _, kind := range []error{
		converters.ErrMalformed, converters.ErrTruncated, converters.ErrUnsupported, converters.ErrLimit, converters.ErrDuplicate,
		input.ErrNotDirectory, input.ErrNotRegular, input.ErrNoMatch, os.ErrNotExist,
	} {
		if errors.Is(err, kind) && !errors.Is(err, input.ErrNotFound) {
			return true
		}
	}
	return false
}
