package convert

import (
	"context"
	"maps"
	"reflect"
	"slices"

	"github.com/ffconvert/ffconvert/convert/format"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/samples/spec"
	"github.com/ffconvert/ffconvert/internal/samples/wrap"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// open opens all collections. If the caller names no encoding, records have the one on which all
// collections agree, else MessagePack, which can hold any sample.
func (m *mixture) open(ctx context.Context, req format.OpenRequest) (*opened, error) {
	all, src, err := m.openAs(ctx, req)
	rec := &req.Records
	if err == nil && rec.Encoding == "" {
		if rec.Encoding = "msgpack"; m.agree(all, src) {
			says := converters.Describe(src)
			rec.Encoding, rec.Encoded = says.Encoding, says.Encoded
		} else {
			all, src, err = m.openAs(ctx, req)
		}
	}
	if err != nil {
		return nil, err
	}
	each, err := m.encodings(all, *rec)
	return &opened{src, converters.Describe(src), each}, err
}

// openAs opens all collections for records of one encoding; "": each proposes its own.
func (m *mixture) openAs(ctx context.Context, req format.OpenRequest) ([]wrap.Collection, converters.Source, error) {
	var all []wrap.Collection
	for i, parts := range split(m, req.Parts) {
		c, one := &m.spec.Collections[i], req
		one.Parts, one.Records = parts, records(c, req.Records)
		src, err := m.readers[i].Open(ctx, one)
		if err != nil {
			return nil, nil, c.Error("", err)
		}
		all = append(all, wrap.Collection{Name: c.Where(), Source: src, Times: c.Times})
	}
	src, err := wrap.Mix(all, m.spec.Seed)
	return all, src, err
}

// agree reports whether all collections propose the encoding of the whole, and, unless it is
// MessagePack, make the same records.
func (m *mixture) agree(all []wrap.Collection, src converters.Source) bool {
	how := converters.Describe(src)
	for i := range all {
		alike := how.Encoding == "msgpack" || like(&m.spec.Collections[i], &m.spec.Collections[0])
		says := converters.Describe(all[i].Source)
		if !alike || says.Encoding != how.Encoding || says.Encoded != how.Encoded {
			return false
		}
	}
	return true
}

// like reports whether two collections make the same records of the same files.
func like(c, d *spec.Collection) bool {
	return c.Format == d.Format && c.Fields == d.Fields && slices.Equal(c.Rename, d.Rename) && maps.Equal(c.Options, d.Options)
}

// records returns how the records of a collection are encoded: its own fields and names take
// precedence over rec.
func records(c *spec.Collection, rec encode.Options) encode.Options {
	if c.Fields != "" {
		rec.Fields = c.Fields
	}
	if c.Rename != nil {
		rec.Rename = c.Rename
	}
	return rec
}

// encodings returns how the records of each part are encoded. rec is for collections that name no
// fields of their own.
func (m *mixture) encodings(all []wrap.Collection, rec encode.Options) (plan.Encodings, error) {
	spec, err := encode.Parse(rec)
	if err != nil {
		return plan.Encodings{}, err
	}
	enc := plan.OneEncoding(spec)
	for i := range all {
		c := &m.spec.Collections[i]
		own, err := encode.Parse(records(c, rec))
		if err != nil {
			return enc, c.Error("", err)
		}
		n := slices.IndexFunc(enc.Specs, func(s *encode.Spec) bool { return reflect.DeepEqual(s.Options(), own.Options()) })
		if n < 0 {
			n = len(enc.Specs)
			enc.Specs = append(enc.Specs, own)
		}
		for range len(all[i].Source.Parts()) * c.Passes() {
			enc.Of = append(enc.Of, n)
		}
	}
	return enc, nil
}
