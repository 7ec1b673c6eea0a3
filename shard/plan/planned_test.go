package plan

import (
	"context"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/test/memsource"
)

// newPlan indexes and plans.
func newPlan(t testing.TB, src converters.Source, enc encode.Options, opts Options) *Plan {
	t.Helper()
	return planEach(t, src, nil, opts, enc)
}

// planEach plans parts of which each has one of several encodings.
func planEach(t testing.TB, src converters.Source, of []int, opts Options, each ...encode.Options) *Plan {
	t.Helper()
	enc := Encodings{Of: of}
	for _, o := range each {
		spec, err := encode.Parse(o)
		if err != nil {
			t.Fatal(err)
		}
		enc.Specs = append(enc.Specs, spec)
	}
	index, err := Index(context.Background(), src, IndexOptions{Encodings: enc, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	opts.Encode, opts.Encodes, opts.Source.Format = enc.Specs[0].Options(), enc.Options(), "memory"
	plan, err := New(index, opts)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// newAligned plans part-aligned shards.
func newAligned(t testing.TB, src *memsource.Source, opts Options) *Plan {
	t.Helper()
	spec, err := encode.Parse(encode.Options{})
	if err != nil {
		t.Fatal(err)
	}
	index, err := Index(context.Background(), src, IndexOptions{Encodings: OneEncoding(spec), Workers: 3})
	if err != nil {
		t.Fatal(err)
	}
	opts.Encode, opts.Source.Format = spec.Options(), "memory"
	plan, err := NewAligned(src.Parts(), index[:1], opts)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}
