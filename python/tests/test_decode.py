"""Records decode to what was encoded, or are refused."""

import functools
import io
import json
import math
import pathlib
import pickle
import random
import struct
import sys
import types
import unittest
from unittest import mock

from tests import support

try:
    import numpy as np
except ImportError:
    np = None

from ffconvert import DamageError, Dataset, DecodeError, FileReader, decoder
from ffconvert.wire import loads_cbor, loads_msgpack

KEY = "__key__"
#: What is in records: fields that are bytes stay bytes.
records = functools.partial(Dataset, decode="raw")


def tar_samples():
    """The samples of the tars, as Python's own tarfile reads them."""
    import tarfile
    found = {}
    for path in support.TARS:
        with tarfile.open(path) as tar:
            for member in tar:
                if member.isfile():
                    key, _, field = member.name.partition(".")
                    found.setdefault(key, {KEY: key})[field] = tar.extractfile(member).read()
    return list(found.values())


class Encodings(unittest.TestCase):
    def test_of_ffconvert(self):
        want = tar_samples()
        self.assertEqual(len(want), 120)
        for encoding in ("msgpack", "cbor", "pickle"):
            with self.subTest(encoding=encoding):
                out = support.converted("tar", "--encode", encoding, *support.TARS)
                self.assertEqual(records(out, encoding=encoding)[:], want)
                if encoding == "pickle":
                    with self.assertRaisesRegex(ValueError, "execute code"):
                        records(out)
                else:
                    self.assertEqual(records(out)[:], want)

    def test_of_tuples(self):
        """What a loop for FFRecord's own samples reads: img, label = pickle.loads(b)."""
        out = support.converted("folder", "--encode", "pickle:jpg;png,cls", str(support.TESTDATA / "shapes"))
        want = [(s.get("jpg", s.get("png")), s["cls"]) for s in records(support.converted("folder", str(support.TESTDATA / "shapes")))[:]]
        self.assertEqual(len(want), 24)
        with FileReader(out) as reader:
            for (image, label), data in zip(want, reader.read(list(range(reader.n)))):
                img, cls = pickle.loads(data)
                self.assertEqual((img, cls, type(cls)), (image, label, int))
        self.assertEqual(records(out, encoding="pickle")[:], want)
        named = records(out, encoding="pickle:jpg;png,cls")
        self.assertEqual((named[:], named.fields), ([{"jpg": jpg, "cls": cls} for jpg, cls in want], ["jpg", "cls"]))
        with self.assertRaisesRegex(ValueError, "execute code.* encoding=\"pickle:jpg;png,cls\""):
            records(out)
        for other in ("pickle:jpg", "pickle:jpg,cls,x"):
            with self.assertRaisesRegex(DecodeError, "no tuple of jpg"):
                records(out, encoding=other)[0]

    def test_of_other_conversions(self):
        """Records that `ffconvert ffr` has copied, and a side of a split."""
        copies = support.converted("ffr", str(support.tars()))
        self.assertEqual(records(copies)[:], tar_samples())
        sides = support.converted("tar", "--split", "train=0.8,val=0.2", *support.TARS)
        both = records(sides / "train")[:] + records(sides / "val")[:]
        self.assertEqual(sorted(both, key=lambda s: s[KEY]), tar_samples())
        shapes = records(support.converted("folder", str(support.TESTDATA / "shapes")))
        classes = sorted({s[KEY].split("/")[0] for s in shapes[:]})
        self.assertEqual([s["cls"] for s in shapes[:]], [classes.index(s[KEY].split("/")[0]) for s in shapes[:]])

    def test_pixels(self):
        """Pictures that were decoded: array files in maps, and raw records of one shape."""
        shapes = str(support.TESTDATA / "shapes")
        pixels = records(support.converted("folder", "--tensor", "jpg", "--resize", "16x12", "--encode", "raw:jpg", shapes))
        files = records(support.converted("folder", "--tensor", "jpg", "--resize", "16x12", shapes))
        self.assertEqual(len(pixels), 24)
        for raw, file in zip(pixels[:], files[:]):
            head, body = file["npy"][:128], file["npy"][128:]
            self.assertIn(b"'shape': (12, 16, 3)", head)
            if np is None:
                self.assertEqual(bytes(raw["jpg"]), body)
            else:
                self.assertEqual((raw["jpg"].shape, raw["jpg"].dtype), ((12, 16, 3), np.uint8))
                self.assertTrue((raw["jpg"] == np.load(io.BytesIO(file["npy"]))).all())

    def test_raw(self):
        out = support.converted("tar", "--encode", "raw:cls", *support.TARS)
        self.assertEqual(records(out)[:], [{"cls": s["cls"]} for s in tar_samples()])
        self.assertEqual(bytes(records(out, encoding=None)[3]), tar_samples()[3]["cls"])
        self.assertEqual(records(out, encoding="raw")[3], {"data": tar_samples()[3]["cls"]})

    def test_numbers(self):
        for dtype, form in (("float64", "<2d"), ("float32", "<2f"), ("int64", "<2q")):
            rows = support.scratch() / "rows.csv"
            rows.write_text("1,2\n3,4\n5,6\n")
            got = records(support.converted("csv", "--dtype", dtype, str(rows)))[1]["row"]
            self.assertEqual(list(got), list(struct.unpack(form, struct.pack(form, 3, 4))))
        packed = records(support.converted("csv", "--rows-per-sample", "2", str(rows)))[:]
        if support.PLAIN:
            self.assertEqual([s["rows"] for s in packed], [[1, 2, 3, 4], [5, 6]])
        else:
            self.assertEqual([s["rows"].tolist() for s in packed], [[[1, 2], [3, 4]], [[5, 6]]])

    def test_arrow_needs_a_module(self):
        out = support.converted("tar", "--encode", "arrow", *support.TARS)
        try:
            import pyarrow  # noqa: F401
        except ImportError:
            with self.assertRaisesRegex(DecodeError, r"\.ffr: sample 0: .*pyarrow"):
                records(out)[0]
        else:
            self.assertEqual(records(out)[:], tar_samples())

    def test_arrow_columns_of_one_name(self):
        """Of two such columns a dict has one: pyarrow's to_pydict loses the first."""
        def record(names):
            table = types.SimpleNamespace(column_names=names, to_pydict=lambda: dict((name, [i]) for i, name in enumerate(names)))
            ipc = types.SimpleNamespace(open_stream=lambda data: types.SimpleNamespace(read_all=lambda: table))
            path = support.write(support.scratch() / "a.ffr", [b"arrow"])
            with mock.patch.dict(sys.modules, {"pyarrow": types.SimpleNamespace(ipc=ipc), "pyarrow.ipc": ipc}):
                return records(path, encoding="arrow")[0]

        self.assertEqual(record(["a", "b"]), {"a": 0, "b": 1})
        with self.assertRaisesRegex(DecodeError, r"sample 0: .*two columns of one name: 'b'$"):
            record(["b", "a", "b"])

    def test_auto_needs_a_manifest(self):
        path = support.write(support.scratch() / "a.ffr", [b"\x81\xa1a\x01"])
        with self.assertRaisesRegex(ValueError, 'give encoding="msgpack"'):
            records(path)
        self.assertEqual(records(path, encoding="msgpack")[0], {"a": 1})
        mixed = [support.tars(), support.converted("tar", "--encode", "cbor", *support.TARS)]
        with self.assertRaisesRegex(ValueError, "several ways: cbor, msgpack|several ways: msgpack, cbor"):
            records(mixed)
        with self.assertRaisesRegex(ValueError, "want msgpack"):
            records(path, encoding="protobuf")


