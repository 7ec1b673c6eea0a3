package cbor

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	fxcbor "github.com/fxamacker/cbor/v2"
	"github.com/vmihailenco/msgpack/v5"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/fuzz"
)

// check wants that Index and Read agree on data, with fields and with items, whatever it
// is. It returns the items that are accepted, the rest, and what is said of that.
func check(t testing.TB, opts Options, data []byte) (items [][]byte, rest []byte, err error) {
	t.Helper()
	opts.Items = false
	shapes, err := indexed(t, memory(opts, data))
	if err == nil {
		opts.Load = func(string) bool { return true }
		loaded, err := indexed(t, memory(opts, data))
		if err != nil || len(loaded) != len(shapes) {
			t.Fatalf("Index that loads all has %d samples, not %d; error %v", len(loaded), len(shapes), err)
		}
		got, err := contents(t, memory(opts, data))
		if err != nil || len(got) != len(shapes) {
			t.Fatalf("Read has %d samples, Index %d; error %v", len(got), len(shapes), err)
		}
		for i := range got {
			if !sameContent(got[i], loaded[i]) {
				t.Fatalf("Read has %v, Index %v", got[i], loaded[i])
			}
		}
		if first := len(got) / 2; first > 0 {
			i := first
			for sample, err := range memory(opts, data).Read(t.Context(), converters.Run{First: int64(first), Off: shapes[first].off, Count: int64(len(got) - first)}) {
				if err != nil || !sameContent(contentOf(sample), got[i]) {
					t.Fatalf("Read from item %d on has %v, from the first on %v; error %v", first, sample, got[i], err)
				}
				i++
			}
		}
	} else {
		wantPlaced(t.(*testing.T), err)
	}
	opts.Items, opts.Load = true, nil
	shapes, itemsErr := indexed(t, memory(opts, data))
	if itemsErr != nil && err == nil {
		t.Fatalf("fields are accepted, items are not: %v", itemsErr)
	}
	at := int64(0)
	for sample, err := range memory(opts, data).Read(t.Context(), converters.Run{Count: math.MaxInt64}) {
		n := len(items)
		if err != nil {
			if n != len(shapes) || itemsErr == nil && !errors.Is(err, converters.ErrTruncated) || itemsErr != nil && err.Error() != itemsErr.Error() {
				t.Fatalf("Read after %d of %d items: %v; Index: %v", n, len(shapes), err, itemsErr)
			}
			break
		}
		item := sample.Fields[0].Value.Data()
		if sample.Off != at || sample.Off != shapes[n].off || sample.Key != shapes[n].key || !bytes.HasPrefix(data[at:], item) {
			t.Fatalf("Read has item %d at %d, Index at %d", n, sample.Off, shapes[n].off)
		}
		at += int64(len(item))
		items = append(items, bytes.Clone(item))
	}
	return items, data[at:], itemsErr
}

// againstFxamacker wants that the library finds well-formed what we do, item by item,
// and that it has something against what we find malformed or cut.
func againstFxamacker(t testing.TB, data []byte) bool {
	t.Helper()
	items, rest, err := check(t, Options{MaxDepth: MostDepth}, data)
	mode, modeErr := fxcbor.DecOptions{MaxNestedLevels: MostDepth, MaxArrayElements: math.MaxInt32, MaxMapPairs: math.MaxInt32}.DecMode()
	if modeErr != nil {
		t.Fatal(modeErr)
	}
	for _, item := range items {
		if theirs := mode.Wellformed(item); theirs != nil {
			t.Errorf("% x: we accept it, fxamacker: %v", item, theirs)
		}
	}
	if err == nil {
		return true
	}
	theirs := mode.Wellformed(rest)
	_, more := errors.AsType[*fxcbor.ExtraneousDataError](theirs)
	ours := errors.Is(err, converters.ErrDuplicate) || strings.Contains(err.Error(), "UTF-8") // it does not look at these
	if (theirs == nil || more) && !ours {
		t.Errorf("% x: we say %v, fxamacker accepts it", rest, err)
	}
	return false
}

// againstMsgpack wants that vmihailenco's library can pass the items that we have, one
// by one and to the last byte.
func againstMsgpack(t testing.TB, data []byte) bool {
	t.Helper()
	items, _, err := check(t, Options{MessagePack: true, MaxDepth: MostDepth}, data)
	for _, item := range items {
		r := bytes.NewReader(item)
		if theirs := msgpack.NewDecoder(r).Skip(); theirs != nil || r.Len() > 0 {
			t.Errorf("% x: we accept it, vmihailenco: %v, %d bytes left", item, theirs, r.Len())
		}
	}
	return err == nil
}

// mutate changes up to three bytes, or a length of the sequence.
func mutate(rnd *rand.Rand, b []byte) []byte {
	b = bytes.Clone(b)
	for range 1 + rnd.IntN(3) {
		if len(b) == 0 {
			break
		}
		at := rnd.IntN(len(b))
		switch rnd.IntN(6) {
		case 0:
			b[at] = byte(rnd.Uint32())
		case 1:
			b[at] ^= 1 << rnd.IntN(8)
		case 2: // heads that announce something
			b[at] = "\x18\x1f\x3b\x5f\x7f\x80\x9f\xbf\xc0\xd9\xf8\xff\xc1\xdc\xdd\xde\xdf\xc4\xc9\xd9"[rnd.IntN(20)]
		case 3:
			b = append(b[:at], b[at+1:]...)
		case 4:
			b = append(b[:at], append([]byte{byte(rnd.Uint32())}, b[at:]...)...)
		case 5:
			b = b[:at]
		}
	}
	return b
}

