"""Readers of what a conversion reads and writes, by other programs than ffconvert: Python's tarfile, csv and pickle, msgpack, cbor2,
Pillow, numpy, Arrow's JavaScript. Those of formats that have no such library here are written from the format's description.
"""
import base64, csv, glob, gzip, io, json, os, pathlib, pickle, re, struct, subprocess, tarfile, zlib

import cbor2, msgpack, numpy
from PIL import Image


def header(path):
    """Offsets and CRCs of an FFRecord file: CRC-32, N, CRCs, offsets, samples (FFRecord's README)."""
    data = pathlib.Path(path).read_bytes()
    crc, n = struct.unpack_from("<Iq", data)
    assert crc == zlib.crc32(data[4:12 + 12 * n]), f"{path}: CRC of the header"
    crcs = struct.unpack_from(f"<{n}I", data, 12)
    offsets = struct.unpack_from(f"<{n}q", data, 12 + 4 * n)
    assert not n or offsets[0] == 12 + 12 * n, f"{path}: first offset"
    return offsets, crcs, data


def ffrecord(path):
    """The samples of an FFRecord file, each compared with its CRC."""
    offsets, crcs, data = header(path)
    samples = [data[a:b] for a, b in zip(offsets, offsets[1:] + (len(data),))]
    assert [zlib.crc32(s) for s in samples] == list(crcs), f"{path}: CRCs of samples"
    return samples


def shards(where="new"):
    """The FFRecord files of a directory, in the order in which FFRecord's reader takes them."""
    found = sorted(glob.glob(f"{where}/*.ffr"))
    assert found, f"{where}: no shard"
    return found


def records(where="new", decode=msgpack.unpackb):
    """What a training program gets of a directory of shards."""
    return [decode(s) for path in shards(where) for s in ffrecord(path)]


def raw(where="new"):
    return records(where, bytes)


def packed(path):
    """A PackedFolder: the last sample has a mark of nine bytes and a pickle that maps names to sample numbers."""
    *files, index = ffrecord(path)
    assert index[:9] == b"piouhjgbr", "mark of the index"
    def walk(d, prefix):
        for name, i in d.items():
            yield from walk(i, prefix + name + "/") if isinstance(i, dict) else [(prefix + name, files[i])]
    return list(walk(pickle.loads(index[9:]), ""))


NAME = re.compile(r"^((?:.*/|)[^.]+)[.]([^/]*)$")


def webdataset(*paths, decode=False):
    """The samples of tars, as webdataset's tarfile_to_samples and group_by_keys have them."""
    samples = []
    for path in paths:
        last = None
        with tarfile.open(path) as tar:
            for member in tar:
                m = NAME.match(member.name)
                if not member.isreg() or not m:
                    continue
                key, suffix = m[1], m[2].lower()
                if key != last:
                    samples.append({"__key__": key})
                    last = key
                assert suffix not in samples[-1], f"{path}: {member.name} twice"
                samples[-1][suffix] = tar.extractfile(member).read()
    return [decoded(s) for s in samples] if decode else samples


def tars(*numbers, **options):
    """The samples of shards-000.tar and so on, by number; without one, of all ten."""
    return webdataset(*[f"shards-{n:03d}.tar" for n in numbers or range(10)], **options)


def decoded(sample):
    """What webdataset's basichandlers make of fields, pictures aside."""
    handlers = {"cls": int, "json": json.loads, "txt": bytes.decode}
    return {name: handlers.get(name, lambda x: x)(value) for name, value in sample.items()}


def files(root):
    """The files under a directory: (path relative to it, bytes), sorted by path, hidden ones left out."""
    found = (p for p in pathlib.Path(root).rglob("*") if p.is_file())
    names = sorted(p.relative_to(root).as_posix() for p in found)
    return [(name, (pathlib.Path(root) / name).read_bytes()) for name in names if not any(part.startswith(".") for part in name.split("/"))]


PICTURES = ".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp"


def imagefolder(root, numbers=None):
    """(path, class index) as torchvision's ImageFolder has them: a directory is a class, classes and paths are sorted. numbers is the directory that
    numbers the classes, as torchvision's ImageNet has them from its training set."""
    of = lambda d: sorted(e.name for e in os.scandir(d) if e.is_dir())
    classes = of(numbers or root)
    assert of(root) and set(of(root)) <= set(classes), f"{root}: classes {of(root)}"
    found = []
    for name in of(root):
        i, of_class = classes.index(name), [os.path.join(d, f) for d, _, names in sorted(os.walk(f"{root}/{name}", followlinks=True)) for f in sorted(names)]
        of_class = [p for p in of_class if p.lower().endswith(PICTURES)]
        assert of_class, f"{root}: no picture of {name}"
        found += [(os.path.relpath(p, root), i) for p in of_class]
    return found


def photos(root="photos", numbers=None):
    """The samples of an image folder, as FFRecord's converter of ImageNet would pickle them, with a key."""
    return [{"__key__": os.path.splitext(path)[0], **{path.rsplit(".", 1)[1].lower(): pathlib.Path(root, path).read_bytes()}, "cls": cls} for path, cls in imagefolder(root, numbers)]


def groups(root):
    """The files of a directory that have one key, as webdataset groups members of a tar."""
    samples = {}
    for name, data in files(root):
        m = NAME.match(name)
        samples.setdefault(m[1], {"__key__": m[1]})[m[2].lower()] = data
    return list(samples.values())


def pixels(data, size=None):
    """A picture as rows of red, green and blue."""
    picture = Image.open(io.BytesIO(data)).convert("RGB")
    return numpy.asarray(picture.resize(size, Image.BILINEAR) if size else picture)


def sequence(path, load):
    """The items of a stream, one behind another."""
    items = []
    with open(path, "rb") as f:
        while f.peek(1):
            items.append(load(f))
    return items


def cbors(path="shapes.cbors"):
    return sequence(path, cbor2.load)


def lines(path):
    return [json.loads(line) for line in open(path, encoding="utf-8")]


def table(*paths, **options):
    return [row for path in paths for row in csv.reader(open(path, newline="", encoding="utf-8"), **options)]


def points():
    return [[float(x) for x in row] for row in table(*sorted(glob.glob("points/part-*"), key=lambda p: int(p.rsplit("-", 1)[1])))]


def arrow(node, *streams):
    """The rows of Arrow streams or files, by Apache's library in JavaScript. Its bytes are lists of numbers."""
    script = """const a = require("apache-arrow"), all = JSON.parse(require("fs").readFileSync(0)).flatMap(s => a.tableFromIPC(Buffer.from(s, "base64")).toArray());
        const plain = (_, x) => typeof x === "bigint" ? Number(x) : ArrayBuffer.isView(x) ? Array.from(x) : x;
        console.log(JSON.stringify(all.map(r => r.toJSON()), plain));"""
    asked = json.dumps([base64.b64encode(s).decode() for s in streams])
    return json.loads(subprocess.run(["node", "-e", script], input=asked.encode(), cwd=node, check=True, capture_output=True).stdout)