class Samples(unittest.TestCase):
    def test_items(self):
        want, data = tar_samples(), records(support.tars())
        self.assertEqual((len(data), data[7], data[-1], data[[3, 1, 3]], data[5:7]), (120, want[7], want[-1], [want[i] for i in (3, 1, 3)], want[5:7]))
        self.assertEqual(data.__getitems__([2]), [want[2]])
        for bad in (120, -121):
            with self.assertRaises(IndexError):
                data[bad]

    def test_fields(self):
        data = records(support.tars(), fields=["jpg;png", "cls"], transform=lambda s: (s["jpg"], int(s["cls"])))
        self.assertEqual(data[:], [(s.get("jpg") or s["png"], int(s["cls"])) for s in tar_samples()])
        lacking = next(i for i, s in enumerate(tar_samples()) if "jpg" not in s)
        with self.assertRaisesRegex(DecodeError, r"PART_.*\.ffr: sample \d+: it has no field jpg, but __key__, "):
            records(support.tars(), fields=["jpg"])[lacking]
        with self.assertRaisesRegex(TypeError, "list of names"):
            records(support.tars(), fields="jpg")
        with self.assertRaisesRegex(ValueError, "decoded"):
            records(support.tars(), encoding=None, fields=["jpg"])

    def test_pickled(self):
        data = pickle.loads(pickle.dumps(records(support.tars(), fields=["cls"], transform=len)))
        self.assertEqual((data[0], data.digest), (1, records(support.tars()).digest))

    def test_process(self):
        """A subclass of the kind that ffrecord has."""
        class Sizes(Dataset):
            def process(self, indices, data):
                return [(i, len(b)) for i, b in zip(indices, data)]
        path = support.write(support.scratch() / "a.ffr", [b"a", b"bb"])
        self.assertEqual((Sizes(path, True)[[1, 0]], Sizes(path)[1]), ([(1, 2), (0, 1)], (1, 2)))

    def test_bad_record(self):
        path = support.write(support.scratch() / "a.ffr", [b"\x81\xa1a\x01", b"\x81\xa1a\xc6\xff\xff\xff\xffx"])
        with self.assertRaisesRegex(DecodeError, r"a\.ffr: sample 1: "):
            records(path, encoding="msgpack")[[0, 1]]
        for decode in ("msgpack", "cbor"):  # with the modules msgpack and cbor2, and without
            path = support.write(support.scratch() / "a.ffr", [b"\x01\x02"])
            with self.subTest(encoding=decode), self.assertRaisesRegex(DecodeError, r"a\.ffr: sample 0: "):
                records(path, encoding=decode)[0]

    def test_edited_manifest(self):
        for text in ("[]", "{}", '{"shards": [1]}', '{"shards": null}', "[" * 100000):
            out = support.copied()
            (out / "manifest.json").write_text(text)
            with self.subTest(text=text[:20]), self.assertRaisesRegex(DamageError, r"manifest\.json: "):
                records(out)
        for encode in (None, {}, "msgpack"):
            out = support.copied()
            manifest = json.loads((out / "manifest.json").read_text())
            (out / "manifest.json").write_text(json.dumps(dict(manifest, encode=encode)))
            with self.subTest(encode=encode), self.assertRaisesRegex(DamageError, r"manifest\.json: not a manifest"):
                records(out)

    def test_numbers_of_samples(self):
        data = records(support.tars())
        self.assertEqual(data[[3, -1]], [data[3], data[119]])
        self.assertEqual(data[range(2)], data[:2])
        for bad in (-121, [3, -121], 120):
            with self.subTest(bad=bad), self.assertRaisesRegex(IndexError, "sample -?12[01] of 120"):
                data[bad]
        for bad in (True, [True, False], b"1", None, 1.0):
            with self.subTest(bad=bad), self.assertRaisesRegex(TypeError, "mask|integer"):
                data[bad]


