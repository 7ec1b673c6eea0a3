package convert

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/convert/format"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/cbor"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/samples/filter"
	"github.com/ffconvert/ffconvert/internal/samples/spec"
	"github.com/ffconvert/ffconvert/internal/samples/wrap"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// An opened is an open source with its description and the encodings of its parts.
type opened struct {
	converters.Source
	desc converters.Description
	each plan.Encodings // of the records of each part
}

// open opens a dataset with one part for each input and decides the encoding of its records: the caller's, else the one
// that the source proposes.
func (w *work) open(ctx context.Context, parts []converters.Part) (o *opened, err error) {
	req := format.OpenRequest{Parts: parts, Records: w.Encode, Files: w.siblings}
	if w.existing != nil {
		req.Classes = append([]string{}, w.existing.Dataset.Classes...)
	}
	if w.Filter != nil {
		o, err = w.openFiltered(ctx, req)
	} else {
		o, err = w.openEach(ctx, req)
	}
	if err != nil {
		return nil, err
	}
	if shape := o.each.Specs[0].PixelShape(); shape != nil {
		o.desc.Shape, o.desc.DType = shape, "uint8"
	}
	for i, added := range o.desc.Added {
		if w.existing != nil && (i >= len(w.existing.Dataset.Added) || w.existing.Dataset.Added[i] != added) {
			return nil, &converters.Error{Where: added.File, Off: -1, Err: fmt.Errorf("%w: field %s has other values now", converters.ErrChanged, added.Name), Hint: "put the file back, or plan anew with option overwrite"}
		}
	}
	return o, nil
}

// openFiltered opens a dataset whose samples pass through a program, which reads CBOR records. req.Records applies
// to its output.
func (w *work) openFiltered(ctx context.Context, req format.OpenRequest) (*opened, error) {
	rec := req.Records
	req.Records = encode.Options{Encoding: "cbor", Limits: rec.Limits}
	unfiltered, err := w.openEach(ctx, req)
	if err != nil {
		return nil, err
	}
	rec.Encoding = cmp.Or(rec.Encoding, "msgpack")
	spec, err := encode.Parse(rec)
	if err != nil {
		return nil, err
	}
	if w.filter == nil {
		w.filter = w.newFilter()
	}
	answered := cbor.Open(nil, cbor.Options{Fields: true, Load: rec.Loads})
	src := w.filter.Source(unfiltered.Source, func(part int) *encode.Spec { return unfiltered.each.Specs[unfiltered.each.Number(part)] }, answered)
	return &opened{src, converters.Describe(src), plan.OneEncoding(spec)}, nil
}

// newFilter returns the filter. It does not start the program.
func (w *work) newFilter() *filter.Filter {
	opts := filter.Options{
		Command: w.Filter, Guarded: w.stage.Guarded, Processes: w.Workers, Timeout: w.FilterTimeout,
		CacheDir: w.stage.CacheDir, NoCache: w.stage.NoCache, Quota: w.stage.Quota,
	}
	if w.existing != nil {
		opts.Check = func(part int, name string, added *converters.Filtered) error {
			return plan.ForTask(w.existing.Parts[part-w.firstPart].CheckFiltered(name, added))
		}
	}
	if p, ok := w.Progress.(interface{ Filtered(samples, bytes int64) }); ok {
		opts.Progress = p.Filtered
	}
	return filter.New(opts)
}

// endFilter kills the program if it is running, and removes its stored output.
func (w *work) endFilter() error {
	if w.filter == nil {
		return nil
	}
	err := w.filter.Close()
	w.filter = nil
	return err
}

// openEach opens all collections for records with the options req.Records. Without Encoding, records have the
// encoding that the collections propose; if they disagree, MessagePack, which can hold any sample.
func (w *work) openEach(ctx context.Context, req format.OpenRequest) (*opened, error) {
	rec := &req.Records
	if w.Spec == nil {
		src, err := w.Reader.Open(ctx, req)
		if err != nil {
			return nil, err
		}
		desc := converters.Describe(src)
		if rec.Encoding == "" {
			rec.Encoding, rec.Encoded = desc.Encoding, desc.Encoded
		}
		spec, err := encode.Parse(*rec)
		return &opened{src, desc, plan.OneEncoding(spec)}, err
	}
	all, src, err := w.openMixed(ctx, req)
	if err == nil && rec.Encoding == "" {
		if rec.Encoding = "msgpack"; agree(w.Spec, all, src) {
			desc := converters.Describe(src)
			rec.Encoding, rec.Encoded = desc.Encoding, desc.Encoded
		} else {
			all, src, err = w.openMixed(ctx, req)
		}
	}
	if err != nil {
		return nil, err
	}
	each, err := encodings(w.Spec, all, *rec)
	return &opened{src, converters.Describe(src), each}, err
}