// Of mutated and of random bytes we accept what other libraries find well-formed.
func TestMutated(t *testing.T) {
	t.Parallel()
	for name, against := range map[string]func(testing.TB, []byte) bool{"cbor": againstFxamacker, "msgpack": againstMsgpack} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cases := 1_500
			if os.Getenv("FFCONVERT_FAULTS") != "" {
				cases = 20_000
			}
			rnd := rand.New(rand.NewPCG(7, uint64(len(name))))
			var seeds [][]byte
			for _, row := range kinds {
				seeds = append(seeds, []byte(map[string]string{"cbor": row.cbor, "msgpack": row.pack}[name]))
			}
			for seed := range uint64(40) {
				g := generator{Rand: rand.New(rand.NewPCG(seed, 2)), pack: name == "msgpack", any: seed%2 == 1}
				if b := g.sequence(); len(b) < 4000 {
					seeds = append(seeds, b)
				}
			}
			accepted := 0
			for i := range cases {
				data := mutate(rnd, seeds[rnd.IntN(len(seeds))])
				if i%4 == 0 {
					data = make([]byte, rnd.IntN(40))
					for i := range data {
						data[i] = byte(rnd.Uint32())
					}
				}
				if against(t, data) {
					accepted++
				}
				sameDecoded(t, name == "msgpack", data)
				if t.Failed() {
					return
				}
			}
			t.Logf("cases=%d accepted=%d disagreements=0", cases, accepted)
		})
	}
}

func FuzzCBOR(f *testing.F) { fuzzItems(f, false, againstFxamacker) }

func FuzzMessagePack(f *testing.F) { fuzzItems(f, true, againstMsgpack) }

// fuzz: no bytes make Index or Read panic or allocate more than they warrant, the two
// agree, from any item on and without short cuts, and what we accept another library finds
// well-formed. What Go values are made of it is what that library makes.
func fuzzItems(f *testing.F, pack bool, against func(testing.TB, []byte) bool) {
	for _, row := range kinds {
		f.Add([]byte(map[bool]string{false: row.cbor, true: row.pack}[pack]))
	}
	for _, row := range hostile {
		if row.pack == pack && len(row.data) < 1000 {
			f.Add([]byte(row.data))
		}
	}
	for seed := range uint64(10) {
		g := generator{Rand: rand.New(rand.NewPCG(seed, 3)), pack: pack, any: seed%2 == 1}
		if b := g.sequence(); len(b) < 4000 {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		fuzz.WantAllocated(t, 1<<20+1000*len(data), func() {
			_, _ = indexed(t, memory(Options{MessagePack: pack, Load: func(string) bool { return true }}, data))
		})
		against(t, data)
		sameDecoded(t, pack, data)
		sameTold(t, Options{MessagePack: pack, Items: true}, cat(data, data, make([]byte, wordSize)))
	})
}

// sameDecoded wants that what we decode of an item is what a library decodes.
func sameDecoded(t testing.TB, pack bool, data []byte) {
	t.Helper()
	src := memory(Options{MessagePack: pack, Items: true}, data)
	for sample, err := range src.Read(t.Context(), converters.Run{Count: math.MaxInt64}) {
		if err != nil {
			return
		}
		item := sample.Fields[0].Value.Data()
		d := decoder{forms: src.forms, b: item}
		ours, err := d.value(d.head())
		if err != nil {
			continue // it has no form in Go
		}
		var theirs any
		if pack {
			theirs, err = decodeMessagePack(item)
		} else {
			theirs, err = decodeCBOR(item)
		}
		if _, isKey := errors.AsType[*fxcbor.InvalidMapKeyTypeError](err); isKey {
			continue // a bignum that fits 64 bits: Python takes it, and so do we
		}
		if err != nil || anyWords(unordered(ours)) != anyWords(theirs) || len(d.b) > 0 {
			t.Errorf("% x: we decode %s, %d bytes are left; they decode %s, error %v", item, anyWords(ours), len(d.b), anyWords(theirs), err)
		}
	}
}

func decodeCBOR(item []byte) (v any, err error) {
	mode, err := fxcbor.DecOptions{MaxNestedLevels: 64, MaxArrayElements: math.MaxInt32, MaxMapPairs: math.MaxInt32}.DecMode()
	if err != nil {
		return nil, err
	}
	return v, mode.Unmarshal(item, &v)
}

func decodeMessagePack(item []byte) (any, error) {
	d := msgpack.NewDecoder(bytes.NewReader(item))
	d.SetMapDecoder(func(d *msgpack.Decoder) (any, error) {
		n, err := d.DecodeMapLen()
		m := map[any]any{}
		for range n {
			k, keyErr := d.DecodeInterface()
			v, valueErr := d.DecodeInterface()
			if err = errors.Join(err, keyErr, valueErr); err != nil {
				break
			}
			m[k] = v
		}
		return m, err
	})
	return d.DecodeInterface() // DecodeInterfaceLoose would make text of bytes
}