def value(draw, depth=0):
    kind = draw.randrange(9 if depth < 4 else 7)
    if kind == 0:
        return draw.choice([None, True, False])
    if kind < 3:
        return draw.choice([-1, 1]) * draw.randrange(1 << draw.choice([3, 5, 8, 16, 32, 63]))
    if kind == 3:
        return draw.choice([0.0, -1.5, math.inf, 1e300, draw.random()])
    size = draw.choice([0, 3, 20, 31, 32, 255, 256, 70000 if depth == 1 else 9])
    if kind < 6:
        return "é" * (size // 2) if kind == 4 else draw.randbytes(size)
    if kind == 6:
        return 1 << 63
    items = [value(draw, depth + 1) for _ in range(draw.choice([0, 2, 15, 16, 40]))]
    return items if kind == 7 else {"k%d" % i: x for i, x in enumerate(items)}


class Wire(unittest.TestCase):
    """Our own decoders."""

    def test_as_the_modules(self):
        if support.PLAIN:
            return
        import cbor2
        import msgpack
        draw = random.Random(7)
        for _ in range(300):
            want = {"a": value(draw, 1), "b": value(draw)}
            for mine, record in ((loads_msgpack, msgpack.packb(want)), (loads_cbor, cbor2.dumps(want))):
                self.assertEqual(mine(record), want)
                self.assertEqual(mine(memoryview(record)), want)
        self.assertEqual(loads_msgpack(msgpack.packb({1: 1.5}, use_single_float=True)), {1: 1.5})
        self.assertEqual(loads_cbor(b"\xf9\x3e\x00"), 1.5)

    def test_every_cut(self):
        """No beginning of a record is a record, and no damage is anything but a DecodeError."""
        draw = random.Random(3)
        for encoding, loads in (("msgpack", loads_msgpack), ("cbor", loads_cbor)):
            out = support.converted("tar", "--encode", encoding, *support.TARS)
            record = min(support.samples(sorted(out.glob("*.ffr"))[0]), key=len)
            for n in range(len(record)):
                with self.assertRaises(DecodeError):
                    loads(record[:n])
            for _ in range(2000):
                b = bytearray(record)
                b[draw.randrange(120)] = draw.randrange(256)
                try:
                    loads(b)
                except DecodeError:
                    pass

    def test_refused(self):
        for record, why in ((b"", "early"), (b"\x01\x02", "1 bytes follow"), (b"\x82\xa1a\x01\xa1a\x02", "twice"), (b"\xa1\xff", "UTF-8"),
                            (b"\xd4\x01\x02", "extension"), (b"\xc1", "no code"), (b"\xdf\xff\xff\xff\xff\xa1a", "early"), (b"\x91" * 80, "in one another"),
                            (b"\x81\x90\x01", "key that is a list"), (b"\xc6\xff\xff\xff\xffx", "early")):
            with self.subTest(record=record[:8]), self.assertRaisesRegex(DecodeError, why):
                loads_msgpack(record)
        for record, why in ((b"", "early"), (b"\x01\x02", "1 bytes follow"), (b"\xa2\x61a\x01\x61a\x02", "twice"), (b"\x61\xff", "UTF-8"), (b"\xc0\x61b", "tag"),
                            (b"\xbf\xff", "indefinite"), (b"\xf7", "no item"), (b"\x5b\x7f\xff\xff\xff\xff\xff\xff\xff", "early"), (b"\x81" * 80, "in one another")):
            with self.subTest(record=record[:8]), self.assertRaisesRegex(DecodeError, why):
                loads_cbor(record)

    def test_names(self):
        self.assertEqual(decoder("raw:jpg;png")(b"x"), {"jpg": b"x"})
        for bad in ("msgpack:x", "yaml", ""):
            with self.assertRaises(ValueError):
                decoder(bad)


if __name__ == "__main__":
    unittest.main()
