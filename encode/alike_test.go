package encode

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
)

// The size of a sample that is alike is that of its record, whatever its integers are, for all encodings and options.
func TestAlike(t *testing.T) {
	t.Parallel()
	for _, opts := range []Options{{Encoding: "msgpack"}, {Encoding: "cbor"}, {Encoding: "pickle"}, {Encoding: "pickle:b,a"}, {Encoding: "arrow"}, {Rename: []string{"c=b"}}, {Fields: "b,x"}, {Decode: true}} {
		enc, fresh := newEncoder(t, opts), newEncoder(t, opts)
		rnd := rand.New(rand.NewPCG(1, 2))
		for i := range 2000 {
			s := &converters.Sample{Fields: []converters.Field{
				{Name: "a", Value: converters.Int(int64(rnd.Uint64()) >> rnd.IntN(64))},
				{Name: "x", Value: converters.Float(rnd.Float64())},
				{Name: "b", Value: converters.Int(int64(rnd.Uint64()) >> rnd.IntN(64))},
				{Name: "bytes", Value: converters.Opaque(int64(1)<<rnd.IntN(31) + rnd.Int64N(3) - 1)},
				{Name: "text", Value: converters.Text(make([]byte, rnd.IntN(1<<rnd.IntN(18))))},
			}}
			if i >= 1000 { // the same fields, with a key
				s.Key = strings.Repeat("k", 1+rnd.IntN(300))
			}
			want, err := fresh.Encode(s)
			if err != nil {
				t.Fatal(err)
			}
			size := int64(0)
			if i%500 == 0 {
				rec, err := enc.Encode(s)
				if err != nil {
					t.Fatal(err)
				}
				size = rec.Size
			} else if size, err = enc.Alike(s); err != nil {
				t.Fatal(err)
			}
			if size != want.Size {
				t.Fatalf("%+v, sample %d: %d bytes, want %d", opts, i, size, want.Size)
			}
		}
	}
	enc := newEncoder(t, Options{Encoding: "msgpack"})
	for i, size := range []int64{1, 2, 3, 1 << 33} {
		_, err := enc.Alike(&converters.Sample{Fields: []converters.Field{{Name: "a", Value: converters.Opaque(size)}}})
		if large := size > math.MaxUint32; errors.Is(err, converters.ErrLimit) != large {
			t.Errorf("sample %d of %d bytes: %v", i, size, err)
		}
	}
}
