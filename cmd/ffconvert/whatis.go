package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ffconvert/ffconvert/check"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/findings"
	"github.com/ffconvert/ffconvert/input"
	"github.com/ffconvert/ffconvert/input/kind"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/shard"
)

// whatIs tells what a local file or directory is: nothing where it cannot be read, or is not
// known.
func whatIs(path string) []kind.Kind {
	fi, err := os.Stat(path)
	switch {
	case err != nil:
		return nil
	case fi.IsDir():
		found, _ := kind.Directory(path)
		return found
	case !fi.Mode().IsRegular():
		return nil // reading it might wait
	}
	head, size, err := input.Head(path, kind.HeadSize)
	if err != nil {
		return nil
	}
	return kind.File(path, head, size)
}

// howTo is what to do with something of a kind.
func howTo(k kind.Kind, name string) string {
	name = shellWord(name)
	switch {
	case k.Format != "":
		return strings.Join(slices.Concat([]string{"ffconvert", k.Format}, shellWords(k.Flags), []string{name, "OUT"}), " ")
	case k.ID == "empty":
		return ""
	case k.ID == "dataset", k.ID == "ffrecord":
		return "ffconvert verify " + name + ", ffconvert inspect " + name
	case k.ID == "image", k.ID == "audio", k.ID == "video":
		return "ffconvert folder --flat " + shellWord(filepath.Dir(name)) + " OUT takes the directory it is in"
	case k.ID == "archive":
		return "unpack it, and convert the directory: ffconvert folder DIR OUT"
	case k.ID == "compressed":
		return "decompress it, or recompress it as xz or zstd"
	case k.ID == "yaml":
		return "ffconvert spec " + name + " OUT, where it names collections"
	case k.ID == "text", k.ID == "markup", k.ID == "pdf":
		return "ffconvert folder --flat DIR OUT makes a record of each file"
	}
	return "a Python program that reads it can pipe it: python examples/dump.py MODULE:DATASET | ffconvert cbor - OUT"
}

func shellWords(words []string) []string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = shellWord(w)
	}
	return quoted
}

// shellWord quotes a word of a command line where it needs that.
func shellWord(s string) string {
	switch {
	case plainText(s) != s:
		return strconv.Quote(s)
	case s == "" || strings.ContainsAny(s, " '\"\\$`;|&()<>{}[]*?!#~\n"):
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return s
}

// notShards is the error of opening shards at a path, for people: a path that does not exist is an
// input that is not there, and a file of another kind is named, not called a damaged shard.
func notShards(path string, err error) error {
	fi, at := os.Stat(path)
	switch {
	case errors.Is(at, os.ErrNotExist):
		return fmt.Errorf("%s: %w", path, input.ErrNotFound)
	case at != nil || fi.IsDir():
		return err
	}
	found := whatIs(path)
	if !errors.Is(err, record.ErrCorrupt) || len(found) != 1 || !found[0].Sure || found[0].ID == "ffrecord" {
		return err
	}
	return &converters.Error{Part: path, Off: -1, Err: fmt.Errorf("not an FFRecord file: %w %s", errAnotherKind, found[0].What), Hint: howTo(found[0], path)}
}

// flag is the value of a flag of the format, "" where it has none of that name.
func (c *conversion) flag(name string) string {
	if f := c.own.Lookup(name); f != nil {
		return f.Value.String()
	}
	return ""
}

// another tells what path is, where that is certainly nothing that the format reads as it is
// called.
func (c *conversion) another(path string) (kind.Kind, bool) {
	found := whatIs(path)
	for _, k := range found {
		if k.Format == c.format.name && (k.ID != "msgpack" || c.flag("format") == "msgpack") {
			return kind.Kind{}, false
		}
	}
	if len(found) != 1 || found[0].ID == "text" && c.format.name == "csv" {
		return kind.Kind{}, false
	}
	return found[0], true
}

// errAnotherKind begins what an input is that was refused by its kind.
var errAnotherKind = errors.New("it is")

// refuseOther refuses a dataset whose first part is certainly of another kind: a format without
// magic bytes might read it all the same, as CBOR reads a tar.
func (c *conversion) refuseOther(found []input.Name) error {
	if c.mix != nil || c.command != nil || c.format.plugin || len(found) == 0 || found[0].Path == "" || found[0].URL() != "" {
		return nil
	}
	if _, listed := formatNamed(c.format.name); !listed || c.flag("flat") == "true" {
		return nil
	}
	k, ok := c.another(found[0].Path)
	named := kind.Name(found[0].Path)
	if !ok || !k.Sure && (len(named) != 1 || named[0].ID != k.ID) {
		return nil
	}
	return &converters.Error{Part: found[0].Name, Off: -1, Err: fmt.Errorf("%w by %s: %w %s", converters.ErrUnsupported, c.format.name, errAnotherKind, k.What), Hint: howTo(k, found[0].Path)}
}

// explain adds to the error of an input what that is, where the format does not read such.
func (c *conversion) explain(err error) error {
	if c.mix != nil || c.format.plugin || err == nil {
		return err
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []error
		for _, e := range joined.Unwrap() {
			all = append(all, c.explain(e))
		}
		if text := errors.Join(joined.Unwrap()...).Error(); text == err.Error() {
			return errors.Join(all...)
		}
		return err
	}
	if what := c.explanation(err); what != "" && !errors.Is(err, errAnotherKind) {
		return fmt.Errorf("%w; %s", err, what)
	}
	return err
}

// explanation says what the input of an error is: "it is a tar: ffconvert tar a.tar OUT".
func (c *conversion) explanation(err error) string {
	path := ""
	if at, ok := errors.AsType[*converters.Error](err); ok {
		path = at.Part
	}
	if at, ok := errors.AsType[*input.Error](err); ok {
		path = at.Name
	}
	if errors.Is(err, shard.ErrEmpty) && len(c.names) == 1 {
		path = c.names[0]
	} else if !refusesContent(err) {
		return ""
	}
	return c.itIs(path)
}

// itIs says what path is, where the format does not read such; else it returns "".
func (c *conversion) itIs(path string) string {
	k, ok := c.another(path)
	switch {
	case !ok:
		return ""
	case k.ID == "empty":
		return "it is " + k.What
	}
	return "it is " + k.What + ": " + howTo(k, path)
}

// explainFindings adds to the first error of each file what the file is, where the format does
// not read such.
func (c *conversion) explainFindings(r *findings.Report) {
	done := make(map[string]bool)
	for i := range r.Found {
		f := &r.Found[i]
		if done[f.Place.File] || !slices.Contains(rulesOfContent, f.Rule) {
			continue
		}
		done[f.Place.File] = true
		if what := c.itIs(f.Place.File); what != "" && !strings.Contains(f.Text, errAnotherKind.Error()) {
			f.Text += "; " + what
		}
	}
}

// rulesOfContent are those that an input of another kind may break.
var rulesOfContent = []string{check.Malformed, check.Truncated, check.Unsupported, check.Limit, check.Duplicate, check.Missing, check.EmptyDataset}

// refusesContent reports whether an error may be one of an input of another kind.
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
