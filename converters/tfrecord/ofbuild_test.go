package tfrecord

import (
	"encoding/binary"
	"math"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/convertertest"
)

// ofFramed returns records with these data.
func ofFramed(data ...[]byte) (b []byte) {
	for _, d := range data {
		b = binary.LittleEndian.AppendUint64(b, uint64(len(d)))
		b = append(b, d...)
	}
	return b
}

// ofRecord returns an OFRecord with features of these names and messages.
func ofRecord(entries ...[]byte) (b []byte) {
	for _, e := range entries {
		b = append(b, under(1, e)...)
	}
	return b
}

func ofEntry(name string, list protowire.Number, values []byte) []byte {
	return append(under(1, name), under(2, under(list, values))...)
}

func varints(values ...int64) (b []byte) {
	for _, v := range values {
		b = protowire.AppendVarint(b, uint64(v))
	}
	return under(1, b)
}

func doubles(values ...float64) (b []byte) {
	for _, v := range values {
		b = protowire.AppendFixed64(b, math.Float64bits(v))
	}
	return under(1, b)
}

// ofOpen opens a source of files as they are now.
func ofOpen(t testing.TB, opts Options, paths ...string) converters.Source {
	t.Helper()
	s, err := OpenOFRecord(convertertest.Parts(t, paths...), opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// ofMemory is a source of parts that are in memory.
func ofMemory(t testing.TB, opts Options, parts ...[]byte) converters.Source {
	t.Helper()
	listed, open := convertertest.InMemory("", parts...)
	s, err := openParts(&ofForm, listed, opts, open)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// all returns the samples of all parts in words, as Index and as Read have them. Read reads what Index found.
func all(t testing.TB, src converters.Source) (shapes, samples []string, err error) {
	t.Helper()
	for p := range src.Parts() {
		run := converters.Run{Part: p, Off: -1}
		for span, err := range src.Index(t.Context(), p) {
			if err != nil {
				return shapes, samples, err
			}
			if span.Shape == nil {
				continue
			}
			if run.Count++; run.Off < 0 {
				run.Off = span.Off
			}
			shapes = append(shapes, words(span.Shape))
		}
		for sample, err := range src.Read(t.Context(), run) {
			if err != nil {
				return shapes, samples, err
			}
			samples = append(samples, words(sample))
		}
	}
	return shapes, samples, nil
}
