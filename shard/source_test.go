package shard

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
)

// A fixture is a source of samples in memory. An offset is an ordinal.
type fixture struct {
	parts [][]converters.Sample
	first int               // of the dataset's parts, the first one here
	skips []converters.Span // yielded before the samples of each part
	fail  func(part int, ordinal int64) error
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

// newPlan indexes and plans.
func newPlan(t testing.TB, src converters.Source, enc encode.Options, opts Options) *Plan {
	t.Helper()
	spec, err := encode.Parse(enc)
	if err != nil {
		t.Fatal(err)
	}
	index, err := Index(context.Background(), src, spec, 3, nil)
	if err != nil {
		t.Fatal(err)
	}
	opts.Encode = spec.Options()
	opts.Source.Format = "memory"
	plan, err := NewPlan(index, opts)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// write writes the plan to dir, opening and closing it.
func write(t testing.TB, src converters.Source, plan *Plan, dir string, opts WriteOptions) (*Report, error) {
	t.Helper()
	out, err := OpenOutput(dir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err := out.Close(); err != nil {
			t.Error(err)
		}
	}()
	return Write(context.Background(), src, plan, out, opts)
}

// files reads all files below dir whose bytes are promised: shards and indexes.
func files(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".ffr") && !strings.HasSuffix(name, ".arrow") {
			return err
		}
		data, err := os.ReadFile(name)
		rel, _ := filepath.Rel(dir, name)
		all[rel] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
