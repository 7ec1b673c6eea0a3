package format

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/stage"
)

// Kinds returns the kinds that a local file or directory may have. It returns none if the file cannot
// be read or has an unknown kind.
func Kinds(path string) []input.Kind {
	fi, err := os.Stat(path)
	switch {
	case err != nil:
		return nil
	case fi.IsDir():
		found, _ := input.KindOfDirectory(path)
		if len(found) == 1 && found[0].ID == "csv" && holdsOFRecord(path) {
			what := strings.Replace(found[0].What, "CSV", "OFRecord", 1)
			return []input.Kind{{ID: "ofrecord", What: what, Format: "ofrecord"}}
		}
		return found
	case !fi.Mode().IsRegular():
		return nil // reading it might block
	}
	head, size, err := stage.Head(path, input.HeadSize)
	if err != nil {
		return nil
	}
	return input.KindOf(path, head, size)
}

// holdsOFRecord reports whether the first part in a directory is OFRecord. Its parts have the same names as those of
// CSV.
func holdsOFRecord(dir string) bool {
	names, err := filepath.Glob(filepath.Join(dir, "part-*")) // sorted
	if err != nil || len(names) == 0 {
		return false
	}
	head, size, err := stage.Head(names[0], input.HeadSize)
	if err != nil {
		return false
	}
	found := input.KindOf(names[0], head, size)
	return len(found) == 1 && found[0].ID == "ofrecord"
}

// Another returns the kind of path, and true if the format with its current options cannot read
// that kind.
func (r *Reader) Another(path string) (input.Kind, bool) {
	found := Kinds(path)
	for _, k := range found {
		if k.Format == r.Name && (k.ID != "msgpack" || r.Set.Text("format") == "msgpack") {
			return input.Kind{}, false
		}
	}
	if len(found) != 1 || found[0].ID == "text" && r.Name == "csv" || cutCBOR(found[0], path) {
		return input.Kind{}, false
	}
	return found[0], true
}

// cutCBOR reports whether a file is probably truncated CBOR: its name has a CBOR suffix, and its
// beginning could also be MessagePack.
func cutCBOR(k input.Kind, path string) bool {
	named := input.KindOfName(path)
	return k.ID == "msgpack" && !k.Sure && len(named) == 1 && named[0].ID == "cbor"
}

// ErrAnotherKind reports an input of another kind. The name of the kind follows its text.
var ErrAnotherKind = errors.New("it is")

// A KindError reports an input of a kind that the format does not read. It wraps
// [converters.ErrUnsupported] and [ErrAnotherKind].
type KindError struct {
	Format string
	Kind   input.Kind
}

func (e *KindError) Error() string {
	return fmt.Sprintf("%v by %s: %v %s", converters.ErrUnsupported, e.Format, ErrAnotherKind, e.Kind.What)
}

func (e *KindError) Unwrap() []error { return []error{converters.ErrUnsupported, ErrAnotherKind} }

// CheckKind returns an error if the first part has another kind. Formats without magic bytes need
// this: CBOR would read a tar.
func (r *Reader) CheckKind(found []input.Name) error {
	if len(found) == 0 || found[0].Path == "" || found[0].URL() != "" {
		return nil
	}
	if _, listed := Named(r.Name); !listed || r.Set.Text("flat") == "true" {
		return nil
	}
	k, ok := r.Another(found[0].Path)
	named := input.KindOfName(found[0].Path)
	if !ok || !k.Sure && (len(named) != 1 || named[0].ID != k.ID) {
		return nil
	}
	return &converters.Error{Where: found[0].Name, Off: -1, Err: &KindError{r.Name, k}}
}
