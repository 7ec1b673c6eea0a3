package convert

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/ffr"
	"github.com/ffconvert/ffconvert/converters/rekey"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/input"
	"github.com/ffconvert/ffconvert/input/stage"
	"github.com/ffconvert/ffconvert/record"
)

// Samples are opened FFRecord shards with decoded records: a sample has the fields of its record.
type Samples struct {
	converters.Source
	Whole    converters.Source      // the same shards with whole records as samples: its index reads no payload
	Says     converters.Description // what the dataset says of itself
	Dataset  *dataset.Manifest      // if the shards are all shards of one dataset, in order; else nil
	Sum      string                 // SHA-256 of the file of that manifest, in hexadecimal; "": none
	Encoding []encode.Options       // of the records of each part
	Heads    []record.FileInfo      // of each part
	Options  map[string]string      // options of the format that differ from their default
	Changed  bool                   // keys are compared or changed, or fields were added: see Reader
	Added    []converters.AddedField
}

// SamplesOptions say how samples are opened.
type SamplesOptions struct {
	Input  stage.Options
	Limits encode.Limits // of lists and maps in records
	Clash  bool          // keys of several datasets may clash
}

// WithSamples finds the shards that the sources name, makes them local files, opens them and calls use. r is a
// Reader of the format ffr. Copies that Input.CacheDir does not keep are removed in the end.
func WithSamples(ctx context.Context, r *Reader, sources []string, opts SamplesOptions, use func(*Samples) error) (err error) {
	in := opts.Input
	in.Options = r.InputOptions(in.Options)
	found, err := input.Find(ctx, sources, in.Options)
	if err != nil {
		return err
	}
	if err := r.CheckKind(found); err != nil {
		return err
	}
	if in.CacheDir == "" {
		remove := TemporaryCache(&in)
		defer func() { err = errors.Join(err, remove()) }()
	}
	set, err := stage.Open(ctx, found, in)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, set.Release()) }()
	b := newBeside(in)
	defer func() { err = errors.Join(err, b.release()) }()
	s, err := openSamples(ctx, r, set.Parts(), b, opts)
	if err != nil {
		return err
	}
	return use(s)
}

// openSamples opens shards for decoded samples.
func openSamples(ctx context.Context, r *Reader, parts []converters.Part, b *beside, opts SamplesOptions) (*Samples, error) {
	o, ok := unkeyed(r.Opener).(*ffrOpener)
	if !ok {
		return nil, fmt.Errorf("internal error: %s does not read shards", r.Name)
	}
	known, err := shardsOf(ctx, parts, b)
	if err != nil {
		return nil, err
	}
	src, err := o.open(parts, known, encode.Options{Encoding: "msgpack", Limits: opts.Limits}) // any: its name means that records are decoded
	if err != nil {
		return nil, err
	}
	whole := ffr.Options{Record: o.limits}
	for _, k := range known {
		var shard ffr.Shard
		if k.dataset != nil {
			shard = k.shard()
		}
		whole.Shards = append(whole.Shards, shard)
	}
	s := &Samples{Source: src, Whole: ffr.Open(parts, whole), Says: converters.Describe(src), Dataset: datasetOf(known)}
	if s.Dataset != nil {
		manifest, err := known[0].dir.file(ctx, b, dataset.ManifestName)
		if err != nil {
			return nil, err
		}
		text, err := os.ReadFile(manifest)
		if err != nil {
			return nil, err
		}
		s.Sum = fmt.Sprintf("%x", sha256.Sum256(text))
	}
	for i := range parts {
		enc := encode.Options{Encoding: o.records.Value}
		if known[i].dataset != nil {
			enc = known[i].dataset.Encode
		}
		head, err := src.(*ffr.Source).Head(i)
		if err != nil {
			return nil, err
		}
		s.Encoding, s.Heads = append(s.Encoding, enc), append(s.Heads, head)
	}
	s.Options = r.Set.Kept()
	return s, s.rekey(r, opts)
}

// rekey changes keys, and adds fields, as the options of the format say.
func (s *Samples) rekey(r *Reader, opts SamplesOptions) error {
	k, ok := r.Opener.(keyedOpener)
	m, merges := unkeyed(r.Opener).(merger)
	merges = merges && !opts.Clash && m.merges(s.Parts())
	if !ok || !k.given() && !merges {
		return nil
	}
	how, added, err := k.options(s.Parts())
	if err != nil {
		return err
	}
	how.Unique = (how.Unique || merges) && !opts.Clash
	how.Added = added
	s.Source, s.Whole = rekey.Wrap(s.Source, how), rekey.Wrap(s.Whole, how)
	s.Changed, s.Added = true, added
	return nil
}

// datasetOf returns the manifest of the dataset of which these are all shards, in order.
func datasetOf(known []knownShard) *dataset.Manifest {
	var m *dataset.Manifest
	for i, k := range known {
		if k.dataset == nil || m != nil && k.dataset != m || k.at != i {
			return nil
		}
		m = k.dataset
	}
	if m == nil || len(m.Shards) != len(known) {
		return nil
	}
	return m
}
