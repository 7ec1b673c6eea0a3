package jsonl

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/convertertest"
)

// memory is a source of parts that are in memory.
func memory(opts Options, parts ...string) *source {
	contents := make([][]byte, len(parts))
	for i := range parts {
		contents[i] = []byte(parts[i])
	}
	found, open := convertertest.InMemory(".jsonl", contents...)
	s := Open(found, opts)
	s.open = open
	return s.with(found)
}

// indexed returns the samples of the first part in words, the offsets of these, and the reasons of skipped entries.
func indexed(t testing.TB, src converters.Source) (samples []string, offs []int64, skipped []string, err error) {
	t.Helper()
	for span, err := range src.Index(t.Context(), 0) {
		switch {
		case err != nil:
			return samples, offs, skipped, err
		case span.Shape == nil:
			skipped = append(skipped, span.Skip)
		default:
			samples = append(samples, strings.Join(convertertest.SampleWords(span.Shape), " "))
			offs = append(offs, span.Off)
		}
	}
	return samples, offs, skipped, nil
}

// contents returns the samples of the first part in words. It reads them as one run, and from the middle on.
func contents(t testing.TB, src converters.Source) ([]string, error) {
	t.Helper()
	shapes, offs, _, err := indexed(t, src)
	if err != nil {
		return nil, err
	}
	read := func(first int) (all []string) {
		run := converters.Run{First: int64(first), Count: int64(len(shapes) - first)}
		if run.Count > 0 {
			run.Off = offs[first]
		}
		for s, err := range src.Read(t.Context(), run) {
			if err != nil {
				t.Fatalf("Read refuses what Index accepts: %v", err)
			}
			all = append(all, strings.Join(convertertest.SampleWords(s), " "))
		}
		return all
	}
	all, middle := read(0), len(shapes)/2
	if !slices.Equal(all, shapes) || !slices.Equal(read(middle), shapes[middle:]) {
		t.Fatalf("Read has %.500q, Index %.500q", all, shapes)
	}
	return all, nil
}

// wantPlaced wants that an error has a part and is one line.
func wantPlaced(t *testing.T, err error) *converters.Error {
	t.Helper()
	placed, ok := errors.AsType[*converters.Error](err)
	if !ok || placed.Where == "" || strings.Contains(err.Error(), "\n") {
		t.Fatalf("no place, or not a line: %v", err)
	}
	return placed
}
