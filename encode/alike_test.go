package encode

import (
	"math/rand/v2"
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
			}}
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
}
