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
	"github.com/ffconvert/ffconvert/converters/ffr"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/samples/choose"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A Source is a dataset in FFRecord shards: what convert.Conversion.WithSamples opens, see the example. It need not be
// closed. Functions of this package only read it, and may use it concurrently.
type Source struct {
	Samples converters.Source // decoded: samples have the fields of their records
	Whole   converters.Source // the same shards with whole records as samples: its index reads no payload

	Description converters.Description // description of the dataset
	Dataset     *dataset.Manifest      // manifest, if the shards are all shards of one dataset, in order; else nil
	Sum         string                 // SHA-256 of the manifest file, in hexadecimal; "": no Dataset
	Heads       []record.FileInfo      // header of each shard

	Options any  // options of opening that affect the samples; stored as JSON
	Changed bool // keys are compared or changed, or fields added, while shards are read
}

// leftOut returns the number of samples of the source that were not among the n written ones. It is an error
// if there are any and no option leaves samples out.
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

// wholeForm returns the encoding of whole records.
func wholeForm() (*encode.Spec, error) {
	return encode.Parse(encode.Options{Encoding: "raw", Encoded: true})
}

// pieces indexes src, which is one of the sources of s, and divides the chosen samples by Options.Sizes.
func (s *Source) pieces(ctx context.Context, src converters.Source, form *encode.Spec, opts Options) ([]plan.Shard, error) {
	even := plan.Options{Sizes: opts.Sizes}
	var chooser *choose.Chooser
	if !opts.Choice.IsZero() {
		var err error
		if chooser, err = choose.New(opts.Choice, s.Description.Classes); err != nil {
			return nil, err
		}
		if even.Choice = &opts.Choice; s.Changed {
			chooser.Through() // all keys are compared
		}
	}
	indexed := src
	if src == s.Samples && !s.Changed && ByIndex(&opts.Choice) && !(opts.Choice.Ordered() && opts.Encode.Missing == encode.MissingSkip) {
		runs, err := s.runs(ctx, opts)
		if err != nil {
			return nil, err
		}
		indexed = &chosen{src, s.Whole.(*ffr.Source), src.(*ffr.Source), runs}
	} else if opts.Ordinal {
		indexed = struct{ converters.Source }{src} // in order: it cannot be indexed in runs
	}
	parts, err := plan.Index(ctx, indexed, plan.IndexOptions{
		Encodings: plan.OneEncoding(form), Bare: true, Choose: chooser, Workers: opts.Workers, Progress: opts.Progress,
	})
	if err := cmp.Or(err, chooser.Finish()); err != nil {
		return nil, err
	}
	if all, ok := src.(interface{ Check(context.Context) error }); ok { // clashes of keys that the index has collected
		if err := all.Check(ctx); err != nil {
			return nil, err
		}
	}
	return plan.Even(parts, even)
}

// digest returns a digest of options and of the checksums of all samples.
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

// encode calls use with each sample of the runs that has all wanted fields, and its record. The index has counted
// samples that lack one.
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
