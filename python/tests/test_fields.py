"""Fields become what they mean, or are refused by name."""

import gzip
import io
import json
import pickle
import struct
import tarfile
import unittest
import zipfile
from unittest import mock

from tests import support

try:
    import numpy as np
except ImportError:
    np = None
try:
    from PIL import Image
except ImportError:
    Image = None

from ffconvert import Dataset, DecodeError
from ffconvert.fields import Fields

SHAPES = support.TESTDATA / "shapes"


def picture(mode, form="PNG", size=(5, 3), **options):
    """A picture of random pixels, and the bytes of its file."""
    image = Image.frombytes(mode, size, bytes((7 * i * i) % 251 for i in range(size[0] * size[1] * {"1": 1, "L": 1, "P": 1, "I;16": 2, "RGB": 3, "RGBA": 4, "CMYK": 4}[mode])))
    if mode == "P":
        image.putpalette([i % 256 for i in range(768)])
    f = io.BytesIO()
    image.save(f, form, **options)
    return image, f.getvalue()


def tenbin(*arrays):
    """As webdataset's tenbin.py writes them."""
    out = b""
    for a in arrays:
        head = a.dtype.str[1:].encode().ljust(8, b"\0") + bytes(8) + struct.pack("<q%dq" % a.ndim, a.ndim, *a.shape)
        for chunk in (head, a.tobytes()):
            out += b"~TenBin~" + struct.pack("<q", len(chunk)) + chunk + bytes(-len(chunk) % 64)
    return out


