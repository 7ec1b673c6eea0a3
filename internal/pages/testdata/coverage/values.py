"""What the Python names and expressions of docs/coverage.md must give. VALUES has a check for each: of an expression it is given the value, of a
name what the name stands for. out/ has the samples of four tars, more/ those of photos/, images.ffr is photos/ packed.
"""
import pathlib
import tempfile

import ffconvert
import ffconvert.ffrecord.torch
import torch
from PIL import Image

from rows import *


def pair(sample):
    return {"jpg": sample[picture(sample)], "cls": sample["cls"]}


want, keyed = [pair(s) for s in tars(0, 1, 2, 3)], tars(0, 1, 2, 3)
dataset = ffconvert.Dataset("out", fields=["jpg;png", "cls"], decode="raw")


def meant(samples):
    """Samples with what their fields mean: a picture has its pixels, a class is a number."""
    means = {"cls": int, "json": json.loads, "txt": bytes.decode}
    means.update(dict.fromkeys(("jpg", "png", "seg.png"), lambda data: Image.open(io.BytesIO(data)).convert("RGB").tobytes()))
    return [{name: means[name](value) if name in means and isinstance(value, bytes) else value for name, value in s.items()} for s in samples]


def shown(samples):
    return [{name: value.tobytes() if isinstance(value, Image.Image) else value for name, value in s.items()} for s in samples]


def flat(batches):
    """The samples of batches, as torch's default collation has fields of bytes: a list for each."""
    return [{"jpg": jpg, "cls": cls} for b in batches for jpg, cls in zip(b["jpg"], b["cls"])]


def sized(loader, *sizes):
    """An epoch in the order of the dataset, in batches of these sizes."""
    batches = list(loader)
    same([len(b) if isinstance(b, list) else len(b["cls"]) for b in batches], sizes)
    same([s for b in batches for s in (b if isinstance(b, list) else flat([b]))], want[:sum(sizes)])


def order(samples):
    """Where samples of an epoch are in the dataset; each comes once."""
    found = [want.index(s) for s in samples]
    assert sorted(found) == list(range(len(want))), f"the epoch has {sorted(found)}"
    return found


def epochs(loader):
    """Each epoch has every sample once, in an order of its own, which is not that of the dataset."""
    orders = [order(flat(loader)) for _ in range(3)]
    assert len(set(map(tuple, orders + [sorted(orders[0])]))) == 4, f"orders of three epochs: {orders}"
    return orders


def resampled(loader):
    drawn = [want.index(s) for s in flat(loader)]
    assert len(drawn) == len(want) and 0 < len(set(drawn)) < len(want), f"48 draws with replacement: {drawn}"


def loader(**options):
    return ffconvert.DataLoader(dataset, batch_size=8, shuffle=True, seed=3, **options)


def resumed(DataLoader_state):
    first = loader()
    batches = iter(first)
    got = flat([next(batches), next(batches)])
    state, rest = first.state_dict(), flat(batches)
    second = loader()
    second.load_state_dict(json.loads(json.dumps(state)))
    same(flat(second), rest)
    order(got + rest)


def epoch_set(_):
    a, b = loader(), loader()
    first, second = flat(a), flat(a)
    b.set_epoch(1)
    same(flat(b), second)
    assert first != second, "epochs 0 and 1 have one order"


def step_set(_):
    whole, skipped = loader(), loader()
    skipped.set_step(4)
    same(flat(skipped), flat(whole)[32:])


def ranks(BatchSampler):
    """Every rank has as many batches, and all of them together every sample once."""
    of = [list(BatchSampler(dataset, 4, rank=r, world=3, seed=5)) for r in range(3)]
    same(map(len, of), [4, 4, 4])
    same(sorted(i for batches in of for b in batches for i in b), list(range(48)))


def processed(_):
    class Mine(ffconvert.Dataset):
        def process(self, indices, data):
            return [(i, msgpack.unpackb(bytes(d))) for i, d in zip(indices, data)]
    same(Mine("out")[[7, 3]], [(7, keyed[7]), (3, keyed[3])])


def read(FileReader_read, *indices):
    with ffconvert.FileReader("out") as reader:
        same([reader.n], [48])
        same([msgpack.unpackb(bytes(b)) for b in reader.read(indices)], [keyed[i] for i in indices])
        same([msgpack.unpackb(bytes(reader.read_one(i))) for i in indices], [keyed[i] for i in indices])


def closed(_):
    reader = ffconvert.FileReader("out")
    reader.close()
    try:
        reader.read([0])
    except Exception:
        return
    raise AssertionError("a closed reader reads")


def folder(_):
    held = files("photos")
    with ffconvert.PackedFolder("images.ffr") as packed:
        same(packed.list(recursive=True, list_dir=False), [name for name, _ in held])
        same([bytes(b) for b in packed.read([name for name, _ in held])], [data for _, data in held])
        same([bytes(packed.read_one(held[3][0]))], [held[3][1]])
        same([packed.num_files(), packed.exists("circle"), packed.is_dir("circle"), packed.is_file("circle"), packed.is_file(held[0][0]), packed.exists("none")], [len(held), True, True, False, True, False])


def written(FileWriter):
    """The file has the bytes that the original's has: the layout, with checksums."""
    records = [msgpack.packb(s) for s in keyed]
    with tempfile.TemporaryDirectory() as there:
        with FileWriter(there + "/w.ffr", len(records)) as writer:
            for record in records:
                writer.write_one(record)
        same(ffrecord(there + "/w.ffr"), records)


