package ofrecord

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/convertertest"
	"github.com/ffconvert/ffconvert/converters/tfrecord"
)

// framed returns records with these data.
func framed(data ...[]byte) (b []byte) {
	for _, d := range data {
		b = binary.LittleEndian.AppendUint64(b, uint64(len(d)))
		b = append(b, d...)
	}
	return b
}

// under returns a field of a message with bytes in it.
func under[T []byte | string](num protowire.Number, b T) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, num, protowire.BytesType), []byte(b))
}

// record returns an OFRecord with features of these names and messages.
func record(entries ...[]byte) (b []byte) {
	for _, e := range entries {
		b = append(b, under(1, e)...)
	}
	return b
}

func entry(name string, list protowire.Number, values []byte) []byte {
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

// open opens a source of files as they are now.
func open(t testing.TB, opts tfrecord.Options, paths ...string) converters.Source {
	t.Helper()
	s, err := Open(convertertest.Parts(t, paths...), opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// memory is a source of parts that are in memory.
func memory(t testing.TB, opts tfrecord.Options, parts ...[]byte) converters.Source {
	t.Helper()
	listed, open := convertertest.InMemory("", parts...)
	s, err := tfrecord.OpenForm(&form, listed, opts, open)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// words puts a sample into words.
func words(s *converters.Sample) string {
	text := fmt.Sprintf("%q", s.Key)
	for _, f := range s.Fields {
		text += fmt.Sprintf(" %q:", f.Name)
		switch v := &f.Value; {
		case v.Unread():
			text += fmt.Sprintf("%d bytes", v.Len())
		case v.Kind() == converters.KindBytes:
			text += anyWords(v.Data())
		case v.Kind() == converters.KindInt:
			text += anyWords(v.Int())
		case v.Kind() == converters.KindFloat:
			text += anyWords(v.Float())
		default:
			text += anyWords(v.Nested())
		}
	}
	return text
}

func anyWords(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case []byte:
		return fmt.Sprintf("b%x", v)
	case float64:
		if v != v {
			return "nan"
		}
		return fmt.Sprintf("f%016x", math.Float64bits(v))
	case []any:
		var each []string
		for _, e := range v {
			each = append(each, anyWords(e))
		}
		return "[" + strings.Join(each, ",") + "]"
	}
	return fmt.Sprint(v)
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
