package cbor

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/test/python"
)

// What a library reads, item by item: where each ends, what it is in the words of
// build_test.go, and, if it is a map of text, what its key and its fields are.
const pythonReader = `
import struct, re
def words(v):
    if v is undefined: return "undefined"
    if v is None: return "null"
    if v is True: return "true"
    if v is False: return "false"
    if isinstance(v, int): return str(v)
    if isinstance(v, float): return "nan" if v != v else "f" + struct.pack(">d", v).hex()
    if isinstance(v, str): return "t" + v.encode().hex()
    if isinstance(v, bytes): return "b" + v.hex()
    if isinstance(v, (list, tuple)) and type(v).__name__ != "ExtType": return "[" + ",".join(map(words, v)) + "]"
    if isinstance(v, dict): return "{" + ",".join(words(k) + ":" + words(w) for k, w in v.items()) + "}"
    return re.sub("0x[0-9a-f]+", "", repr(v)) # Items alone have such
def reply(data):
    items = []
    try:
        start = 0
        for v, end in decode(data):
            if words(loads(data[start:end])) != words(v):
                raise ValueError("item %d alone is another" % len(items))
            start = end
            item = {"end": end}
            if isinstance(v, dict) and all(isinstance(k, str) for k in v):
                item["key"] = v.pop("__key__", "")
                item["fields"] = [k + ":" + words(w) for k, w in v.items()]
            else:
                item["fields"] = ["item:" + words(v)]
            items.append(item)
    except Exception as e:
        return {"error": repr(e), "items": items}
    return {"items": items}
`

const pythonCBOR = `
import io
from cbor2 import CBORDecoder, loads, undefined
def decode(data):
    f = io.BytesIO(data)
    d = CBORDecoder(f)
    while f.tell() < len(data):
        v = d.decode()
        yield v, f.tell()
`

const pythonMessagePack = `
import io, msgpack
undefined = object()
how = dict(raw=False, strict_map_key=False, max_buffer_size=1 << 30)
def loads(data):
    return msgpack.unpackb(data, raw=False, strict_map_key=False)
def decode(data):
    u = msgpack.Unpacker(io.BytesIO(data), **how)
    for v in u:
        yield v, u.tell()
    if u.tell() != len(data):
        raise EOFError("%d of %d bytes" % (u.tell(), len(data)))
`

// Random sequences: cbor2 and msgpack read the items that we read, the same fields in
// the same order with the same values, and each item's own bytes are that item.
func TestAgainstPython(t *testing.T) {
	t.Parallel()
	need.Time(t, "thousands of values, in Python too")
	const datasets = 200
	for name, library := range map[string]string{"cbor2": pythonCBOR, "msgpack": pythonMessagePack} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			py := python.Start(t, library+pythonReader, name)
			items, bytes := 0, 0
			for seed := range uint64(datasets) {
				g := generator{Rand: rand.New(rand.NewPCG(seed, 1)), pack: name == "msgpack", any: seed%2 == 1}
				data := g.sequence()
				var answer struct {
					Error string
					Items []struct {
						End    int64
						Key    string
						Fields []string
					}
				}
				py.Ask(data, &answer)
				if answer.Error != "" {
					t.Fatalf("seed %d: Python: %s", seed, answer.Error)
				}
				opts := Options{MessagePack: g.pack, Items: g.any}
				if !g.any {
					got, err := contents(t, memory(opts, data))
					if err != nil || len(got) != len(answer.Items) {
						t.Fatalf("seed %d: %d samples, Python has %d; error %v", seed, len(got), len(answer.Items), err)
					}
					for i, want := range answer.Items {
						if got[i].key != want.Key || !slices.Equal(got[i].fields, want.Fields) {
							t.Fatalf("seed %d, item %d: we have %.2000s\nPython has %q %.2000s", seed, i, got[i], want.Key, want.Fields)
						}
					}
				}
				opts.Items = true
				start, i := int64(0), 0
				for sample, err := range memory(opts, data).Read(t.Context(), converters.Run{Count: int64(len(answer.Items))}) {
					if err != nil {
						t.Fatalf("seed %d: %v", seed, err)
					}
					want := answer.Items[i]
					own := sample.Fields[0].Value.Data()
					if sample.Off != start || string(own) != string(data[start:want.End]) || sample.Key != want.Key {
						t.Fatalf("seed %d, item %d: key %q at %d, %d bytes; Python has %q from %d to %d", seed, i, sample.Key, sample.Off, len(own), want.Key, start, want.End)
					}
					start = want.End
					i++
				}
				if got, err := indexed(t, memory(opts, data)); err != nil || len(got) != i || start != int64(len(data)) {
					t.Fatalf("seed %d: Index has %d items, error %v; Python %d", seed, len(got), err, i)
				}
				items, bytes = items+i, bytes+len(data)
			}
			t.Logf("F2 [%s] cases=%d undetected=0 lost=0 items=%d bytes=%d", name, datasets, items, bytes)
		})
	}
}
