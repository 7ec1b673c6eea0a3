package mds

import (
	"encoding/base64"
	"slices"
	"testing"

	"github.com/ffconvert/ffconvert/converters/convertertest"
	"github.com/ffconvert/ffconvert/internal/test/python"
)

// A writer of the layout that streaming/base/format/mds/{writer,encodings}.py of github.com/mosaicml/streaming describe: numpy
// writes the numbers, the offsets and the arrays, hashlib the digests. It says in words what it wrote.
const pythonWriter = `
import base64, hashlib, io, json, random, struct
from decimal import Decimal
import numpy as np
def words(v):
    if v is None: return "null"
    if v is True: return "true"
    if v is False: return "false"
    if isinstance(v, int): return str(v)
    if isinstance(v, float): return "f" + struct.pack(">d", v).hex()
    if isinstance(v, str): return "t" + v.encode().hex()
    if isinstance(v, bytes): return "b" + v.hex()
    if isinstance(v, list): return "[" + ",".join(map(words, v)) + "]"
    return "{" + ",".join(words(k) + ":" + words(w) for k, w in v.items()) + "}"
def text(r): return "".join(r.choice("aß€😀\x00\n\"\\ ") for _ in range(r.choice([0, 1, 5, 40, 700])))
def blob(r): return r.randbytes(r.choice([0, 1, 100, 5000]))
def npy(a):
    f = io.BytesIO()
    np.save(f, a)
    return f.getvalue()
names = ["uint8", "int8", "uint16", "int16", "float16", "uint32", "int32", "float32", "uint64", "int64", "float64"]
codes = [8, 9, 16, 17, 18, 32, 33, 34, 64, 65, 66]
def array(r, dtype=None, shape=None):
    d = dtype or r.choice(names)
    s = shape or tuple(r.choice([1, 2, 3, 300 if r.random() < .1 else 4]) for _ in range(r.choice([1, 1, 2, 3])))
    a = np.frombuffer(r.randbytes(int(np.prod(s)) * np.dtype(d).itemsize), d).reshape(s)
    out = b"" if dtype else bytes([codes[names.index(d)]])
    if not shape:
        width = 0 if max(s) < 1 << 8 else 1
        out += bytes([len(s) << 2 | width]) + np.array(s, "<u%d" % (1 << width)).tobytes()
    return out + a.tobytes(), npy(a)
def images(r, pad):
    items = [blob(r) for _ in range(r.choice([1, 2, 5]))]
    return pad + np.uint32(len(items)).tobytes() + np.array([len(i) for i in items], np.uint32).tobytes() + b"".join(items), items
def scalar(name):
    def make(r):
        raw = r.randbytes(np.dtype(name).itemsize)
        x = np.frombuffer(raw, name)[0]
        if "float" in name:
            if x != x: raw, x = np.array(1.5, name).tobytes(), 1.5
            return raw, float(x)
        return raw, int(x)
    return make
def nested(r, depth=0):
    kind = r.randrange(7 if depth < 3 else 5)
    if kind == 0: return r.choice([None, True, False])
    if kind == 1: return r.choice([0, -1, 2**63, 2**64 - 1, -2**63, r.randrange(10**6)])
    if kind == 2: return r.choice([0.0, 5e-324, 1.7976931348623157e308, r.random()])
    if kind < 5: return text(r)
    if kind == 5: return [nested(r, depth + 1) for _ in range(r.choice([0, 2]))]
    return {text(r): nested(r, depth + 1) for _ in range(r.choice([0, 2]))}
def form(make, write): # a value, and its bytes
    def both(r):
        v = make(r)
        return write(v), v
    return both
encodings = {
    "str": form(text, str.encode), "bytes": form(blob, bytes), "jpeg": form(blob, bytes), "png": form(blob, bytes), "pil": form(blob, bytes),
    "json": form(nested, lambda v: json.dumps(v).encode()),
    "str_int": form(lambda r: r.choice([0, -5, 2**64 - 1, -2**63]), lambda v: str(v).encode()),
    "str_float": form(lambda r: r.choice([0.1, -0.0, 1e22, float("inf"), r.random()]), lambda v: str(v).encode()),
    "str_decimal": form(lambda r: str(Decimal(r.randrange(10**30)) / 7), str.encode),
    "ndarray": array, "ndarray:float32": lambda r: array(r, "float32"), "ndarray:int16:2,3": lambda r: array(r, "int16", (2, 3)),
    "jpeg_array": lambda r: images(r, b""), "list[png]": lambda r: images(r, bytes(4)),
    "int": scalar("int64"), **{n: scalar(n) for n in names},
}
sizes = {"int": 8, "ndarray:int16:2,3": 12, **{n: np.dtype(n).itemsize for n in names}}
def reply(request):
    r = random.Random(int(request))
    used = r.sample(sorted(encodings), r.choice([1, 3, len(encodings)]))
    columns = sorted(("c%02d %s" % (i, text(r)[:5]), e) for i, e in enumerate(used))
    if r.random() < .7: columns = [("__key__", "str")] + columns
    n = int(1000)
    config = {"version": 2, "format": "mds", "compression": None, "hashes": ["md5", "sha1"], "size_limit": 1 << 26,
        "column_names": [c for c, _ in columns], "column_encodings": [e for _, e in columns], "column_sizes": [sizes.get(e) for _, e in columns]}
    head = json.dumps(config, sort_keys=True).encode()
    samples, told = [], []
    for i in range(n):
        lengths, values, say = [], [], [""]
        for name, e in columns:
            raw, v = encodings[e](r) if name != "__key__" else (str(i).encode(), None)
            if e not in sizes: lengths.append(len(raw))
            values.append(raw)
            if name == "__key__": say[0] = str(i)
            else: say.append(name + ":" + words(v))
        samples.append(np.array(lengths, np.uint32).tobytes() + b"".join(values))
        told.append(say)
    offsets = np.array([0] + [len(s) for s in samples]).cumsum().astype(np.uint32) + np.uint32(4 + 4 * (n + 1) + len(head))
    data = np.uint32(n).tobytes() + offsets.tobytes() + head + b"".join(samples)
    hashes = {h: hashlib.new(h, data).hexdigest() for h in config["hashes"]}
    shard = {**config, "samples": n, "raw_data": {"basename": "shard.00000.mds", "bytes": len(data), "hashes": hashes}, "zip_data": None}
    return {"data": base64.b64encode(data).decode(), "index": json.dumps({"version": 2, "shards": [shard]}), "samples": told}
`