def dumped(dump):
    with tempfile.TemporaryDirectory() as there:
        dump([msgpack.packb(s) for s in keyed], there + "/new", 4)
        same([msgpack.unpackb(s) for path in sorted(pathlib.Path(there, "new").glob("*.ffr")) for s in ffrecord(path)], keyed)
        same([len(list(pathlib.Path(there, "new").glob("*.ffr")))], [4])


def validated(validate):
    with ffconvert.ffrecord.FileReader("out") as reader:
        validate(reader)


def tables(of):
    def check(method):
        with ffconvert.ffrecord.FileReader("out") as reader:
            for i, path in enumerate(reader.fnames):
                data = pathlib.Path(path).read_bytes()
                n = int.from_bytes(data[4:12], "little")
                offsets = [int.from_bytes(data[12 + 4 * n + 8 * k:20 + 4 * n + 8 * k], "little") for k in range(n)] + [len(data)]
                same(method(reader, i).tolist(), offsets if of == "offsets" else [zlib.crc32(data[a:b]) for a, b in zip(offsets, offsets[1:])])
    return check


class Records(ffconvert.ffrecord.torch.Dataset):
    def process(self, indices, data):
        return [msgpack.unpackb(bytes(d)) for d in data]


def concatenated(ConcatDataset):
    both = ConcatDataset([Records("out"), Records("more")])
    same(both[list(range(len(both)))], keyed + photos())
    same((Records("more") + Records("out"))[[0, len(photos())]], [photos()[0], keyed[0]])


def subset(Subset):
    same(Subset(Records("out"), [7, 3, 7])[[0, 1, 2]], [keyed[7], keyed[3], keyed[7]])


def converted(convert):
    with tempfile.TemporaryDirectory() as there:
        convert(keyed, there + "/new", num_workers=2)
        same(ffconvert.Dataset(there + "/new", decode="raw"), keyed)


def by_writer(Writer):
    with tempfile.TemporaryDirectory() as there:
        with Writer(there + "/new") as writer:
            for sample in keyed:
                writer.write(sample)
        same(ffconvert.Dataset(there + "/new", decode="raw"), keyed)


VALUES = {
    "DataLoader(dataset, batch_size=16)": lambda v: sized(v, 16, 16, 16),
    "DataLoader(dataset, batch_size=16, drop_last=True, collate_fn=list)": lambda v: sized(v, 16, 16, 16),
    "DataLoader(dataset, shuffle=True)": epochs,
    'DataLoader(dataset, shuffle=True, mode="resample")': resampled,
    'DataLoader(dataset, shuffle=True, mode="window:65536")': epochs,
    "DataLoader(dataset, shuffle=True, seed=7)": lambda v: same(epochs(v), epochs(ffconvert.DataLoader(dataset, shuffle=True, seed=7))),
    'Dataset("out")[5]': lambda v: same(shown([v]), meant([keyed[5]])),
    'Dataset("out", fields=["jpg;png", "cls"])': lambda v: same(shown(v), meant(want)),
    'Dataset(["out", "more"])': lambda v: same(shown(v), meant(keyed + photos())),
    "ffconvert.BatchSampler": ranks,
    "ffconvert.Writer": by_writer,
    "ffconvert.convert": converted,
    "ffconvert.ffrecord.FileReader.get_checksums": tables("checksums"),
    "ffconvert.ffrecord.FileReader.get_offsets": tables("offsets"),
    "ffconvert.ffrecord.FileReader.validate": validated,
    "ffconvert.ffrecord.FileWriter": written,
    "ffconvert.ffrecord.torch.ConcatDataset": concatenated,
    "ffconvert.ffrecord.torch.Subset": subset,
    "ffconvert.ffrecord.utils.dump": dumped,
    "ffconvert.DataLoader": lambda v: sized(v(dataset, batch_size=30), 30, 18),
    "ffconvert.DataLoader.load_state_dict": resumed,
    "ffconvert.DataLoader.set_epoch": epoch_set,
    "ffconvert.DataLoader.set_step": step_set,
    "ffconvert.DataLoader.state_dict": resumed,
    "ffconvert.Dataset": lambda v: same(shown(v("out")), meant(keyed)),
    "ffconvert.Dataset.process": processed,
    "ffconvert.FileReader": lambda v: read(v, 0, 47),
    "ffconvert.FileReader.close": closed,
    "ffconvert.FileReader.read": lambda v: read(v, 5, 0, 5, 47),
    "ffconvert.FileReader.read_one": lambda v: read(v, 9),
    "ffconvert.PackedFolder": folder,
    "ffconvert.PackedFolder.read_one": folder,
}


def judge(spans):
    """Prints what is wrong with the values of these names and expressions."""
    names = {"ffconvert": ffconvert, "Dataset": ffconvert.Dataset, "DataLoader": ffconvert.DataLoader, "dataset": dataset}
    for span in sorted(set(spans) | set(VALUES)):
        if span not in spans or span not in VALUES:
            print(span, "has no check in values.py" if span in spans else "is in values.py, and on no line of the page")
            continue
        try:
            VALUES[span](eval(span, names))
        except Exception as e:
            print(span, str(e) if isinstance(e, AssertionError) else traceback.format_exc(), sep=": ")
