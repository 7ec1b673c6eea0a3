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

// Google's protobuf for Python writes OFRecords of odd shapes, declared as OneFlow's record.proto declares them, and says
// what is in them in the words of build_test.go.
const ofPythonWriter = `
import random, struct
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

def declare(packed):
    F = descriptor_pb2.FieldDescriptorProto
    f = descriptor_pb2.FileDescriptorProto(name="record%s.proto" % packed, package="oneflow%s" % packed, syntax="proto2")
    R, O, M = F.LABEL_REPEATED, F.LABEL_OPTIONAL, F.TYPE_MESSAGE
    kinds = ("Bytes", F.TYPE_BYTES), ("Float", F.TYPE_FLOAT), ("Double", F.TYPE_DOUBLE), ("Int32", F.TYPE_INT32), ("Int64", F.TYPE_INT64)
    feature = descriptor_pb2.DescriptorProto(name="Feature")
    feature.oneof_decl.add(name="kind")
    for number, (name, kind) in enumerate(kinds, 1):
        d = f.message_type.add(name=name + "List").field.add(name="value", number=1, label=R, type=kind)
        if kind != F.TYPE_BYTES: d.options.packed = packed
        feature.field.add(name=name.lower() + "_list", number=number, label=O, type=M, type_name="." + f.package + "." + name + "List", oneof_index=0)
    f.message_type.append(feature)
    m = f.message_type.add(name="OFRecord")
    m.field.add(name="feature", number=1, label=R, type=M, type_name="." + f.package + ".OFRecord.FeatureEntry")
    e = m.nested_type.add(name="FeatureEntry")
    e.options.map_entry = True
    e.field.add(name="key", number=1, label=O, type=F.TYPE_STRING)
    e.field.add(name="value", number=2, label=O, type=M, type_name="." + f.package + ".Feature")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(f)
    return message_factory.MessageFactory(pool).GetPrototype(pool.FindMessageTypeByName(f.package + ".OFRecord"))

def double(x):
    return "nan" if x != x else "f" + struct.pack(">d", x).hex()

numbers = {
    "float": [0.0, -0.0, 1.5, 1e-45, 3.4028234663852886e38, float("inf"), float("nan")],
    "double": [0.0, -0.0, 0.1, 5e-324, 1.7976931348623157e308, float("-inf"), float("nan")],
    "int32": [0, 1, -1, 127, 128, (1 << 31) - 1, -1 << 31],
    "int64": [0, 1, -1, 1 << 31, (1 << 63) - 1, -1 << 63],
}

def fill(rnd, feature, kind, n):
    l = getattr(feature, kind + "_list")
    l.SetInParent()
    if kind == "bytes":
        l.value.extend(rnd.randbytes(rnd.choice([0, 1, 127, 128, 300])) for _ in range(n))
        if n and rnd.random() < 0.01: l.value[0] = rnd.randbytes(70000)
        return ["b" + b.hex() for b in l.value]
    l.value.extend(rnd.choice(numbers[kind]) for _ in range(n))
    return [str(x) if kind[0] == "i" else double(x) for x in l.value]

def reply(request):
    seed, n, path = request.decode().split(" ", 2)
    rnd = random.Random(int(seed))
    classes = [declare(True), declare(False)]
    said, stream = [], bytearray()
    for i in range(int(n)):
        r = classes[rnd.random() < 0.3]()
        words = {}
        for kind in "bytes", "float", "double", "int32", "int64":
            if i == 0 or rnd.random() < 0.8:
                words["one/" + kind] = fill(rnd, r.feature["one/" + kind], kind, 1)[0]
            if i == 0 or rnd.random() < 0.5:
                words["ünï " + kind] = "[" + ",".join(fill(rnd, r.feature["ünï " + kind], kind, 2 if i == 0 else rnd.choice([0, 1, 2, 40]))) + "]"
        if not words or rnd.random() < 0.1:
            r.feature["void"].SetInParent()
            words["void"] = "null"
        data = r.SerializeToString()
        stream += struct.pack("<q", len(data)) + data
        said.append(sorted([k.encode().hex(), v] for k, v in words.items()))
    cuts = sorted(rnd.sample(range(len(stream)), 4))
    for p, (a, b) in enumerate(zip([0] + cuts, cuts + [len(stream)])):
        with open("%s-%d" % (path, p), "wb") as f: f.write(stream[a:b])
    return said
`

// What Python wrote is read as it was: 10,000 samples, in streams that are cut anywhere.
func TestOFRecordAgainstPython(t *testing.T) {
	t.Parallel()
	need.Time(t, "10,000 samples, in Python too")
	py := python.Start(t, ofPythonWriter, "google.protobuf")
	const streams, each = 10, 1000
	for seed := range streams {
		dir := t.TempDir()
		var said [][][2]string
		py.Ask(fmt.Appendf(nil, "%d %d %s", seed, each, filepath.Join(dir, "part")), &said)
		var paths []string
		for p := range 5 {
			paths = append(paths, filepath.Join(dir, fmt.Sprint("part-", p)))
		}
		shapes, got, err := all(t, ofOpen(t, Options{Continued: true}, paths...))
		if err != nil || len(got) != each || len(said) != each || len(shapes) != each {
			t.Fatalf("seed %d: %d samples of %d, error %v", seed, len(got), len(said), err)
		}
		for i, want := range said {
			text := `""`
			for _, f := range want {
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
		for _, path := range paths {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Logf("F2 [ofrecord] cases=%d undetected=0 lost=0", streams*each)
}
