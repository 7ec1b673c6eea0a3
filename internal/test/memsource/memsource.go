// Package memsource is a dataset in memory, for tests.
package memsource

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"math/rand/v2"

	"github.com/ffconvert/ffconvert/converters"
)

// A fixture is a source of samples in memory. An offset is an ordinal.
type Source struct {
	Data     [][]converters.Sample
	First    int               // of the dataset's parts, the first one here
	Skips    []converters.Span // yielded before the samples of each part
	Fail     func(part int, ordinal int64) error
	IndexErr func(part int) error // nil: none fails
}

func (m *Source) Parts() []converters.Part {
	var parts []converters.Part
	for i := range m.Data {
		parts = append(parts, converters.Part{Name: fmt.Sprintf("part-%d", m.First+i), Size: int64(len(m.Data[i]))})
	}
	return parts
}

func (m *Source) Index(_ context.Context, p int) iter.Seq2[*converters.Span, error] {
	return func(yield func(*converters.Span, error) bool) {
		if m.IndexErr != nil {
			if err := m.IndexErr(p); err != nil {
				yield(nil, err)
				return
			}
		}
		for i := range m.Skips {
			if !yield(&m.Skips[i], nil) {
				return
			}
		}
		for i := range m.Data[p] {
			s := &m.Data[p][i]
			shape := &converters.Sample{Key: s.Key, Off: int64(i)}
			for _, f := range s.Fields {
				shape.Fields = append(shape.Fields, converters.Field{Name: f.Name, Value: converters.Opaque(f.Value.Len())})
			}
			if !yield(&converters.Span{Off: int64(i), Entries: len(s.Fields), Shape: shape}, nil) {
				return
			}
		}
	}
}

func (m *Source) Read(ctx context.Context, run converters.Run) iter.Seq2[*converters.Sample, error] {
	return func(yield func(*converters.Sample, error) bool) {
		for i := run.Off; i < run.Off+run.Count && i < int64(len(m.Data[run.Part])); i++ {
			err := ctx.Err()
			if err == nil && m.Fail != nil {
				err = m.Fail(run.Part, i)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			s := m.Data[run.Part][i]
			s.Off = i
			if !yield(&s, nil) {
				return
			}
		}
	}
}

// New makes parts × samples samples of random sizes. Every fifth has no "cls".
func New(seed uint64, parts, samples, largest int) *Source {
	rng := rand.New(rand.NewPCG(seed, 0))
	m := &Source{}
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
		m.Data = append(m.Data, part)
	}
	return m
}

// WithParts makes a fixture a divisible source.
func (m *Source) WithParts(first int, parts []converters.Part) converters.Source {
	return &among{Source: &Source{Data: m.Data[first : first+len(parts)], Skips: m.Skips, Fail: m.Fail}, named: parts}
}

// A table is a source of rows of two numbers, all alike.
type Table struct {
	Data []converters.Part
	Rows int64 // of each part
}

func (s *Table) Parts() []converters.Part { return s.Data }

func (s *Table) Index(_ context.Context, p int) iter.Seq2[*converters.Span, error] {
	return func(yield func(*converters.Span, error) bool) {
		shape := &converters.Sample{Fields: []converters.Field{{Name: "row", Value: converters.Opaque(16)}}}
		for i := range s.Rows {
			shape.Off = 16 * i
			if !yield(&converters.Span{Off: 16 * i, Entries: 1, Shape: shape, Alike: i > 0}, nil) {
				return
			}
		}
	}
}

func (s *Table) Read(ctx context.Context, run converters.Run) iter.Seq2[*converters.Sample, error] {
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
	*Source
	named []converters.Part
}

func (a *among) Parts() []converters.Part { return a.named }
