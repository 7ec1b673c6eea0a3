# Follows the reader of docs/reading.md. "make KIND DIR" draws a small dataset; "check KIND
# DIR OUT" compares every sample of OUT with what Python's own libraries read from DIR, and
# prints how many there were.
import csv, glob, io, json, os, pickle, random, sys, tarfile
import cbor2, msgpack, numpy

random.seed(7)

def put(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(data)

def noise():
    return random.randbytes(random.randrange(3000))

def make_folder(dir):
    for i in range(200):
        put(f"{dir}/class {random.randrange(9)}/{'deep/' * random.randrange(3)}{i:03d}.{random.choice(['jpg', 'JPEG', 'seg.png'])}", noise())

def make_csv(dir):
    for part in range(12):
        rows = [[repr(random.uniform(-1, 1) * 10 ** random.randrange(-30, 30)) for _ in range(3)] for _ in range(random.randrange(90))]
        put(f"{dir}/part-{part}", "".join(",".join(r) + random.choice(["\n", "\r\n"]) for r in rows).encode())

def make_typed(dir):
    for part in range(3):
        with open(f"{dir}/part-{part}.csv", "w", newline="") as f:
            out = csv.writer(f)
            out.writerow(["id", "name", "height"])
            for i in range(50):
                out.writerow([i, random.choice(["Ada", "Grün, Ei", 'say "x"', "two\nlines", "x,y"]), random.choice([random.random(), 1.5])])

def make_cbor(dir):
    for part in range(4):
        put(f"{dir}/part-{part}.cbors", b"".join(cbor2.dumps(x) for x in items(part)))

def make_msgpack(dir):
    for part in range(4):
        put(f"{dir}/part-{part}.mp", b"".join(msgpack.packb(x) for x in items(part)))

def make_tar(dir):
    for part in range(3):
        with tarfile.open(f"{dir}/part-{part}.tar", "w") as t:
            for i, x in enumerate(items(part)):
                about = {"score": x["score"], "boxes": [[1, -2, 3.5], []], "name": x["text"], "none": None, "yes": True, "big": 2**63}
                for suffix, data in [("jpg", x["image"]), ("cls", b"%d\n" % x["cls"]), ("txt", x["text"].encode()), ("json", json.dumps(about).encode()),
                                     ("a.mp", msgpack.packb(x["box"])), ("cbor", cbor2.dumps(x["box"])), ("pyd", pickle.dumps(about))]:
                    member = tarfile.TarInfo(f"{part}-{i}.{suffix}")
                    member.size = len(data)
                    t.addfile(member, io.BytesIO(data))

def items(part):
    for i in range(60):
        yield {"__key__": f"{part}/{i}", "image": noise(), "cls": random.randrange(1000), "text": "grüße" * random.randrange(9),
               "score": random.random(), "box": [1, -2, 3.5, None, True, {"a": b"x"}]}

def read_folder(dir):
    classes = sorted(os.listdir(dir))
    paths = sorted(os.path.relpath(os.path.join(d, n), dir) for d, _, names in os.walk(dir) for n in names)
    for path in paths:
        head, name = os.path.split(path)
        stem, suffix = name.split(".", 1)
        with open(f"{dir}/{path}", "rb") as f:
            yield {"__key__": f"{head}/{stem}", suffix.lower(): f.read(), "cls": classes.index(path.split("/")[0])}

def parts(dir, ext=""):
    return [f"{dir}/part-{i}{ext}" for i in range(len(os.listdir(dir)))]

def read_csv(dir):
    for path in parts(dir):
        with open(path, newline="") as f:
            for row in csv.reader(f):
                yield [float(x) for x in row]

def read_typed(dir):
    for path in parts(dir, ".csv"):
        with open(path, newline="") as f:
            for row in csv.DictReader(f):
                yield {"id": int(row["id"]), "name": row["name"], "height": float(row["height"])}

def read_tar(dir):
    decode = {"jpg": bytes, "cls": int, "txt": bytes.decode, "json": json.loads, "a.mp": msgpack.unpackb, "cbor": cbor2.loads, "pyd": bytes}
    for path in parts(dir, ".tar"):
        sample = {}
        with tarfile.open(path) as t:
            for member in t:
                key, suffix = member.name.split(".", 1)
                sample = {**sample, "__key__": key, suffix: decode[suffix](t.extractfile(member).read())}
                if suffix == "pyd":
                    yield sample
                    sample = {}

def read_cbor(dir):
    for path in parts(dir, ".cbors"):
        with open(path, "rb") as f:
            size = os.path.getsize(path)
            while f.tell() < size:
                yield cbor2.load(f)

def read_msgpack(dir):
    for path in parts(dir, ".mp"):
        with open(path, "rb") as f:
            yield from msgpack.Unpacker(f)

loads = {
    "raw": None, "msgpack": msgpack.unpackb, "cbor": cbor2.loads, "pickle": pickle.loads,
    "floats": lambda b: numpy.frombuffer(b, "<f8").tolist(),
}

def canonical(x):
    """The value in words, so that 1, 1.0 and True differ; of a map inside, the order does not count."""
    def inner(x):
        if isinstance(x, dict):
            return sorted((repr(k), inner(v)) for k, v in x.items())
        return [inner(v) for v in x] if isinstance(x, list) else repr(x)
    return [(k, inner(v)) for k, v in x.items()] if isinstance(x, dict) else inner(x)

def check(kind, encoding, dir, out):
    want, n = globals()["read_" + kind](dir), 0
    for shard in sorted(glob.glob(f"{out}/*.ffr")):
        for data in samples(shard):
            got, expected = loads[encoding](data), next(want)
            assert canonical(got) == canonical(expected), f"{got!r:.300} for {expected!r:.300}"
            n += 1
    assert next(want, None) is None, "samples are missing"
    if kind == "folder":
        with open(f"{out}/meta.json") as f:
            assert json.load(f)["classes"] == sorted(os.listdir(dir))
    print(n)

if sys.argv[1] == "make":
    os.makedirs(sys.argv[3], exist_ok=True)
    globals()["make_" + sys.argv[2]](sys.argv[3])
else:
    check(*sys.argv[2:])
