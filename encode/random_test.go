package encode

import (
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ffconvert/ffconvert/converters"
)

// randomSample makes a sample of any kinds of values; nested ones where nested says so.
func randomSample(r *rand.Rand, nested bool) *converters.Sample {
	s := &converters.Sample{}
	if r.IntN(4) > 0 {
		s.Key = "k" + randomText(r)
	}
	for i := range r.IntN(20) {
		f := converters.Field{Name: fmt.Sprintf("%s.%d", randomText(r), i)}
		kinds := 4
		if nested {
			kinds++
		}
		switch r.IntN(kinds) {
		case 0:
			f.Value = converters.Bytes(randomBytes(r))
		case 1:
			f.Value = converters.Text([]byte(randomText(r)))
		case 2:
			f.Value = converters.Int(randomInt(r))
		case 3:
			f.Value = converters.Float(randomFloat(r))
		case 4:
			f.Value = converters.Nested(randomNested(r, 4))
		}
		s.Fields = append(s.Fields, f)
	}
	return s
}

// randomSize is about one of the sizes at which a head grows.
func randomSize(r *rand.Rand) int {
	edges := []int{0, 15, 16, 23, 24, 31, 32, smallValue, 255, 256}
	if r.IntN(200) == 0 {
		edges = []int{65_535, 65_536}
	}
	return max(0, edges[r.IntN(len(edges))]+r.IntN(3)-1)
}

func randomBytes(r *rand.Rand) []byte {
	b := make([]byte, randomSize(r))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

var alphabet = []rune("aZ09._-/\x00\n\"\\äß漢😀\U0010FFFF")

func randomText(r *rand.Rand) string {
	n := randomSize(r)
	b := make([]byte, 0, utf8.UTFMax*n)
	for range n {
		b = utf8.AppendRune(b, alphabet[r.IntN(len(alphabet))])
	}
	return string(b)
}

func randomInt(r *rand.Rand) int64 {
	n := int64(1) << r.IntN(64)
	return []int64{n, -n, n - 1, -n - 1, 0}[r.IntN(5)]
}

func randomFloat(r *rand.Rand) float64 {
	return []float64{
		0, math.Copysign(0, -1), 1, -1.5, math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64,
		math.SmallestNonzeroFloat64, r.NormFloat64(),
	}[r.IntN(10)]
}

func randomNested(r *rand.Rand, depth int) any {
	kinds := 7
	if depth > 0 {
		kinds = 11
	}
	switch r.IntN(kinds) {
	case 0:
		return nil
	case 1:
		return r.IntN(2) == 0
	case 2:
		return randomInt(r)
	case 3:
		return r.Uint64()
	case 4:
		return randomFloat(r)
	case 5:
		return randomText(r)
	case 6:
		return randomBytes(r)
	case 7:
		list := []any{}
		for range r.IntN(18) {
			list = append(list, randomNested(r, depth-2))
		}
		return list
	case 8:
		var m converters.MapBuilder
		for range r.IntN(40) {
			m.Add(randomText(r), randomNested(r, depth-2))
		}
		return m.Map()
	case 9: // keys that Python tells apart: not 1 and 1.0 and True
		var m converters.MapBuilder
		m.Add(true, int64(1))
		m.Add(nil, randomNested(r, depth-2))
		for range r.IntN(10) {
			m.Add(randomText(r), randomNested(r, depth-2))
			m.Add(int64(2+r.IntN(1000)), randomNested(r, depth-2))
			m.Add(int64(-r.IntN(1000)), nil)
			m.Add(uint64(math.MaxInt64)+1+uint64(r.IntN(100)), false)
			m.Add(r.Float64()/2+0.1, randomText(r))
		}
		return m.Map()
	}
	return randomColumn(r, 1+r.IntN(20))
}

func randomColumn(r *rand.Rand, rows int) converters.Column {
	c := converters.Column{Type: []string{"int64", "float64", "float32", "bool", "str"}[r.IntN(5)]}
	for range rows {
		var x any
		switch c.Type {
		case "int64":
			x = randomInt(r)
		case "float64":
			x = randomFloat(r)
		case "float32":
			x = float64(float32(r.NormFloat64()))
		case "bool":
			x = r.IntN(2) == 0
		case "str":
			x = randomText(r)
		}
		if r.IntN(5) == 0 {
			x = nil
		}
		c.Values = append(c.Values, x)
	}
	return c
}

// canonSample is what a record of the sample must say; canon of each value. The key, the
// fields and the pairs of maps are in order. The script of python_test.go writes the same.
func canonSample(s *converters.Sample) string {
	b := make([]byte, 0, 4096)
	pair := func(name string, value any) {
		if len(b) > 0 {
			b = append(b, ';')
		}
		b = appendCanon(append(appendCanon(b, name), '='), value)
	}
	if s.Key != "" {
		pair(converters.KeyField, s.Key)
	}
	for _, f := range s.Fields {
		pair(f.Name, f.Value.Any())
	}
	return string(b)
}

func canon(x any) string { return string(appendCanon(nil, x)) }

// appendCanon appends canon(x), without a text for each part of x: those are slow under the race detector.
func appendCanon(b []byte, x any) []byte {
	switch x := x.(type) {
	case nil:
		return append(b, 'n')
	case bool:
		return strconv.AppendBool(b, x)
	case float32:
		return appendCanon(b, float64(x))
	case float64:
		if math.IsNaN(x) {
			return append(b, "nan"...)
		}
		return fmt.Appendf(b, "f%016x", math.Float64bits(x))
	case string:
		return hex.AppendEncode(append(b, 's'), []byte(x))
	case []byte:
		return hex.AppendEncode(append(b, 'b'), x)
	case converters.Column:
		return appendCanon(b, x.Values)
	case []any:
		b = append(b, '[')
		for i, e := range x {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendCanon(b, e)
		}
		return append(b, ']')
	case converters.Map:
		b = append(b, '{')
		for i, p := range x {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendCanon(append(appendCanon(b, p.Key), ':'), p.Value)
		}
		return append(b, '}')
	case map[any]any:
		var parts []string
		for k, e := range x {
			parts = append(parts, canon(k)+":"+canon(e))
		}
		slices.Sort(parts)
		return append(append(append(b, '{'), strings.Join(parts, ",")...), '}')
	}
	if v := reflect.ValueOf(x); v.CanInt() || v.CanUint() {
		return fmt.Appendf(b, "i%d", x)
	}
	return fmt.Appendf(b, "? %T", x)
}

// unordered returns x as the libraries in Go decode it, whose maps have no order.
func unordered(x any) any {
	switch x := x.(type) {
	case converters.Column:
		return unordered(x.Values)
	case []any:
		list := make([]any, len(x))
		for i := range x {
			list[i] = unordered(x[i])
		}
		return list
	case converters.Map:
		m := make(map[any]any, len(x))
		for _, p := range x {
			m[p.Key] = unordered(p.Value)
		}
		return m
	case map[string]any:
		m := make(map[any]any, len(x))
		for k, e := range x {
			m[k] = e
		}
		return m
	}
	return x
}