class Values(unittest.TestCase):
    def test_values(self):
        for name, data, want in (
                ("cls", b"7", 7), ("cls", b" -007\n", -7), ("label.cls2", b"+3", 3), ("index", b"9223372036854775807", (1 << 63) - 1), ("INX", b"1", 1),
                ("txt", "Gr\u00fc\u00dfe".encode(), "Gr\u00fc\u00dfe"), ("a.transcript", b"", ""), ("json", b'{"a": [1, null]}', {"a": [1, None]}), ("jsn", b"5", 5),
                ("msgpack", b"\x92\x01\xc4\x01x", [1, b"x"]), ("mp", b"\x81\xa1a\x01", {"a": 1}), ("cbor", b"\x82\x01\x41x", [1, b"x"]),
                ("cls.gz", gzip.compress(b"12"), 12), ("meta.JSON.GZ", gzip.compress(b"[]"), []),
                ("wav", b"RIFF", b"RIFF"), ("pyd", pickle.dumps(1), pickle.dumps(1)), ("nii.gz", b"x", b"x"), ("data", b"5", b"5"), ("", b"5", b"5")):
            with self.subTest(name=name, data=data):
                self.assertEqual(Fields()({name: data}), {name: want})
                self.assertEqual(Fields()({name: memoryview(data)}), {name: want})
                self.assertEqual(Fields("raw")({name: data}), {name: data})
        as_they_are = {"cls": 7, "txt": "x", "json": [1], "jpg": None, "__key__": "a", 5: b"7"}
        self.assertEqual(Fields()(as_they_are), as_they_are)
        for sample in (b"7", (b"7",), None, [b"7"]):
            self.assertIs(Fields()(sample), sample)

    def test_refused(self):
        for name, data, why in (
                ("cls", b"", "is not an integer"), ("cls", b"cat", "'cat' is not an integer"), ("cls", b"1_0", "not an integer"), ("cls", b"1.0", "not an integer"),
                ("cls", "\u0661".encode(), "not an integer"), ("cls", b"9223372036854775808", "64 bits"), ("txt", b"a\xff", "UnicodeDecodeError.* 0xff"),
                ("json", b"{", "JSONDecodeError"), ("mp", b"\xc1", ""), ("mp", b"\x01\x01", ""), ("cbor", b"\x82\x01", ""), ("cbor", b"\x01\x01", ""),
                ("cls.gz", b"7", "not gzip"), ("cls.gz", gzip.compress(b"7")[:-3], "not gzip, or damaged")):
            with self.subTest(name=name, data=data), self.assertRaisesRegex(DecodeError, "^field %s: .*%s" % (name, why)):
                Fields()({name: data})
        with mock.patch("ffconvert.fields._MOST", 100), self.assertRaisesRegex(DecodeError, "more than 100 bytes"):
            Fields()({"txt.gz": gzip.compress(b"x" * 101)})

    def test_choices(self):
        """The first pattern that fits counts, and what none fits is automatic."""
        decode = Fields({"seg.*": "raw", "*.wav": len, "cls": lambda data: "class " + str(data, "ascii")})
        self.assertEqual(decode({"seg.cls": b"1", "a.wav": b"RIFF", "cls": b"3", "index": b"4"}), {"seg.cls": b"1", "a.wav": 4, "cls": "class 3", "index": 4})
        self.assertEqual(Fields({"cls": "raw", "*": "auto"})({"cls": b"1", "index": b"2"}), {"cls": b"1", "index": 2})
        for bad in ("jpeg", 5, {"jpg": "jpeg"}, {"jpg": None}, {5: "raw"}):
            with self.assertRaisesRegex(ValueError, "want auto, raw, pil"):
                Fields(bad)
        with self.assertRaisesRegex(DecodeError, "^field a.wav: ZeroDivisionError: "):
            Fields({"*.wav": lambda data: 1 // 0})({"a.wav": b""})
        self.assertEqual(pickle.loads(pickle.dumps(Fields({"*": "raw"})))({"cls": b"1"}), {"cls": b"1"})

    def test_without_modules(self):
        with mock.patch("ffconvert.pictures.pillow", lambda: None), mock.patch("ffconvert.fields.pillow", lambda: None):
            self.assertEqual(Fields()({"jpg": b"\xff\xd8", "cls": b"1"}), {"jpg": b"\xff\xd8", "cls": 1})
            with self.assertRaisesRegex(ImportError, "decode='pil' needs the module Pillow"):
                Fields("pil")
        if np is None:
            self.assertEqual(Fields()({"npy": b"x", "ten": b"x"}), {"npy": b"x", "ten": b"x"})
            with self.assertRaisesRegex(ImportError, "needs the module (numpy|Pillow)"):
                Fields("uint8")


class Arrays(unittest.TestCase):
    def arrays(self):
        return [np.arange(6, dtype="<i4").reshape(2, 3), np.float64(3.5), np.asfortranarray(np.arange(24, dtype=">u2").reshape(2, 3, 4)), np.empty((0, 3), "f4"),
                np.array(["ab", "c"]), np.array([(1, 2.5)], [("a", "i4"), ("b", "f8")]), np.array([True, False])]

    def test_npy(self):
        for want in map(np.asarray, self.arrays()):
            f = io.BytesIO()
            np.save(f, want)
            got = Fields()({"npy": f.getvalue()})["npy"]
            self.assertEqual((got.dtype, got.shape, got.tolist()), (want.dtype, want.shape, want.tolist()))
            self.assertTrue(got.flags.writeable)
            for bad in (f.getvalue()[:-1], f.getvalue() + b"x", f.getvalue()[:20]):
                with self.assertRaisesRegex(DecodeError, "^field npy: "):
                    Fields()({"npy": bad})
        f = io.BytesIO()
        np.save(f, np.array([{}]), allow_pickle=True)
        with self.assertRaisesRegex(DecodeError, "objects, which are pickles"):
            Fields()({"npy": f.getvalue()})
        f = io.BytesIO()
        np.save(f, np.zeros(1))
        with self.assertRaisesRegex(DecodeError, "8 bytes for an array of 9+ float64"):  # and takes no memory for it
            Fields()({"npy": f.getvalue().replace(b"(1,), }" + b" " * 11, b"(" + b"9" * 12 + b",), }")})

    def test_npz(self):
        for save in (np.savez, np.savez_compressed):
            f = io.BytesIO()
            save(f, a=np.arange(3), b=np.eye(2))
            got = Fields()({"npz": f.getvalue()})["npz"]
            self.assertEqual({name: a.tolist() for name, a in got.items()}, {"a": [0, 1, 2], "b": [[1, 0], [0, 1]]})
        with mock.patch("ffconvert.fields._MOST", 100), self.assertRaisesRegex(DecodeError, "100 are the most"):
            Fields()({"npz": f.getvalue()})
        with zipfile.ZipFile(f := io.BytesIO(), "w", zipfile.ZIP_BZIP2) as z:
            z.writestr("a.npy", bytes(1 << 20))
        with self.assertRaisesRegex(DecodeError, "a.npy is compressed by the method 12"):
            Fields()({"npz": f.getvalue()})
        with self.assertRaisesRegex(DecodeError, "field npz: BadZipFile"):
            Fields()({"npz": b"x"})

    def test_ten(self):
        want = [np.arange(6, dtype="i4").reshape(2, 3), np.array(1.5), np.zeros((0, 2), "u1"), np.arange(100, dtype="f2")]
        got = Fields()({"ten": tenbin(*want)})["ten"]
        self.assertEqual([(a.dtype, a.shape, a.tolist()) for a in got], [(a.dtype, a.shape, a.tolist()) for a in want])
        self.assertEqual(Fields()({"tb": b""}), {"tb": []})
        good = tenbin(want[0])
        for i in range(len(good)):
            with self.assertRaisesRegex(DecodeError, "^field ten: "):
                Fields()({"ten": good[:i] or b"x"})
        for bad in (b"x" * 64, good.replace(b"i4", b"O8"), good.replace(struct.pack("<q", 2), struct.pack("<q", 1 << 40), 1)):
            with self.assertRaises(DecodeError):
                Fields()({"ten": bad})


class Pictures(unittest.TestCase):
    def test_forms(self):
        for mode, form in (("RGB", "PNG"), ("RGBA", "PNG"), ("L", "PNG"), ("P", "PNG"), ("1", "PNG"), ("RGB", "JPEG"), ("L", "JPEG"), ("CMYK", "JPEG"), ("P", "GIF"), ("RGB", "WebP")):
            if mode == "1":
                image, f = Image.new("1", (5, 3), 1), io.BytesIO()
                image.save(f, form)
                data = f.getvalue()
            else:
                _, data = picture(mode, form)
            stored = Image.open(io.BytesIO(data))
            want = np.array(stored.convert("RGB"))
            name = {"JPEG": "jpg"}.get(form, form.lower())
            with self.subTest(mode=mode, form=form):
                pil = Fields()({name: data})[name]
                self.assertEqual((pil.mode, pil.size), ("RGB", (5, 3)))
                self.assertTrue((np.array(pil) == want).all())
                got = Fields("uint8")({name: data})[name]
                self.assertEqual((got.dtype, got.shape), (np.uint8, (3, 5, 3)))
                self.assertTrue((got == want).all() and got.flags.writeable)
                kept = Fields("stored")({name: data})[name]
                self.assertTrue((kept == np.array(stored)).all())
                self.assertEqual(Fields({"*": "raw"})({name: data}), {name: data})

    def test_tensor(self):
        try:
            import torch
        except ImportError:
            self.skipTest("torch is not installed")
        for mode, form in (("RGB", "PNG"), ("RGB", "JPEG"), ("L", "JPEG"), ("CMYK", "JPEG"), ("RGBA", "PNG")):
            _, data = picture(mode, form, (33, 20))
            with self.subTest(mode=mode, form=form):
                got = Fields("tensor")({"jpg": data, "cls": b"3"})
                self.assertEqual((got["cls"], got["jpg"].dtype, tuple(got["jpg"].shape), got["jpg"].is_contiguous()), (3, torch.uint8, (3, 20, 33), True))
                want = Fields("uint8")({"jpg": data})["jpg"].astype(int)
                self.assertLessEqual(abs(got["jpg"].permute(1, 2, 0).numpy().astype(int) - want).max(), 2 if form == "JPEG" else 0)
        self.assertEqual(tuple(pickle.loads(pickle.dumps(Fields("tensor")))({"png": picture("L")[1]})["png"].shape), (3, 3, 5))

    def test_sixteen_bits(self):
        """A depth of 16 bits is not made one of 8 in silence."""
        image, data = picture("I;16")
        for form in ("pil", "uint8"):
            with self.assertRaisesRegex(DecodeError, 'field depth.png: a picture of the mode I.*decode it as "stored"'):
                Fields(form)({"depth.png": data})
        self.assertTrue((Fields("stored")({"depth.png": data})["depth.png"] == np.array(image)).all())

    def test_damaged(self):
        for form in ("PNG", "JPEG"):
            data = picture("RGB", form, (64, 64))[1]
            for bad in (b"", b"not a picture", b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", data[:len(data) // 2]):
                for how in ("pil", "uint8", "stored"):
                    with self.assertRaisesRegex(DecodeError, "^field jpg: "):
                        Fields(how)({"jpg": bad})


class Datasets(unittest.TestCase):
    def test_alike(self):
        """A tar and a folder of the same files have the same values."""
        tar = Dataset(support.tars())
        raw = Dataset(support.tars(), decode="raw")
        for typed, stored in zip(tar[:], raw[:]):
            self.assertEqual(typed.keys(), stored.keys())
            self.assertEqual(typed["cls"], int(stored["cls"]))
            if "json" in typed:
                self.assertEqual(typed["json"], json.loads(stored["json"]))
        packed = support.scratch() / "shapes.tar"
        with tarfile.open(packed, "w") as tar:
            tar.add(SHAPES, "")
        folder = {s["__key__"]: s for s in Dataset(support.converted("folder", str(SHAPES)))[:]}
        self.assertEqual(len(folder), 24)
        for sample in Dataset(support.converted("tar", str(packed)))[:]:
            other = folder.pop(sample["__key__"])
            self.assertEqual({**sample, "cls": other["cls"]}, other)
        self.assertEqual(folder, {})

    def test_only_chosen(self):
        """A field that is left out is not decoded."""
        path = support.write(support.scratch() / "a.ffr", [b"\x82\xa3cls\xc4\x01x\xa3txt\xc4\x01y"])
        self.assertEqual(Dataset(path, encoding="msgpack", fields=["txt"])[0], {"txt": "y"})
        with self.assertRaisesRegex(DecodeError, r"a\.ffr: sample 0: field cls: b'x' is not an integer"):
            Dataset(path, encoding="msgpack")[0]
        self.assertEqual(Dataset(path, encoding="msgpack", decode={"cls": "raw"})[0], {"cls": b"x", "txt": "y"})

    def test_moved(self):
        """What decode= once was is encoding=, and an old call is an error."""
        for old in (None, "msgpack", "cbor", "raw:jpg", "pickle", "pickle:jpg,cls", "arrow", len):
            with self.assertRaisesRegex(ValueError, "decode is for fields, encoding for records: encoding="):
                Dataset(support.tars(), decode=old)


if support.PLAIN:
    del Arrays, Pictures  # which are numpy's

if __name__ == "__main__":
    unittest.main()
