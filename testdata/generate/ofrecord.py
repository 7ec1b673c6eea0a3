# Writes the pictures of shapes/ as OFRecord, by Google's protobuf: two parts, and the same stream cut into three anywhere.
# python3 generate/ofrecord.py DIR
import os, struct, sys
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

def record_class():
    """oneflow.OFRecord, as oneflow/core/record/record.proto declares it."""
    F = descriptor_pb2.FieldDescriptorProto
    f = descriptor_pb2.FileDescriptorProto(name="record.proto", package="oneflow", syntax="proto2")
    R, O, M = F.LABEL_REPEATED, F.LABEL_OPTIONAL, F.TYPE_MESSAGE
    kinds = ("Bytes", F.TYPE_BYTES), ("Float", F.TYPE_FLOAT), ("Double", F.TYPE_DOUBLE), ("Int32", F.TYPE_INT32), ("Int64", F.TYPE_INT64)
    feature = descriptor_pb2.DescriptorProto(name="Feature")
    feature.oneof_decl.add(name="kind")
    for number, (name, kind) in enumerate(kinds, 1):
        d = f.message_type.add(name=name + "List").field.add(name="value", number=1, label=R, type=kind)
        if kind != F.TYPE_BYTES: d.options.packed = True
        feature.field.add(name=name.lower() + "_list", number=number, label=O, type=M, type_name=".oneflow." + name + "List", oneof_index=0)
    f.message_type.append(feature)
    m = f.message_type.add(name="OFRecord")
    m.field.add(name="feature", number=1, label=R, type=M, type_name=".oneflow.OFRecord.FeatureEntry")
    e = m.nested_type.add(name="FeatureEntry")
    e.options.map_entry = True
    e.field.add(name="key", number=1, label=O, type=F.TYPE_STRING)
    e.field.add(name="value", number=2, label=O, type=M, type_name=".oneflow.Feature")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(f)
    return message_factory.MessageFactory(pool).GetPrototype(pool.FindMessageTypeByName("oneflow.OFRecord"))

os.chdir(sys.argv[1])
OFRecord = record_class()
pictures = sorted((name, cls, d) for cls, d in enumerate(sorted(os.listdir("shapes"))) for name in os.listdir("shapes/" + d))
for directory in "ofrecords", "ofrecords-cut": os.makedirs(directory, exist_ok=True)
parts = [b"", b""]
for i, (name, cls, directory) in enumerate(pictures):
    with open("shapes/%s/%s" % (directory, name), "rb") as f: picture = f.read()
    r = OFRecord()
    r.feature["encoded"].bytes_list.value.append(picture)
    r.feature["class/label"].int32_list.value.append(cls)
    r.feature["score"].double_list.value.append(cls / 3)
    r.feature["box"].float_list.value.extend([0, 0.25, 1, cls / 4])
    data = r.SerializeToString(deterministic=True)
    parts[i // 12] += struct.pack("<q", len(data)) + data
for i, part in enumerate(parts):
    with open("ofrecords/part-%d" % i, "wb") as f: f.write(part)
stream = b"".join(parts)
for i, (a, b) in enumerate(((0, 12345), (12345, 23456), (23456, len(stream)))):
    with open("ofrecords-cut/part-%05d" % i, "wb") as f: f.write(stream[a:b])
