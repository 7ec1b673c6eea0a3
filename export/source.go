package export

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/samples/choose"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A Source is a dataset in FFRecord shards. It has nothing to close; functions of this package only read it, and any number of
// them may use it at once.
type Source struct {
	Samples converters.Source // decoded: samples have the fields of their records
	Whole   converters.Source // the same shards with whole records as samples: its index reads no payload

	Description converters.Description // what the dataset says of itself
	Dataset     *dataset.Manifest      // if the shards are all shards of one dataset, in order; else nil
	Sum         string                 // SHA-256 of the file of that manifest, in hexadecimal; "": none
	Encoding    []encode.Options       // of the records of each shard
	Heads       []record.FileInfo      // of each shard

	Options any  // how the shards were opened, as far as samples depend on it; it becomes JSON
	Changed bool // keys were compared or changed, or fields added, while the shards are read
}

// leftOut returns how many samples of the source are not among the n that were written. They must be none unless
// options leave samples out.
func (s *Source) leftOut(n int64, choice choose.Options, missing string) (int64, error) {
	rest := -n
	for i := range s.Heads {
		rest += s.Heads[i].Samples
	}
	if rest < 0 || rest > 0 && choice.IsZero() && missing != encode.MissingSkip {
		return 0, fmt.Errorf("internal error: %d samples were written, the source has %d", n, n+rest)
	}
	return rest, nil
}

// wholeForm is the form of whole records.
func wholeForm() (*encode.Spec, error) {
	return encode.Parse(encode.Options{Encoding: "raw", Encoded: true})
}

// pieces indexes the samples of a source, either source of s, and divides the chosen ones as Options.Sizes says.
func (s *Source) pieces(ctx context.Context, src converters.Source, form *encode.Spec, opts Options) ([]plan.Shard, error) {
	even := plan.Options{Sizes: opts.Sizes}
	var chooser *choose.Chooser
	if !opts.Choice.IsZero() {
		var err error
		if chooser, err = choose.New(opts.Choice, s.Description.Classes); err != nil {
			return nil, err
		}
		if even.Choice = &opts.Choice; s.Changed {
			chooser.Through() // keys are compared of all samples
		}
	}
	parts, err := plan.Index(ctx, src, plan.IndexOptions{
		Encodings: plan.OneEncoding(form), Bare: true, Choose: chooser, Workers: opts.Workers, Progress: opts.Progress,
	})
	if err := cmp.Or(err, chooser.Finish()); err != nil {
		return nil, err
	}
	if all, ok := src.(interface{ Check(context.Context) error }); ok { // keys that clash, which the index has collected
		if err := all.Check(ctx); err != nil {
			return nil, err
		}
	}
	return plan.Even(parts, even)
}

// digest returns a digest of all samples of the source, which their checksums pin, and of options.
func (s *Source) digest(options any) (string, error) {
	type shard struct {
		Samples int64
		CRC     uint32
		Bytes   int64
	}
	all := struct {
		Shards  []shard
		Opened  any
		Options any
	}{Opened: s.Options, Options: options}
	for _, h := range s.Heads {
		all.Shards = append(all.Shards, shard{h.Samples, h.HeaderCRC, h.Size})
	}
	text, err := json.Marshal(all)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// encode calls use with each sample of the runs that has all its fields, and its record. Samples that lack one were
// counted by the index.
func (s *Source) encode(ctx context.Context, runs []converters.Run, enc *encode.Encoder, use func(part int, s *converters.Sample, rec *encode.Record) error) error {
	for near := range converters.Near(s.Samples.Parts(), runs) {
		for sample, err := range converters.ReadNear(ctx, s.Samples, near) {
			if err != nil {
				return err
			}
			rec, err := enc.Encode(sample)
			if errors.Is(err, encode.ErrSkip) {
				continue
			} else if err != nil {
				return s.failed(near[0].Part, sample, err)
			}
			if err := use(near[0].Part, sample, rec); err != nil {
				return err
			}
		}
	}
	return nil
}
