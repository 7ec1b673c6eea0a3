"""A packed folder is the folder, and its pickle is never executed."""

import collections
import os
import pathlib
import pickle
import unittest

from tests import support

from ffconvert import DamageError, DecodeError, PackedFolder

PREFIX = b"piouhjgbr"


def folder(structure, files, protocol=4):
    names = structure if isinstance(structure, bytes) else PREFIX + pickle.dumps(structure, protocol)
    return support.write(support.scratch() / "packed.ffr", files + [names])


def ordered(**items):
    return collections.OrderedDict(items)


class Packed(unittest.TestCase):
    def test_of_ffconvert(self):
        source = support.TESTDATA / "shapes"
        path = support.scratch() / "shapes.ffr"
        support.run("pack", source, path)
        want = sorted(str(p.relative_to(source)) for p in source.rglob("*"))
        with PackedFolder(path) as packed:
            self.assertEqual(sorted(packed.list(recursive=True)), want)
            files = packed.list(recursive=True, list_dir=False)
            self.assertEqual(len(files), packed.num_files())
            for name, data in zip(files, packed.read(files)):
                self.assertEqual(bytes(data), (source / name).read_bytes())
            for name in want:
                self.assertTrue(packed.exists(name))
                self.assertEqual((packed.is_file(name), packed.is_dir(name)), ((source / name).is_file(), (source / name).is_dir()))
            first = packed.list()[0]
            self.assertEqual(packed.list(first), [n[len(first) + 1:] for n in packed.list(recursive=True) if n.startswith(first + "/")])
            self.assertEqual(packed.list(list_dir=False), [n for n in files if "/" not in n])
            self.assertEqual(packed.list("/"), packed.list(""))
            for gone in ("nothing", files[-1] + "/x", "..", first + "/.."):
                self.assertFalse(packed.exists(gone) or packed.is_file(gone) or packed.is_dir(gone))
                with self.assertRaises(FileNotFoundError):
                    packed.read_one(gone)
            with self.assertRaises(IsADirectoryError):
                packed.read([first])
            with self.assertRaises(NotADirectoryError):
                packed.list(files[-1])
            self.assertEqual(bytes(pickle.loads(pickle.dumps(packed)).read_one(pathlib.Path(files[0]))), (source / files[0]).read_bytes())

    def test_of_pickle(self):
        """As FFRecord's own program writes them, by every protocol."""
        many = ordered(**{"f%04d" % i: i for i in range(3000)})
        for protocol in (2, 3, 4, 5):
            with self.subTest(protocol=protocol):
                packed = PackedFolder(folder(ordered(a=0, b=ordered(a=1, c=ordered(b=ordered()))), [b"x", b"y"], protocol))
                self.assertEqual(packed.list(recursive=True), ["a", "b", "b/a", "b/c", "b/c/b"])
                self.assertEqual([bytes(d) for d in packed.read(["b/a", "a"])], [b"y", b"x"])
                self.assertEqual(PackedFolder(folder(many, [b""] * 3000, protocol)).list(), list(many))

    def test_deep(self):
        tree = b"\x80\x04" + b"}\x8c\x01d" * 1500 + b"K\x00" + b"s" * 1500 + b"."
        packed = PackedFolder(folder(PREFIX + tree, [b"deep"]))
        self.assertEqual(bytes(packed.read_one("/".join("d" * 1500))), b"deep")

    def test_refused(self):
        shared = ordered(b=0)
        deep = b"\x80\x04" + b"}\x8c\x01d" * 2100 + b"K\x00" + b"s" * 2100 + b"."
        for structure, why in (
                (b"no such prefix", "not a packed folder"), (PREFIX, "too few bytes"), (b"cos\nsystem\n(S'true'\ntR.", "not a packed folder"),
                (PREFIX + b"\x80\x02cos\nsystem\n(X\x04\0\0\0truetR.", "import of os.system"), (PREFIX + pickle.dumps(os.getcwd), "an import of"),
                (PREFIX + b"\x80\x02c" + b"x" * 50, "import of|too few"), (ordered(a=1.5), "opcode"), (ordered(a=None), "opcode"), ({1: 0}, "not a name"),
                (ordered(a=5), "sample 5 of 1"), (ordered(a=0, b=0), "another file"), (ordered(), "has no name"), (ordered(a=-1), "sample -1"),
                (ordered(a=shared, c=shared), "in two places"), (ordered(a=True), "opcode"), (PREFIX + deep, "more than 4095 bytes"),
                (collections.OrderedDict([("a/b", 0)]), "not the name of a file"), (collections.OrderedDict([("..", 0)]), "not the name of a file"),
                (PREFIX + b"\x80\x04}(\x8c\x01aK\x00\x8c\x01aK\x00u.", "comes twice"), (PREFIX + b"\x80\x04}}.", "more than one value"), (PREFIX + b"\x80\x04u.", "without a mark"),
                (PREFIX + b"\x80\x04(\x8c\x01aK\x00u.", "without a dict"), (PREFIX + b"\x80\x04h\x00.", "two places, or none"), (PREFIX + b"\x80\x04q\x07.", "out of order")):
            with self.subTest(why=why), self.assertRaisesRegex(DecodeError, r"packed\.ffr: .*(%s)" % why):
                PackedFolder(folder(structure, [b"x"]))
        with self.assertRaisesRegex(DecodeError, "no samples"):
            PackedFolder(support.write(support.scratch() / "a.ffr", []))

    def test_every_byte(self):
        """Names that are damaged behind the back of the CRC are refused, or are other names."""
        names = PREFIX + pickle.dumps(ordered(a=0, b=ordered(c=1)))
        refused = 0
        for i in range(len(names)):
            for bit in range(8):
                b = bytearray(names)
                b[i] ^= 1 << bit
                try:
                    PackedFolder(folder(bytes(b), [b"x", b"y"])).close()
                except DecodeError:
                    refused += 1
        self.assertGreater(refused, 6 * len(names))

    def test_damage(self):
        path = folder(ordered(a=0, b=1), [b"hello", b"world"])
        support.flip(path, 12 + 12 * 3 + 1)
        packed = PackedFolder(path)
        with self.assertRaisesRegex(DamageError, r"packed\.ffr: sample 0 at byte 48"):
            packed.read_one("a")
        self.assertEqual(bytes(packed.read_one("b")), b"world")


if __name__ == "__main__":
    unittest.main()
