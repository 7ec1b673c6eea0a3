# Writes the pictures of shapes/ as two TFRecord files, by Google's protobuf and python3-crc32c: what TensorFlow writes.
# python3 generate/tfrecord.py DIR; the map of an Example has no order, so it is written in the order of names.
import os, struct, sys, zlib
import crc32c
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

def example_class():
    """tensorflow.Example, as tensorflow/core/example/{example,feature}.proto declare it."""
    F = descriptor_pb2.FieldDescriptorProto
    f = descriptor_pb2.FileDescriptorProto(name="example.proto", package="tensorflow", syntax="proto3")
    def message(name, *fields):
        m = f.message_type.add(name=name)
        for number, (field, label, kind, of) in enumerate(fields, 1):
            d = m.field.add(name=field, number=number, label=label, type=kind)
            if of: d.type_name = ".tensorflow." + of
        return m
    R, O, M = F.LABEL_REPEATED, F.LABEL_OPTIONAL, F.TYPE_MESSAGE
    message("BytesList", ("value", R, F.TYPE_BYTES, ""))
    message("FloatList", ("value", R, F.TYPE_FLOAT, ""))
    message("Int64List", ("value", R, F.TYPE_INT64, ""))
    kinds = message("Feature", ("bytes_list", O, M, "BytesList"), ("float_list", O, M, "FloatList"), ("int64_list", O, M, "Int64List"))
    kinds.oneof_decl.add(name="kind")
    for d in kinds.field: d.oneof_index = 0
    entry = message("Features", ("feature", R, M, "Features.FeatureEntry")).nested_type.add(name="FeatureEntry")
    entry.options.map_entry = True
    entry.field.add(name="key", number=1, label=O, type=F.TYPE_STRING)
    entry.field.add(name="value", number=2, label=O, type=M, type_name=".tensorflow.Feature")
    message("Example", ("features", O, M, "Features"))
    pool = descriptor_pool.DescriptorPool()
    pool.Add(f)
    return message_factory.MessageFactory(pool).GetPrototype(pool.FindMessageTypeByName("tensorflow.Example"))

def masked(b):
    c = crc32c.crc32c(b)
    return ((c >> 15 | c << 17) + 0xa282ead8) & 0xffffffff

os.chdir(sys.argv[1])
Example = example_class()
pictures = sorted((name, cls, d) for cls, d in enumerate(sorted(os.listdir("shapes"))) for name in os.listdir("shapes/" + d))
os.makedirs("tfrecords", exist_ok=True)
for part in range(2):
    out = b""
    for name, cls, directory in pictures[part::2]:
        with open("shapes/%s/%s" % (directory, name), "rb") as f: picture = f.read()
        e = Example()
        feature = e.features.feature
        feature["__key__"].bytes_list.value.append(name[:3].encode())
        feature["image/encoded"].bytes_list.value.append(picture)
        feature["image/class/label"].int64_list.value.append(cls)
        feature["image/object/bbox"].float_list.value.extend([0, 0.25, 1, cls / 4] * (int(name[:3]) % 3))
        data = e.SerializeToString(deterministic=True)
        head = struct.pack("<Q", len(data))
        out += head + struct.pack("<I", masked(head)) + data + struct.pack("<I", masked(data))
    with open("tfrecords/shapes-%05d-of-00002" % part, "wb") as f: f.write(out)
    if part == 0:
        with open("tfrecords/shapes-00000.zlib", "wb") as f: f.write(zlib.compress(out, 9))
