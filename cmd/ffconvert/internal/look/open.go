// Package look does the work of the commands that look at finished shards. It opens datasets, in a directory or in an object store,
// and writes what they hold: samples, lists of samples, an outline, the differences of two. It measures how fast shards are read
// (bench.go) and verifies them (verify.go).
//
// A command registers its flags on the fields of a Getter, Lister, Differ, Inspector, Bench or Verifier, and calls its method Run.
package look

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/cliflag"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/bucket"
	"github.com/ffconvert/ffconvert/dataset/lookup"
	"github.com/ffconvert/ffconvert/internal/option"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/record"
)

// Datasets opens datasets and shards, for reading single samples. End closes those that are in object stores.
type Datasets struct {
	cliflag.Place
	Lookup  lookup.Options
	records option.Choice
	open    []*dataset.Dataset
}

// Add registers the flags of a command that takes datasets in object stores, too.
func (s *Datasets) Add(flags *pflag.FlagSet) {
	flags.Var(option.MaxSize(&s.Lookup.Record.MaxSample, record.DefaultMaxSample), "max-sample-size", "largest sample that is read; it is held in memory whole")
	s.AddRecords(flags)
}

// AddRecords registers the flags that decide which records are read, and how, and how object stores are reached.
func (s *Datasets) AddRecords(flags *pflag.FlagSet) {
	s.records = option.Choice{Words: []string{"msgpack", "cbor", "pickle", "arrow", "raw"}}
	flags.BoolVar(&s.Lookup.Record.AllowLegacy, "allow-legacy", false, "accept headers without a checksum, as old writers left them")
	flags.Var(&s.records, "records", "what the records of other people's shards, and raw ones, are: msgpack, cbor, pickle, arrow or raw (default: opaque bytes)")
	flags.Var(option.Count(&s.Lookup.Record.MaxSamples, record.MaxSamples), "max-samples", "most samples of a shard accepted")
	cliflag.DecodeLimits(flags, &s.Lookup.Limits, "largest list or map that is decoded", "deepest nesting that is decoded")
	s.Place = cliflag.NewPlace()
	s.AddPlace(flags, false)
}

func (s *Datasets) openLocal(path string) (*lookup.Dataset, error) {
	s.Lookup.Encoding = s.records.Value
	if err := convert.LocalPath(path); err != nil {
		return nil, err
	}
	d, err := lookup.Open(path, s.Lookup)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, record.ErrCorrupt) {
		err = cliflag.NotShards(path, err)
	}
	return d, err
}

// Open opens a dataset or a shard on this machine, or a dataset in an object store.
func (s *Datasets) Open(ctx context.Context, path string) (*lookup.Dataset, error) {
	if !convert.IsURL(path) {
		return s.openLocal(path)
	}
	out, err := s.view(ctx, path)
	if err != nil {
		return nil, err
	}
	return s.samples(out)
}

// samples opens the samples of a dataset from view.
func (s *Datasets) samples(out *dataset.Dataset) (*lookup.Dataset, error) {
	opts := s.Lookup
	opts.Encoding, opts.Open, opts.URL = s.records.Value, out.Open, strings.TrimSuffix(out.Name(), "/")
	return lookup.Open(out.Path(""), opts)
}

// view opens a finished dataset in an object store.
func (s *Datasets) view(ctx context.Context, url string) (*dataset.Dataset, error) {
	if err := noShard(url, "looked at"); err != nil {
		return nil, err
	}
	out, err := bucket.Look(ctx, url, s.Options(nil))
	if ctx.Err() == nil && perhapsReply(err) {
		out, err = bucket.Look(ctx, url, s.Options(nil))
	}
	if err != nil {
		return nil, cliflag.Hint(err, "", url)
	}
	s.open = append(s.open, out)
	return out, nil
}

// View returns a function that opens a dataset in an object store to verify it; nil for a path on this machine.
func (s *Datasets) View(path string) func(context.Context) (*dataset.Dataset, error) {
	if !convert.IsURL(path) {
		return nil
	}
	return func(ctx context.Context) (*dataset.Dataset, error) { return bucket.View(ctx, path, s.Options(nil)) }
}

// noShard refuses the URL of a shard.
func noShard(url, done string) error {
	if !strings.HasSuffix(url, record.Ext) {
		return nil
	}
	return fmt.Errorf("%s: a shard in an object store is %s with its dataset; name what it lies in, %s", url, done, url[:strings.LastIndexByte(url, '/')+1])
}

// perhapsReply reports whether an error may be due to a wrong reply of an object store. The caller opens the dataset once more.
func perhapsReply(err error) bool {
	kind := place.KindOf(err)
	return kind == place.Corrupt || kind == place.Refused
}

// End removes the scratch directories of datasets in object stores. It returns err, the error of the command, with the flags that
// help, and with the URL of a dataset in place of its scratch directory.
func (s *Datasets) End(err error) error {
	if errors.Is(err, record.ErrLegacy) {
		err = fmt.Errorf("%w%s", err, cliflag.Legacy)
	} else {
		err = cliflag.OverLimit(err, "--max samples, --max sample-size")
	}
	if err != nil {
		text := err.Error()
		for _, out := range s.open {
			text = strings.ReplaceAll(text, filepath.Clean(out.Path("")), strings.TrimSuffix(out.Name(), "/"))
		}
		if text != err.Error() {
			err = terminal.WithText(err, text)
		}
	}
	errs := []error{err}
	for _, out := range s.open {
		errs = append(errs, out.Close())
	}
	return errors.Join(errs...)
}
