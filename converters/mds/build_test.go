package mds

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/convertertest"
)

// A written shard is the bytes of a shard and what index.json says of it.
type written struct {
	data  []byte
	shard Shard
}

// write makes a shard by the layout in the package comment. A sample is the bytes of its values.
func write(t testing.TB, columns []Column, samples ...[]string) written {
	t.Helper()
	config := configJSON{Version: 2, Format: "mds"}
	for _, c := range columns {
		config.Names, config.Encodings = append(config.Names, c.Name), append(config.Encodings, c.Encoding)
		var size *int64
		if c.Size > 0 {
			size = &c.Size
		}
		config.Sizes = append(config.Sizes, size)
	}
	head, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	var body []byte
	word := binary.LittleEndian.AppendUint32
	at := 4 + 4*(len(samples)+1) + len(head)
	data := word(word(nil, uint32(len(samples))), uint32(at))
	for _, s := range samples {
		var sizes, values []byte
		for i, v := range s {
			if columns[i].Size == 0 {
				sizes = word(sizes, uint32(len(v)))
			}
			values = append(values, v...)
		}
		body = slices.Concat(body, sizes, values)
		data = word(data, uint32(at+len(body)))
	}
	data = slices.Concat(data, head, body)
	return written{data, Shard{Columns: columns, Samples: int64(len(samples)), Raw: file{Name: "shard.mds", Bytes: int64(len(data))}}}
}

// memory is a source of shards that are in memory.
func memory(opts Options, shards ...written) (*source, error) {
	var contents [][]byte
	var about []Shard
	for _, w := range shards {
		contents, about = append(contents, w.data), append(about, w.shard)
	}
	parts, open := convertertest.InMemory(".mds", contents...)
	s, err := Open(parts, about, opts)
	if err == nil {
		s.open = open
		s = s.with(parts)
	}
	return s, err
}

// contents returns the samples of the first part in words, read as one run and from the middle on. Index says the same.
func contents(t testing.TB, s *source) ([]string, error) {
	t.Helper()
	var shapes []string
	var offs []int64
	for span, err := range s.Index(t.Context(), 0) {
		if err != nil {
			return nil, err
		}
		shapes, offs = append(shapes, shape(span.Shape)), append(offs, span.Off)
	}
	read := func(first int) (all []string) {
		run := converters.Run{First: int64(first), Count: int64(len(shapes) - first)}
		if run.Count > 0 {
			run.Off = offs[first]
		}
		i := first
		for sample, err := range s.Read(t.Context(), run) {
			if err != nil {
				t.Fatalf("Read refuses what Index accepts: %v", err)
			}
			if got := shape(sample); got != shapes[i] {
				t.Fatalf("sample %d is %s, Index has %s", i, got, shapes[i])
			}
			all = append(all, strings.Join(convertertest.SampleWords(sample), " "))
			i++
		}
		return all
	}
	all := read(0)
	if middle := read(len(shapes) / 2); len(all) != len(shapes) || !slices.Equal(middle, all[len(shapes)/2:]) {
		t.Fatalf("%d samples, %d in the index", len(all), len(shapes))
	}
	return all, nil
}

// shape is a sample with the sizes of its bytes in place of them.
func shape(s *converters.Sample) string {
	words := []string{fmt.Sprintf("%q at %d", s.Key, s.Off)}
	for _, f := range s.Fields {
		word := fmt.Sprint(f.Value.Len(), " bytes")
		if f.Value.Kind() != converters.KindBytes {
			word = convertertest.Words(f.Value)
		}
		words = append(words, f.Name+":"+word)
	}
	return strings.Join(words, " ")
}

// save writes a shard to a file of a directory.
func (w *written) save(t testing.TB, dir, name string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, w.data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// wantPlaced wants that an error has a part and is one line.
func wantPlaced(t testing.TB, err error) *converters.Error {
	t.Helper()
	placed, ok := errors.AsType[*converters.Error](err)
	if !ok || placed.Where == "" || strings.Contains(err.Error(), "\n") {
		t.Fatalf("no place, or not a line: %v", err)
	}
	return placed
}
