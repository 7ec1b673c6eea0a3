package format

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"os"

	"golang.org/x/sync/errgroup"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/ffr"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/samples/wrap"
	"github.com/ffconvert/ffconvert/record"
)

// Samples are opened FFRecord shards whose samples have the fields of the decoded records.
type Samples struct {
	converters.Source
	Whole       converters.Source      // the same shards with whole records as samples: its index reads no payload
	Description converters.Description // description of the dataset
	Dataset     *dataset.Manifest      // manifest, if the shards are all shards of one dataset, in order; else nil
	Sum         string                 // SHA-256 of the manifest file, in hexadecimal; "": no Dataset
	Heads       []record.FileInfo      // header of each part
	Options     map[string]string      // options of the format that differ from their defaults
	Changed     bool                   // keys are compared or changed, or fields are added: see Reader
	Added       []converters.AddedField
}

// headsAtOnce is how many heads of shards are read at once: each may take a round trip.
const headsAtOnce = 16

// Samples opens shards and decodes their records, with the limits in req.Records. r must have
// the format ffr. If clash is true, several datasets may have the same key.
func (r *Reader) Samples(ctx context.Context, req OpenRequest, clash bool) (*Samples, error) {
	o, parts := r.opener.shards, req.Parts
	if o == nil {
		return nil, fmt.Errorf("internal error: %s does not read shards", r.Name)
	}
	known, err := shardsOf(ctx, parts, req.Files)
	if err != nil {
		return nil, err
	}
	req.Records.Encoding = "msgpack" // any encoding: naming one means that records are decoded
	src, err := o.openKnown(req, known)
	if err != nil {
		return nil, err
	}
	whole := ffr.Options{Record: o.limits}
	for _, k := range known {
		whole.Shards = append(whole.Shards, k.shard())
	}
	s := &Samples{Source: src, Whole: ffr.Open(parts, whole), Description: converters.Describe(src), Dataset: datasetOf(known)}
	if s.Dataset != nil {
		manifest, err := known[0].dir.path(ctx, dataset.ManifestName, isManifest)
		if err != nil {
			return nil, err
		}
		text, err := os.ReadFile(manifest)
		if err != nil {
			return nil, err
		}
		s.Sum = fmt.Sprintf("%x", sha256.Sum256(text))
	}
	s.Heads = make([]record.FileInfo, len(parts))
	errs := make([]error, len(parts))
	var g errgroup.Group
	g.SetLimit(headsAtOnce)
	for i := range parts {
		g.Go(func() error {
			s.Heads[i], errs[i] = src.(*ffr.Source).Head(i)
			return nil
		})
	}
	g.Wait()
	if err := cmp.Or(errs...); err != nil {
		return nil, err
	}
	s.Options = r.Set.Kept()
	return s, s.rekey(r, clash)
}

// rekey changes keys and adds fields as the options of the format require.
func (s *Samples) rekey(r *Reader, clash bool) error {
	merges := r.merges(s.Parts()) && !clash
	if !r.keys.given() && !merges {
		return nil
	}
	how, err := r.keys.options(s.Parts(), nil)
	if err != nil {
		return err
	}
	how.Unique = (how.Unique || merges) && !clash
	s.Source, s.Whole = wrap.Rekey(s.Source, how), wrap.Rekey(s.Whole, how)
	s.Changed, s.Added = true, how.Added
	return nil
}

// datasetOf returns the manifest of the dataset that has exactly these shards, in order; else nil.
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
