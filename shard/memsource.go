package shard

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"math/rand/v2"

	"github.com/ffconvert/ffconvert/converters"
)

// A fixture is a source of samples in memory. An offset is an ordinal.
type fixture struct {
	parts [][]converters.Sample
	first int               // of the dataset's parts, the first one here
	skips []converters.Span // yielded before the samples of each part
	fail  func(part int, ordinal int64) error
	index func(part int) error // nil: none fails
}

func (m *fixture) Parts() []converters.Part {
	var parts []converters.Part
	for i := range m.parts {
		parts = append(parts, converters.Part{Name: fmt.Sprintf("part-%d", m.first+i), Size: int64(len(m.parts[i]))})
	}
	return parts
}

func (m *fixture) Index(_ context.Context, p int) iter.Seq2[converters.Span, error] {
	return func(yield func(converters.Span, error) bool) {
		if m.index != nil {
			if err := m.index(p); err != nil {
				yield(converters.Span{}, err)
				return
			}
		}
		for _, s := range m.skips {
			if !yield(s, nil) {
				return
			}
		}
		for i := range m.parts[p] {
			s := &m.parts[p][i]
			shape := &converters.Sample{Key: s.Key, Off: int64(i)}
			for _, f := range s.Fields {
				shape.Fields = append(shape.Fields, converters.Field{Name: f.Name, Value: converters.Opaque(f.Value.Len())})
			}
			if !yield(converters.Span{Off: int64(i), Entries: len(s.Fields), Shape: shape}, nil) {
				return
			}
		}
	}
}

func (m *fixture) Read(ctx context.Context, run converters.Run) iter.Seq2[*converters.Sample, error] {
	return func(yield func(*converters.Sample, error) bool) {
		for i := run.Off; i < run.Off+run.Count && i < int64(len(m.parts[run.Part])); i++ {
			err := ctx.Err()
			if err == nil && m.fail != nil {
				err = m.fail(run.Part, i)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			s := m.parts[run.Part][i]
			s.Off = i
			if !yield(&s, nil) {
				return
			}
		}
	}
}

// newFixture makes parts × samples samples of random sizes. Every fifth has no "cls".
func newFixture(seed uint64, parts, samples, largest int) *fixture {
	rng := rand.New(rand.NewPCG(seed, 0))
	m := &fixture{}
	for p := range parts {
		var part []converters.Sample
		for i := range samples {
			s := converters.Sample{Key: fmt.Sprintf("%d/%06d", p, i)}
			data := bytes.Repeat([]byte{byte(rng.Uint32())}, rng.IntN(largest))
			s.Fields = append(s.Fields, converters.Field{Name: "bin", Value: converters.Bytes(data)})
			if i%5 != 4 {
				s.Fields = append(s.Fields, converters.Field{Name: "cls", Value: converters.Bytes(fmt.Append(nil, i%10))})
			}
			part = append(part, s)
		}
		m.parts = append(m.parts, part)
	}
	return m
}

// WithParts makes a fixture a divisible source.
func (m *fixture) WithParts(first int, parts []converters.Part) converters.Source {
	return &among{fixture: &fixture{parts: m.parts[first : first+len(parts)], skips: m.skips, fail: m.fail}, named: parts}
}

// A table is a source of rows of two numbers, all alike.
type table struct {
	parts []converters.Part
	rows  int64 // of each part
}

func (s *table) Parts() []converters.Part { return s.parts }

func (s *table) Index(_ context.Context, p int) iter.Seq2[converters.Span, error] {
	return func(yield func(converters.Span, error) bool) {
		shape := &converters.Sample{Fields: []converters.Field{{Name: "row", Value: converters.Opaque(16)}}}
		for i := range s.rows {
			shape.Off = 16 * i
			if !yield(converters.Span{Off: 16 * i, Entries: 1, Shape: shape, Alike: i > 0}, nil) {
				return
			}
		}
	}
}

func (s *table) Read(ctx context.Context, run converters.Run) iter.Seq2[*converters.Sample, error] {
	return func(yield func(*converters.Sample, error) bool) {
		var row [16]byte
		sample := &converters.Sample{Fields: []converters.Field{{Name: "row", Value: converters.Bytes(row[:])}}}
		for i := range run.Count {
			sample.Off = run.Off + 16*i
			if !yield(sample, nil) {
				return
			}
		}
	}
}

// An among is some parts of a fixture, under their own names.
type among struct {
	*fixture
	named []converters.Part
}

func (a *among) Parts() []converters.Part { return a.named }
