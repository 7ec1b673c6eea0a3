package cbor

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/convertertest"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
)

var (
	indexing    = (&scan.Pass{Index: true}).Sizes()
	reading     = (&scan.Pass{}).Sizes()
	smallRead   = indexing.First
	firstSweep  = reading.First
	indexWindow = indexing.Usual
	readWindow  = reading.Usual
)

// openFiles opens parts as they are now.
func openFiles(t testing.TB, opts Options, paths ...string) *source {
	t.Helper()
	return Open(convertertest.Parts(t, paths...), opts)
}

// counted makes a source count what it does with its files.
func counted(s *source) (*source, *convertertest.Usage) {
	var use *convertertest.Usage
	s.open, use = convertertest.Count(s.open)
	return s.with(s.Parts()), use
}

// memory is a source of one part that is in memory.
func memory(opts Options, data []byte) *source {
	parts, open := convertertest.InMemory(".cbor", data)
	s := Open(parts, opts)
	s.open = open
	return s.with(parts)
}

// A content is a sample in words. A field is its name, a colon, and its value.
type content struct {
	off    int64
	key    string
	fields []string
}

func contentOf(s *converters.Sample) content {
	c := content{off: s.Off, key: s.Key}
	for _, f := range s.Fields {
		c.fields = append(c.fields, f.Name+":"+words(f.Value))
	}
	return c
}

func sameContent(a, b content) bool {
	return a.off == b.off && a.key == b.key && slices.Equal(a.fields, b.fields)
}

// words puts a value into words, one way for each value.
func words(v converters.Value) string {
	switch {
	case v.Unread():
		return fmt.Sprintf("%d bytes", v.Len())
	case v.Kind() == converters.KindBytes:
		return anyWords(v.Data())
	case v.Kind() == converters.KindText:
		return anyWords(string(v.Data()))
	case v.Kind() == converters.KindInt:
		return anyWords(v.Int())
	case v.Kind() == converters.KindFloat:
		return anyWords(v.Float())
	}
	return anyWords(v.Nested())
}

// unordered returns v as the libraries in Go decode it, whose maps have no order.
func unordered(v any) any {
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = unordered(v[i])
		}
		return list
	case converters.Map:
		m := make(map[any]any, len(v))
		for _, p := range v {
			m[p.Key] = unordered(p.Value)
		}
		return m
	}
	return v
}

func anyWords(v any) string {
	var pairs []string
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return fmt.Sprint(v)
	case int64, uint64, int8, int16, int32, uint8, uint16, uint32:
		return fmt.Sprint(v)
	case float32:
		return anyWords(float64(v))
	case float64:
		if math.IsNaN(v) {
			return "nan"
		}
		return fmt.Sprintf("f%016x", math.Float64bits(v))
	case string:
		return fmt.Sprintf("t%x", v)
	case []byte:
		return fmt.Sprintf("b%x", v)
	case big.Int:
		return v.String()
	case []any:
		for _, e := range v {
			pairs = append(pairs, anyWords(e))
		}
		return "[" + strings.Join(pairs, ",") + "]"
	case converters.Map:
		for _, p := range v {
			pairs = append(pairs, anyWords(p.Key)+":"+anyWords(p.Value))
		}
		return "{" + strings.Join(pairs, ",") + "}"
	case map[any]any:
		for k, v := range v {
			pairs = append(pairs, anyWords(k)+":"+anyWords(v))
		}
	default:
		return fmt.Sprintf("%T?", v)
	}
	slices.Sort(pairs)
	return "{" + strings.Join(pairs, ",") + "}"
}

// indexed is what the index of a source's only part has, and where it stopped.
func indexed(t testing.TB, s *source) (all []content, err error) {
	t.Helper()
	for span, err := range s.Index(t.Context(), 0) {
		if err != nil {
			return all, err
		}
		all = append(all, contentOf(span.Shape))
	}
	return all, nil
}

// contents reads all samples of a source's only part as one run.
func contents(t testing.TB, s *source) (all []content, err error) {
	t.Helper()
	shapes, err := indexed(t, s)
	if err != nil {
		return nil, err
	}
	for sample, err := range s.Read(t.Context(), converters.Run{Count: int64(len(shapes))}) {
		if err != nil {
			return all, err
		}
		all = append(all, contentOf(sample))
	}
	return all, nil
}

// count indexes and reads the items of a source's only part.
func count(t testing.TB, s *source) (n int64, err error) {
	t.Helper()
	for _, err := range s.Index(t.Context(), 0) {
		if err != nil {
			return n, err
		}
		n++
	}
	read := int64(0)
	for _, err := range s.Read(t.Context(), converters.Run{Count: n}) {
		if err != nil {
			return read, err
		}
		read++
	}
	if read != n {
		t.Fatalf("Index has %d samples, Read %d", n, read)
	}
	return n, nil
}

// Items by the byte.

func cat(pieces ...[]byte) []byte { return slices.Concat(pieces...) }

// long is a head of nine bytes.
func long(major byte, n uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{major<<5 | 27}, n)
}

func textItem(s string) []byte { return append(long(3, uint64(len(s))), s...) }

func blob(b []byte) []byte { return append(long(2, uint64(len(b))), b...) }

// wantPlaced wants that an error names the part, a place, and an item.
func wantPlaced(t *testing.T, err error) *converters.Error {
	t.Helper()
	var placed *converters.Error
	if !errors.As(err, &placed) || placed.Where != "part-0.cbor" || placed.Off < 0 || !strings.HasPrefix(placed.Entry, "item ") {
		t.Fatalf("no place: %v", err)
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("more than one line: %q", err)
	}
	return placed
}
