package terminal

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters/arrow"
	"github.com/ffconvert/ffconvert/converters/cbor"
	"github.com/ffconvert/ffconvert/converters/csv"
	"github.com/ffconvert/ffconvert/converters/folder"
	"github.com/ffconvert/ffconvert/converters/jsonl"
	"github.com/ffconvert/ffconvert/converters/parquet"
	"github.com/ffconvert/ffconvert/converters/tar"
	"github.com/ffconvert/ffconvert/converters/tfrecord"
	"github.com/ffconvert/ffconvert/dataset/bucket"
	"github.com/ffconvert/ffconvert/decode"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/check"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/samples/filter"
	"github.com/ffconvert/ffconvert/internal/stage"
	"github.com/ffconvert/ffconvert/packed"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// The table names options that the libraries have.
func TestFlagTable(t *testing.T) {
	t.Parallel()
	types := []any{arrow.Options{}, cbor.Options{}, csv.Options{}, csv.Naming{}, folder.Options{}, jsonl.Options{}, parquet.Options{}, tar.Options{}, tfrecord.Options{}, filter.Options{}, packed.WriteOptions{}, encode.Options{}, decode.Limits{}, check.Options{}, input.Options{}, stage.Options{}, plan.Sizes{}, bucket.Options{}}
	for pair := range slices.Chunk(flagTable, 2) {
		name, _, _ := strings.Cut(pair[0], " ")
		typ, field, isOption := strings.Cut(name, ".")
		if isOption && !slices.ContainsFunc(types, func(v any) bool {
			_, ok := reflect.TypeOf(v).FieldByName(field)
			return ok && reflect.TypeOf(v).Name() == typ
		}) {
			t.Errorf("no library has the option %s", name)
		}
		if !strings.HasPrefix(pair[1], "--") {
			t.Errorf("%s: %q is not a flag", name, pair[1])
		}
	}
}

// Hints have flags, also in an error that has another one's text. A name that looks like an option stays.
func TestErrorLinesFlags(t *testing.T) {
	t.Parallel()
	one := &place.Error{Where: "Options.MaxRow", Off: 7, Err: errors.New("too large"), Hint: "Options.MaxColumns, if Options.Delimiter is right"}
	two := &place.Error{Where: "b", Off: -1, Err: errors.New("cut"), Hint: "Options.KeepDuplicates"}
	three := &place.Error{Where: "out", Off: -1, Err: &place.OptionsError{Text: "it was made with option seed=7, and Sizes.Shards"}, Hint: "option exact"}
	err := errors.Join(fmt.Errorf("a: %w", one), fmt.Errorf("%w; it is text", two), three, three)
	want := []string{
		"a: Options.MaxRow: offset 7: too large (--max-columns, if --delimiter is right)",
		"b: cut (--on-duplicate-key keep); it is text",
		"out: it was made with --seed=7, and --shards (--exact)",
	}
	if got := ErrorLines(err); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