// openMixed opens all collections for one encoding; if it is "", each collection proposes one.
func (w *work) openMixed(ctx context.Context, req format.OpenRequest) ([]wrap.Collection, converters.Source, error) {
	var all []wrap.Collection
	for i, parts := range split(w.inputs, req.Parts) {
		c, one := w.collections[i], req
		one.Parts, one.Records = parts, records(c.entry, req.Records)
		src, err := c.Open(ctx, one)
		if err != nil {
			return nil, nil, c.entry.Error("", err)
		}
		all = append(all, wrap.Collection{Name: c.entry.Where(), Source: src, Times: c.entry.Times})
	}
	src, err := wrap.Mix(all, w.Spec.Seed)
	return all, src, err
}

// agree reports whether all collections propose the encoding of src and, unless it is
// MessagePack, make the same records.
func agree(s *spec.Spec, all []wrap.Collection, src converters.Source) bool {
	how := converters.Describe(src)
	for i := range all {
		alike := how.Encoding == "msgpack" || like(&s.Collections[i], &s.Collections[0])
		desc := converters.Describe(all[i].Source)
		if !alike || desc.Encoding != how.Encoding || desc.Encoded != how.Encoded {
			return false
		}
	}
	return true
}

// records returns the encoding options of a collection: its fields and names take precedence over rec.
func records(c *spec.Collection, rec encode.Options) encode.Options {
	if c.Fields != "" {
		rec.Fields = c.Fields
	}
	if c.Rename != nil {
		rec.Rename = c.Rename
	}
	return rec
}

// encodings returns the encoding of each part. rec is used for collections that name no fields.
func encodings(s *spec.Spec, all []wrap.Collection, rec encode.Options) (plan.Encodings, error) {
	whole, err := encode.Parse(rec)
	if err != nil {
		return plan.Encodings{}, err
	}
	enc := plan.OneEncoding(whole)
	for i := range all {
		c := &s.Collections[i]
		parsed, err := encode.Parse(records(c, rec))
		if err != nil {
			return enc, c.Error("", err)
		}
		n := slices.IndexFunc(enc.Specs, func(s *encode.Spec) bool { return reflect.DeepEqual(s.Options(), parsed.Options()) })
		if n < 0 {
			n = len(enc.Specs)
			enc.Specs = append(enc.Specs, parsed)
		}
		for range len(all[i].Source.Parts()) * c.Passes() {
			enc.Of = append(enc.Of, n)
		}
	}
	return enc, nil
}

// optionsOf returns the plan options for an open dataset.
func (w *work) optionsOf(o *opened) (plan.Options, error) {
	how, err := w.planOptions()
	how.Encode, how.Encodes, how.EncodeOf = o.each.Specs[0].Options(), o.each.Options(), o.each.Of
	how.Encode.Load = nil
	for i := range how.Encodes {
		how.Encodes[i].Load = nil
	}
	how.Dataset = o.desc
	return how, err
}

// WithSamples finds the shards that Sources name, opens them and calls use. Reader must have the format ffr. It uses the
// options Input, Encode.Limits and Listed. If clash is true, several datasets may have the same key. With Input.CacheDir all
// objects are copied there. Without it the ranges of an object are read that are wanted, and nothing is kept, unless it is
// compressed, or its service gives no ranges.
func (c Conversion) WithSamples(ctx context.Context, clash bool, use func(*format.Samples) error) error {
	c.Input.Laid = nil // no file replaces an object, because nothing would report it
	in, err := (&request{Conversion: c, collections: []collection{{Reader: c.Reader}}}).find(ctx)
	if err != nil {
		return err
	}
	if err := c.Reader.CheckKind(in.names); err != nil {
		return err
	}
	need := in.firstOf(0)
	for i := range in.names {
		o := in.names[i].Object
		need[i] = o == nil || c.Input.CacheDir != "" || !o.Ranges() || !strings.HasSuffix(in.names[i].Name, record.Ext)
	}
	return in.work(ctx, nil, func(w *work) error {
		return w.local(ctx, need, func(parts []converters.Part) error {
			for i := range parts {
				if !need[i] {
					parts[i].Path, parts[i].Copy.Object = parts[i].Name, in.names[i].ReadAt(ctx, c.Input.Remote)
				}
			}
			req := format.OpenRequest{Parts: parts, Records: encode.Options{Limits: c.Encode.Limits}, Files: w.siblings, Columns: c.Columns}
			s, err := c.Reader.Samples(ctx, req, clash)
			if err != nil {
				return err
			}
			in.report(nil)
			return use(s)
		})
	})
}
