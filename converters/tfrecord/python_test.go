package tfrecord

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"
	"github.com/ffconvert/ffconvert/internal/test/python"
)

// Google's protobuf for Python, and a library for CRC-32C, write a file of Examples and SequenceExamples of odd shapes,
// and say what is in it in the words of build_test.go. The messages are declared as example.proto and feature.proto of
// TensorFlow declare them.
const pythonWriter = `
import random, struct
import crc32c
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

def declare(syntax, packed):
    f = descriptor_pb2.FileDescriptorProto(name=syntax + str(packed) + ".proto", package=syntax + str(packed), syntax=syntax)
    F = descriptor_pb2.FieldDescriptorProto
    def message(name, *fields):
        m = f.message_type.add(name=name)
        for number, (field, label, kind, of) in enumerate(fields, 1):
            d = m.field.add(name=field, number=number, label=label, type=kind)
            if of: d.type_name = "." + f.package + "." + of
            if label == F.LABEL_REPEATED and kind in (F.TYPE_FLOAT, F.TYPE_INT64): d.options.packed = packed
        return m
    R, O = F.LABEL_REPEATED, F.LABEL_OPTIONAL
    message("BytesList", ("value", R, F.TYPE_BYTES, ""))
    message("FloatList", ("value", R, F.TYPE_FLOAT, ""))
    message("Int64List", ("value", R, F.TYPE_INT64, ""))
    m = message("Feature", ("bytes_list", O, F.TYPE_MESSAGE, "BytesList"), ("float_list", O, F.TYPE_MESSAGE, "FloatList"), ("int64_list", O, F.TYPE_MESSAGE, "Int64List"))
    m.oneof_decl.add(name="kind")
    for d in m.field: d.oneof_index = 0
    message("FeatureList", ("feature", R, F.TYPE_MESSAGE, "Feature"))
    def of_map(name, field, entry, value):
        m = message(name, (field, R, F.TYPE_MESSAGE, name + "." + entry))
        e = m.nested_type.add(name=entry)
        e.options.map_entry = True
        e.field.add(name="key", number=1, label=O, type=F.TYPE_STRING)
        e.field.add(name="value", number=2, label=O, type=F.TYPE_MESSAGE, type_name="." + f.package + "." + value)
    of_map("Features", "feature", "FeatureEntry", "Feature")
    of_map("FeatureLists", "feature_list", "FeatureListEntry", "FeatureList")
    message("Example", ("features", O, F.TYPE_MESSAGE, "Features"))
    message("SequenceExample", ("context", O, F.TYPE_MESSAGE, "Features"), ("feature_lists", O, F.TYPE_MESSAGE, "FeatureLists"))
    pool = descriptor_pool.DescriptorPool()
    pool.Add(f)
    factory = message_factory.MessageFactory(pool)
    return tuple(factory.GetPrototype(pool.FindMessageTypeByName(f.package + "." + n)) for n in ("Example", "SequenceExample"))

def masked(b):
    c = crc32c.crc32c(b)
    return ((c >> 15 | c << 17) + 0xa282ead8) & 0xffffffff

def double(x):
    return "nan" if x != x else "f" + struct.pack(">d", x).hex()

def values(rnd, feature, kind, n):
    if kind == 0:
        v = [rnd.randbytes(rnd.choice([0, 1, 5, 200, 127, 128])) for _ in range(n)]
        if v and rnd.random() < 0.01: v[0] = rnd.randbytes(70000)
        feature.bytes_list.value.extend(v)
        if not v: feature.bytes_list.SetInParent()
        return ["b" + b.hex() for b in v]
    if kind == 1:
        v = [rnd.choice([0.0, -0.0, 1.5, 1e-45, 3.4028234663852886e38, float("inf"), float("-inf"), float("nan"), struct.unpack("f", rnd.randbytes(4))[0]]) for _ in range(n)]
        feature.float_list.value.extend(v)
        if not v: feature.float_list.SetInParent()
        return [double(x) for x in feature.float_list.value]
    v = [rnd.choice([0, 1, -1, 127, 128, 1 << 31, -1 << 31, (1 << 63) - 1, -1 << 63, rnd.getrandbits(63)]) for _ in range(n)]
    feature.int64_list.value.extend(v)
    if not v: feature.int64_list.SetInParent()
    return [str(x) for x in v]

single = ["one_bytes", "one_float", "one_int", "größe", "image/encoded", "😀"]
listed = ["list_bytes", "list_float", "list_int", "l" * 300]

def fill(rnd, features, words):
    for i, name in enumerate(single):
        if rnd.random() < 0.8:
            f = features[name]
            words[name] = values(rnd, f, i % 3, 1)[0]
    for i, name in enumerate(listed):
        if rnd.random() < 0.6:
            f = features[name]
            words[name] = "[" + ",".join(values(rnd, f, i % 3, rnd.choice([0, 1, 2, 3, 300]) if rnd.random() < 0.2 else rnd.choice([0, 2]))) + "]"
    if rnd.random() < 0.1:
        features["void"].SetInParent()
        words["void"] = "null"

def reply(request):
    seed, n, path = request.decode().split(" ", 2)
    rnd = random.Random(int(seed))
    kinds = [declare("proto3", True), declare("proto2", False)]
    said = []
    with open(path, "wb") as out:
        for i in range(int(n)):
            Example, Sequence = kinds[rnd.random() < 0.3]
            words, key = {}, ""
            if i > 0 and rnd.random() < 0.3:
                e = Sequence()
                fill(rnd, e.context.feature, words)
                for name, kind in ("frames", 0), ("audio", 1), ("tokens", 2):
                    if rnd.random() < 0.5: continue
                    steps = []
                    l = e.feature_lists.feature_list[name]
                    for _ in range(rnd.choice([0, 1, 7])):
                        steps.append(values(rnd, l.feature.add(), kind, 1)[0])
                    words[name] = "[" + ",".join(steps) + "]"
            else:
                e = Example()
                if i == 0: # shows what is a list, and what is not
                    for k, name in enumerate(single): words[name] = values(rnd, e.features.feature[name], k % 3, 1)[0]
                    for k, name in enumerate(listed): words[name] = "[" + ",".join(values(rnd, e.features.feature[name], k % 3, 2)) + "]"
                elif rnd.random() < 0.95:
                    fill(rnd, e.features.feature, words)
                if rnd.random() < 0.5:
                    key = "schlüssel/%06d" % i
                    e.features.feature["__key__"].bytes_list.value.append(key.encode())
            data = e.SerializeToString()
            head = struct.pack("<Q", len(data))
            out.write(head + struct.pack("<I", masked(head)) + data + struct.pack("<I", masked(data)))
            said.append({"key": key, "fields": sorted(([k.encode().hex(), v] for k, v in words.items()))})
    return said
`

