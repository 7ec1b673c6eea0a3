package tfrecord

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/convertertest"
)

// framed returns records with these data.
func framed(data ...[]byte) (b []byte) {
	for _, d := range data {
		head := binary.LittleEndian.AppendUint64(nil, uint64(len(d)))
		b = append(b, head...)
		b = binary.LittleEndian.AppendUint32(b, masked(head))
		b = append(b, d...)
		b = binary.LittleEndian.AppendUint32(b, masked(d))
	}
	return b
}

// under returns a field of a message with bytes in it.
func under[T []byte | string](num protowire.Number, b T) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, num, protowire.BytesType), []byte(b))
}

func cat(all ...[]byte) (b []byte) {
	for _, a := range all {
		b = append(b, a...)
	}
	return b
}

// example returns an Example with these entries of its map.
func example(entries ...[]byte) []byte {
	var b []byte
	for _, e := range entries {
		b = append(b, under(1, e)...)
	}
	return under(1, b)
}

// entry returns the entry of a feature.
func entry(name string, feature []byte) []byte { return cat(under(1, name), under(2, feature)) }

func bytesList(values ...string) []byte {
	var b []byte
	for _, v := range values {
		b = append(b, under(1, v)...)
	}
	return under(1, b)
}

func floats(values ...float32) []byte {
	var b []byte
	for _, v := range values {
		b = protowire.AppendFixed32(b, math.Float32bits(v))
	}
	return under(2, under(1, b))
}

func ints(values ...int64) []byte {
	var b []byte
	for _, v := range values {
		b = protowire.AppendVarint(b, uint64(v))
	}
	return under(3, under(1, b))
}

// openFiles opens parts as they are now.
func openFiles(t testing.TB, opts Options, paths ...string) *source {
	t.Helper()
	s, err := openForm(&exampleForm, convertertest.Parts(t, paths...), opts, new(converters.Files).Open)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// memory is a source of parts that are in memory.
func memory(t testing.TB, opts Options, parts ...[]byte) *source {
	t.Helper()
	listed, open := convertertest.InMemory(".tfrecord", parts...)
	s, err := openForm(&exampleForm, listed, opts, open)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// words puts a sample into words, one way for each value.
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
		text := "["
		for i, e := range v {
			if i > 0 {
				text += ","
			}
			text += anyWords(e)
		}
		return text + "]"
	}
	return fmt.Sprint(v)
}

// read returns all samples of a part in words.
func read(t testing.TB, src converters.Source, part int) (all []string, err error) {
	t.Helper()
	for sample, err := range src.Read(t.Context(), converters.Run{Part: part, Count: math.MaxInt64}) {
		if err != nil && strings.Contains(err.Error(), "the part ends after") {
			break
		}
		if err != nil {
			return all, err
		}
		all = append(all, words(sample))
	}
	return all, nil
}

// indexed returns the shapes of a part in words, and the offsets of samples.
func indexed(t testing.TB, src converters.Source, part int) (all []string, offs []int64, err error) {
	t.Helper()
	for span, err := range src.Index(t.Context(), part) {
		if err != nil {
			return all, offs, err
		}
		if span.Shape != nil {
			all, offs = append(all, words(span.Shape)), append(offs, span.Off)
		}
	}
	return all, offs, nil
}