// Ten shards of 1,000 samples with every encoding.
func TestAgainstPython(t *testing.T) {
	t.Parallel()
	py := python.Start(t, pythonWriter, "numpy")
	encodings := make(map[string]bool)
	for seed := range 10 {
		var answer struct {
			Data, Index string
			Samples     [][]string
		}
		py.Ask([]byte{byte('0' + seed)}, &answer)
		data, err := base64.StdEncoding.DecodeString(answer.Data)
		if err != nil {
			t.Fatal(err)
		}
		shards, err := ParseIndex([]byte(answer.Index), "index.json")
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range shards[0].Columns {
			encodings[c.Encoding] = true
		}
		s, err := memory(Options{Load: func(string) bool { return true }}, written{data, shards[0]})
		if err != nil {
			t.Fatal(err)
		}
		i := 0
		for span, err := range s.Index(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			if got := convertertest.SampleWords(span.Shape); !slices.Equal(got, answer.Samples[i]) {
				t.Fatalf("seed %d, sample %d: %.2000q\nwritten: %.2000q", seed, i, got, answer.Samples[i])
			}
			i++
		}
		if i != len(answer.Samples) {
			t.Fatalf("seed %d: %d samples, %d were written", seed, i, len(answer.Samples))
		}
		if s, err = memory(Options{}, written{data, shards[0]}); err != nil {
			t.Fatal(err)
		}
		if got, err := contents(t, s); err != nil || len(got) != i {
			t.Fatalf("seed %d: Read has %d samples, %v", seed, len(got), err)
		}
	}
	if len(encodings) < 26 {
		t.Errorf("%d encodings were written", len(encodings))
	}
}