// What Python wrote is read as it was: 10,000 samples.
func TestAgainstPython(t *testing.T) {
	t.Parallel()
	need.Time(t, "10,000 samples, in Python too")
	py := python.Start(t, pythonWriter, "google.protobuf", "crc32c")
	const files, each = 4, 2500
	var lists []string
	for seed := range files {
		path := filepath.Join(t.TempDir(), "foreign.tfrecord")
		var said []struct {
			Key    string
			Fields [][2]string
		}
		py.Ask(fmt.Appendf(nil, "%d %d %s", seed, each, path), &said)
		opts := Options{Lists: lists}
		if seed == 0 {
			opts = Options{} // told from the first records
		}
		src := openFiles(t, opts, path)
		for _, c := range src.Describe().Columns {
			if seed == 0 && len(c.DType) > 8 && c.Name != "frames" && c.Name != "audio" && c.Name != "tokens" {
				lists = append(lists, c.Name)
			}
		}
		got, err := read(t, src, 0)
		if err != nil || len(got) != len(said) || len(said) != each {
			t.Fatalf("seed %d: %d samples of %d, error %v", seed, len(got), len(said), err)
		}
		for i, want := range said {
			text := fmt.Sprintf("%q", want.Key)
			for _, f := range want.Fields {
				name, err := hex.DecodeString(f[0])
				if err != nil {
					t.Fatal(err)
				}
				text += fmt.Sprintf(" %q:%s", name, f[1])
			}
			if got[i] != text {
				t.Fatalf("seed %d, record %d:\nwe have    %.3000s\nPython has %.3000s", seed, i, got[i], text)
			}
		}
		shapes, _, err := indexed(t, src, 0)
		if err != nil || len(shapes) != each {
			t.Fatalf("Index: %d samples, error %v", len(shapes), err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("F2 [tfrecord] cases=%d undetected=0 lost=0", files*each)
}
