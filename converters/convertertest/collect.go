package convertertest

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
)

// A found is a copy of a span.
type found struct {
	converters.Span
	shape string // the shape as text
}

func index(ctx context.Context, src converters.Source, part int) (all []found, err error) {
	for span, err := range src.Index(ctx, part) {
		if err != nil {
			return all, err
		}
		f := found{Span: *span}
		if span.Shape != nil {
			f.shape = shape(span.Shape)
			f.Shape = clone(span.Shape)
		}
		all = append(all, f)
	}
	return all, nil
}

func read(ctx context.Context, src converters.Source, run converters.Run) (all []*converters.Sample, err error) {
	for sample, err := range src.Read(ctx, run) {
		if err != nil {
			return all, err
		}
		all = append(all, clone(sample))
	}
	return all, nil
}

// A dataset has all samples of a source and their spans, by part.
type dataset struct {
	spans   [][]found // of samples only
	samples [][]*converters.Sample
}

// load indexes and reads all of a source, and fails the test on any error.
func load(t *testing.T, src converters.Source) dataset {
	t.Helper()
	var d dataset
	most := 0
	for p, part := range src.Parts() {
		spans, err := index(t.Context(), src, p)
		if err != nil {
			t.Fatalf("index of %s: %v", part.Name, err)
		}
		spans = slices.DeleteFunc(spans, func(f found) bool { return f.Shape == nil })
		var samples []*converters.Sample
		if len(spans) > 0 {
			samples, err = read(t.Context(), src, whole(p, spans))
		}
		if err != nil {
			t.Fatalf("read of %s: %v", part.Name, err)
		}
		d.spans, d.samples = append(d.spans, spans), append(d.samples, samples)
		most = max(most, len(spans))
	}
	if most < 3 {
		t.Fatal("the fixture has no part with three samples")
	}
	return d
}

// whole returns the run of all samples of a part.
func whole(part int, spans []found) converters.Run { return slice(part, spans, 0, len(spans)) }

// slice returns the run of the samples from to to-1.
func slice(part int, spans []found, from, to int) converters.Run {
	return converters.Run{Part: part, First: int64(from), Off: spans[from].Off, Count: int64(to - from)}
}

// clone returns a copy of a sample that does not share memory with the source.
func clone(s *converters.Sample) *converters.Sample {
	c := *s
	c.Fields = slices.Clone(s.Fields)
	for i, f := range c.Fields {
		switch data := bytes.Clone(f.Value.Data()); {
		case data == nil:
		case f.Value.Kind() == converters.KindText:
			c.Fields[i].Value = converters.Text(data)
		default:
			c.Fields[i].Value = converters.Bytes(data)
		}
	}
	return &c
}

// shape returns the key, fields, kinds and sizes of a sample as text.
func shape(s *converters.Sample) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%q at %d:", s.Key, s.Off)
	for _, f := range s.Fields {
		fmt.Fprintf(&b, " %q (kind %d, %d bytes)", f.Name, f.Value.Kind(), f.Value.Len())
	}
	return b.String()
}

// same fails the test if two lists of samples differ.
func same(t *testing.T, what string, got, want []*converters.Sample) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d samples, want %d", what, len(got), len(want))
	}
	for i := range got {
		if !equal(got[i], want[i]) {
			t.Fatalf("%s: sample %d is %s, want %s, or its bytes differ", what, i, shape(got[i]), shape(want[i]))
		}
	}
}

func equal(a, b *converters.Sample) bool {
	return a.Key == b.Key && a.Off == b.Off && slices.EqualFunc(a.Fields, b.Fields, func(a, b converters.Field) bool {
		x, y := a.Value, b.Value
		return a.Name == b.Name && x.Kind() == y.Kind() && x.Len() == y.Len() && x.Int() == y.Int() &&
			bytes.Equal(x.Data(), y.Data()) && reflect.DeepEqual(x.Nested(), y.Nested())
	})
}
