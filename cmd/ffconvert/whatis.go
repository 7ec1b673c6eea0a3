package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/check"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/convert/format"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/findings"
	"github.com/ffconvert/ffconvert/input"
	"github.com/ffconvert/ffconvert/input/kind"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A purpose is what a command does with its sources.
type purpose bool

const (
	converting purpose = false
	checking   purpose = true
)

// command returns the command line for a source. name is quoted for a shell.
func (p purpose) command(format string, flags []string, name string) string {
	words := append([]string{"ffconvert", format}, terminal.ShellWords(flags)...)
	if p == converting {
		return strings.Join(append(words, name, "OUT"), " ")
	}
	words = slices.Insert(words, 1, "check")
	if at := slices.Index(words, "--format"); at > 0 {
		words[at] = "--" + inputFormatFlag
	}
	return strings.Join(append(words, name), " ")
}

// howTo returns the hint for an input of a kind.
func (p purpose) howTo(k kind.Kind, path string) string {
	name := terminal.ShellWord(path)
	switch {
	case k.Format != "":
		return p.command(k.Format, k.Flags, name)
	case k.ID == "empty":
		return ""
	case k.ID == "dataset", k.ID == "ffrecord":
		return "ffconvert verify " + name + ", ffconvert inspect " + name
	case k.ID == "image", k.ID == "audio", k.ID == "video", k.ID == "pdf":
		return p.command("folder", []string{"--flat"}, terminal.ShellWord(filepath.Dir(path))) + " takes the directory it is in"
	case k.ID == "archive" && p == checking:
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
	case k.ID == "markup":
		return ""
	}
	return "a Python program that reads it can pipe it: python examples/dump.py MODULE:DATASET | " + p.command("cbor", nil, "-")
}

// whatIs returns what an input of another kind is, with its hint if there is one.
func (p purpose) whatIs(k kind.Kind, path string) string {
	what := "it is " + k.What
	if how := p.howTo(k, path); how != "" {
		what += ": " + how
	}
	return what
}

// notShards rewrites the error of opening shards: a path that does not exist is a missing input, and a
// file of another kind is named, not called a damaged shard.
func notShards(path string, err error) error {
	fi, at := os.Stat(path)
	switch {
	case errors.Is(at, os.ErrNotExist):
		return fmt.Errorf("%s: %w", path, input.ErrNotFound)
	case at == nil && fi.IsDir() && errors.Is(err, os.ErrNotExist) && !namesShards(path):
		return fmt.Errorf("%s: %w", path, errNoShards)
	case at != nil || fi.IsDir():
		return err
	}
	found := format.Kinds(path)
	if !errors.Is(err, record.ErrCorrupt) || len(found) != 1 || found[0].ID == "ffrecord" || !found[0].Sure && !isText(path, found[0]) {
		return err
	}
	return &converters.Error{Where: path, Off: -1, Err: fmt.Errorf("not an FFRecord file: %w %s", format.ErrAnotherKind, found[0].What), Hint: converting.howTo(found[0], path)}
}

// namesShards reports whether a directory has a name that readers take for a shard.
func namesShards(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err == nil && slices.ContainsFunc(entries, func(e os.DirEntry) bool { return strings.HasSuffix(e.Name(), record.Ext) })
}

// isText reports whether a file that is not named as a shard is text. A damaged shard may look like
// text: its name decides.
func isText(path string, k kind.Kind) bool {
	return !strings.HasSuffix(path, record.Ext) && slices.Contains([]string{"csv", "text", "json"}, k.ID)
}

// explain adds to the errors of inputs that the format does not read what kind of input they are.
func (c *conversion) explain(err error) error {
	if c.Mixture != nil || c.Program != nil {
		return err
	}
	return eachError(err, c.explainOne)
}

func (c *conversion) explainOne(err error) error {
	if at, ok := errors.AsType[*format.KindError](err); ok {
		return c.kindHint(err, at)
	}
	path := c.refusedPath(err)
	k, ok := c.Reader.Another(path)
	switch {
	case path == "" || !ok || errors.Is(err, format.ErrAnotherKind):
		return err
	case k.ID == "empty":
		return fmt.Errorf("%w; it is %s", err, k.What)
	case isDirectory(path): // the kind replaces the error about an entry
		at := &format.KindError{Format: c.Reader.Name, Kind: k}
		return c.kindHint(&converters.Error{Where: path, Off: -1, Err: at}, at)
	}
	return fmt.Errorf("%w; %s", err, c.purpose.whatIs(k, path))
}

// kindHint adds to the error of an input of another kind which command reads it.
func (c *conversion) kindHint(err error, at *format.KindError) error {
	if placed, ok := errors.AsType[*converters.Error](err); ok && placed.Hint == "" {
		placed.Hint = c.purpose.howTo(at.Kind, placed.Where)
	}
	return err
}

// refusedPath returns the input of an error that may be due to its kind; else "".
func (c *conversion) refusedPath(err error) string {
	path := ""
	if at, ok := errors.AsType[*converters.Error](err); ok {
		path = at.Where
	}
	if at, ok := errors.AsType[*input.Error](err); ok {
		path = at.Where
	}
	if errors.Is(err, plan.ErrEmpty) && len(c.Sources) == 1 {
		return c.Sources[0]
	} else if !refusesContent(err) || path == c.Reader.Set.Text("classes") || path == c.Reader.Set.Text("list") { // not an input
		return ""
	}
	return path
}

func isDirectory(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.IsDir()
}

// explainFindings does the same as explain for the first error of each file in a report.
func (c *conversion) explainFindings(r *findings.Report) {
	done := make(map[string]bool)
	for i := range r.Found {
		f := &r.Found[i]
		if done[f.Place.File] || !slices.Contains(rulesOfContent, f.Rule) {
			continue
		}
		done[f.Place.File] = true
		k, ok := c.Reader.Another(f.Place.File)
		switch {
		case !ok || strings.Contains(f.Text, format.ErrAnotherKind.Error()):
		case k.ID == "empty":
			f.Text += "; it is " + k.What
		case isDirectory(f.Place.File):
			f.Text, f.Hint = (&format.KindError{Format: c.Reader.Name, Kind: k}).Error(), c.purpose.howTo(k, f.Place.File)
		default:
			f.Text += "; " + c.purpose.whatIs(k, f.Place.File)
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
