"""The samples for which an expression holds, compared with those that Python finds by reading all of them."""

import operator
import os
import pathlib
import pickle
import re
import stat
import tempfile
import unittest
from unittest import mock

from tests import support

from ffconvert import BatchSampler, DamageError, Dataset, Order, StateError, Subset

KEY = "__key__"
OPERATORS = {"=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
UNITS = {"": 1, "KiB": 1 << 10, "kB": 1000, "MiB": 1 << 20}


def holds(expression, sample, record, classes):
    """Whether an expression holds for a sample with fields of bytes: the grammar once more, simplified, so that both are compared."""
    for comparison in expression.split(" and "):
        name, op, want = re.fullmatch(r"\s*([^=!<>~]*?)\s*(!=|<=|>=|[=<>~])\s*(.*?)\s*", comparison).groups()
        want, field = want.strip("'"), name[:-len(".size")] if name.endswith(".size") else name
        label = int(sample["cls"])
        if name in ("key", "class"):
            have = sample[KEY] if name == "key" else classes[label]
            held = bool(re.search(want, have)) if op == "~" else OPERATORS[op](have, want)
        elif name == "label":
            held = OPERATORS[op](label, int(want))
        elif name == "size" or name.endswith(".size"):
            number, unit = re.fullmatch("([0-9]+)([A-Za-z]*)", want).groups()
            have = record if name == "size" else len(sample[field]) if field in sample else None
            held = have is not None and OPERATORS[op](have, int(number) * UNITS[unit])
        elif field not in sample:
            held = False
        elif op == "~":
            held = bool(re.search(want.encode(), sample[field].strip()))
        else:
            held = OPERATORS[op](float(sample[field]), float(want))
        if not held:
            return False
    return True


def found(data, expression):
    """The numbers that Python finds."""
    return [i for i, sample in enumerate(data[:]) if holds(expression, sample, len(data.reader.read_one(i)), data.classes)]


def tars():
    return Dataset(support.tars(), decode="raw")


class Where(unittest.TestCase):
    def check(self, data, expressions):
        for expression in expressions:
            want = found(data, expression)
            with self.subTest(expression):
                self.assertTrue(0 < len(want) < len(data), "the expression says nothing")
                some = data.where(expression)
                self.assertEqual(list(some.indices), want)
                self.assertEqual([s[KEY] for s in some[:]], [data[i][KEY] for i in want])

    def test_fields(self):
        self.check(tars(), [
            "label=1", "label != 1", "label>0", "key~^0000[1-3]", "key~5$", "key=000017", "key<000017", "size<2kB", "size>=4KiB", "jpg.size<2KiB", "png.size>5000",
            "seg.png.size>0", "cls=1", "cls!=0", "json~class.:1", "label=1 and jpg.size<4KiB", "jpg.size>2000 and key~[02468]$ and label=0", "size>1KiB and json.size>=51 and cls=0",
        ])

    def test_classes(self):
        shapes = Dataset(support.converted("folder", "--shards", "3", str(support.TESTDATA / "shapes")), decode="raw", encoding=as_bytes)
        self.check(shapes, ["class=circle", "class!=circle", "class~^(glyphs|stripes)$", "class=stripes and jpg.size<3KiB", "label=2", "class>circle and size<3kB", "key~^glyphs/"])
        quoted = shapes.where("class='circle'")
        self.assertEqual({shapes.classes[int(s["cls"])] for s in quoted[:]}, {"circle"})
        with self.assertRaisesRegex(ValueError, "the dataset has no classes with names; label has their numbers"):
            tars().where("class=circle")

    def test_files(self):
        """Shards, some of them, in any order, and several directories."""
        whole, shapes = tars(), support.converted("folder", str(support.TESTDATA / "shapes"))
        shards = sorted(pathlib.Path(support.tars()).glob("*.ffr"))
        for files in (shards[0], shards[2:], [shards[3], shards[0]], [support.tars(), shards[1], support.tars()], [support.tars(), support.converted("tar", *support.TARS[:2])]):
            data = Dataset(files, decode="raw")
            for expression in ("label=1", "jpg.size<2KiB and key~[13579]$"):
                self.assertEqual(list(data.where(expression).indices), found(data, expression), (files, expression))
        both = Dataset([support.tars(), shapes])
        self.assertEqual(list(both.where("png.size>0").indices), list(whole.where("png.size>0").indices), "one of them has the field")
        self.assertEqual(len(both.where("key~^circle/")), len(Dataset(shapes).where("class=circle")))
        with self.assertRaisesRegex(ValueError, 'a field "pgn"'):
            both.where("pgn.size>0")

    def test_others(self):
        """Files without a manifest: sizes by themselves, fields where it is said how records are encoded."""
        bare = support.write(support.scratch() / "a.ffr", [b"\x81\xa1a" + bytes([i]) for i in range(5)] + [b""])
        self.assertEqual(list(Dataset(bare, encoding=None).where("size>0").indices), [0, 1, 2, 3, 4])
        full = support.write(support.scratch() / "a.ffr", [b"\x81\xa1a" + bytes([i]) for i in range(5)])
        self.assertEqual(list(Dataset(full, encoding="msgpack").where("a>2").indices), [3, 4])
        with self.assertRaisesRegex(ValueError, "what its records are is not known"):
            Dataset(full, encoding=None).where("a>2")
        raw = Dataset(support.converted("tar", "--encode", "raw:cls", *support.TARS), encoding=None)
        self.assertEqual(list(raw.where("cls=1").indices), list(tars().where("cls=1").indices))

    def test_empty(self):
        none = tars().where("label=77")
        self.assertEqual((len(none), none[:], list(none.keys()), "000001" in none), (0, [], [], False))
        with self.assertRaises(IndexError):
            none[0]
        self.assertIn("0 of the 120 samples", repr(none))

    def test_refused(self):
        data = tars()
        for expression, want in (
            ("label==3", r'^--where "label==3": column 7: want a value after =$'), ("size", 'column 5: want one of = != < <= > >= ~ after "size"'), ("", "it is empty"),
            ("label=1 or label=2", 'column 9: want "and" and another comparison, not "or"'), ("key~(", "column 5: error parsing regexp"), ("label=x", "not a whole number"),
            ("jpgg.size<1", 'no sample that it was asked of has a field "jpgg"'), ("label=1\nand x", "column"), ("--help", "column 7"),
        ):
            with self.subTest(expression), self.assertRaisesRegex(ValueError, want) as raised:
                data.where(expression)
            self.assertNotIn("\n", str(raised.exception))
        for bad in (None, b"label=1", 3):
            with self.assertRaisesRegex(TypeError, "an expression is a text"):
                data.where(bad)

    def test_damaged(self):
        out = support.copied()
        data = Dataset(out)
        support.flip(out / "index" / "PART_00001.arrow", 400)
        with self.assertRaisesRegex(DamageError, "PART_00001.arrow"):
            data.where("label=1")
        out = support.copied()
        data = Dataset(out)
        support.flip(out / "PART_00003.ffr", os.path.getsize(out / "PART_00003.ffr") - 9)
        self.assertEqual(len(data.where("label=1")), len(tars().where("label=1")), "no record is read")
        with self.assertRaisesRegex(DamageError, "PART_00003.ffr"):
            data.where("jpg.size>0")

    def test_program(self):
        """Without it the error says what to do; one that dies, or says what is not so, is an error."""
        data = tars()
        with mock.patch.dict(os.environ, FFCONVERT=""), mock.patch("ffconvert.writer.find_program", lambda: None):
            with self.assertRaisesRegex(FileNotFoundError, "install a wheel, which has it, or set FFCONVERT to its path"):
                data.where("label=1")
        for script, error, want in (("kill -9 $$", RuntimeError, "ended by signal 9"), ("echo ffconvert: disk >&2; exit 4", OSError, "^disk$"), ("exit 3", ValueError, "it printed nothing"),
                                    ("echo '{\"number\":120}'", DamageError, "another sample"), ("echo what; sleep 100", DamageError, "another sample")):
            with tempfile.TemporaryDirectory() as directory:
                path = pathlib.Path(directory) / "ffconvert"
                path.write_text("#!/bin/sh\n" + script + "\n")
                path.chmod(path.stat().st_mode | stat.S_IXUSR)
                with mock.patch.dict(os.environ, FFCONVERT=str(path)), self.assertRaisesRegex(error, want):
                    data.where("label=1")


def as_bytes(record):
    """The record with its class as text: folders have it as a number."""
    from ffconvert import decoder
    sample = decoder("msgpack")(record)
    return {**sample, "cls": b"%d" % sample["cls"]}


class Subsets(unittest.TestCase):
    def test_samples(self):
        data = tars()
        some = data.where("key~5$")
        self.assertIsInstance(some, Subset)
        self.assertEqual(len(some), 12)
        keys = ["%06d" % i for i in range(5, 120, 10)]
        self.assertEqual(list(some.keys()), keys)
        self.assertEqual([s[KEY] for s in some[:]], keys)
        self.assertEqual([s[KEY] for s in some[[3, 1, 3, -1]]], [keys[3], keys[1], keys[3], keys[-1]])
        self.assertEqual([s[KEY] for s in some[2:9:3]], keys[2:9:3])
        self.assertEqual((some[-1][KEY], some["000015"][KEY], [s[KEY] for s in some[["000025", 0]]]), (keys[-1], "000015", ["000025", keys[0]]))
        self.assertEqual([s[KEY] for s in some], keys, "a loop ends")
        if not support.PLAIN:
            import numpy
            self.assertEqual([s[KEY] for s in some[numpy.array([3, 1])]], [keys[3], keys[1]])
        self.assertTrue("000015" in some and "000016" not in some and "000016" in data)
        for bad, error in ((12, IndexError), (-13, IndexError), (True, TypeError), ("000016", KeyError), (1.5, TypeError)):
            with self.assertRaises(error):
                some[bad]
        with self.assertRaises(TypeError):
            3 in some
        self.assertRegex(repr(some), r"^<Subset: 12 of the 120 samples of <Dataset of '.*': 120 samples in 5 shards.*>>$")
        self.assertIn("000115", Subset(data, some.indices[-3:])._repr_html_())

    def test_numbers(self):
        data = tars()
        some = Subset(data, [7, 3, 7])
        self.assertEqual((list(some.keys()), [s[KEY] for s in some[:]]), (["000007", "000003", "000007"],) * 2)
        with self.assertRaisesRegex(KeyError, "is the key of 2 samples: 0, 2"):
            some["000007"]
        for bad in ([120], [3, -1]):
            with self.assertRaises(IndexError):
                Subset(data, bad)

    def test_again(self):
        data = tars()
        self.assertEqual(list(data.where("label=1").where("jpg.size<4KiB").indices), list(data.where("label=1 and jpg.size<4KiB").indices))
        self.assertEqual(list(Subset(data, [9, 4, 2]).where("key~[29]$").indices), [9, 2])

    def test_pickle(self):
        some = Dataset(support.tars(), fields=["__key__", "cls"]).where("label=1")
        back = pickle.loads(pickle.dumps(some))
        self.assertEqual((back[:], back.indices, back.digest), (some[:], some.indices, some.digest))

    def test_process(self):
        """A subclass with a process of its own gets the numbers of the whole."""
        class Numbers(Dataset):
            def process(self, indices, data):
                return [(i, len(record)) for i, record in zip(indices, data)]

        some = Numbers(support.tars()).where("key~5$")
        self.assertEqual([i for i, _ in some[[1, 0]]], [15, 5])

    def test_order(self):
        """The order of a subset resumes, and its state is of no other samples."""
        data = tars()
        some, others = data.where("label=1"), data.where("label=0")
        order = Order(some.shards, 8, seed=7)
        numbers = [i for step in range(order.steps()) for i in order.epoch(3).batch(step)]
        self.assertEqual(len(set(numbers)), order.steps() * 8)
        self.assertEqual({int(s["cls"]) for s in some[numbers]}, {1})
        for world in (1, 2, 4):
            sampler = BatchSampler(some, rank=0, world=world, seed=7, global_batch=8)
            sampler.set_epoch(3)
            self.assertEqual(next(iter(sampler)), list(order.epoch(3).batch(0, 0, world)))
            state = sampler.state_dict()
            after = BatchSampler(data.where("label=1"), rank=0, world=1, seed=7, global_batch=8)
            after.load_state_dict(state)
            self.assertEqual(next(iter(after)), list(order.epoch(3).batch(1)))
            for wrong in (others, data, Subset(data, list(some.indices)[::-1])):
                with self.assertRaises(StateError):
                    BatchSampler(wrong, seed=7, global_batch=8).load_state_dict(state)


class Meta(unittest.TestCase):
    def test_meta(self):
        import json
        shapes, out = support.converted("folder", str(support.TESTDATA / "shapes")), support.tars()
        for path in (out, shapes):
            data = Dataset(path)
            self.assertEqual(data.meta, json.loads((pathlib.Path(path) / "meta.json").read_text()))
            data.meta["fields"].clear()
            self.assertEqual(data.meta, json.loads((pathlib.Path(path) / "meta.json").read_text()), "it is the caller's")
        self.assertEqual((Dataset(shapes).meta["classes"], Dataset(shapes).meta["class_to_idx"]), (Dataset(shapes).classes, Dataset(shapes).class_to_idx))
        self.assertEqual(Dataset(pathlib.Path(out) / "PART_00001.ffr").meta, Dataset(out).meta, "of a shard that of its dataset")
        bare = support.write(support.scratch() / "a.ffr", [b"\x80"])
        self.assertEqual(Dataset(bare, encoding=None).meta, {})
        csv = support.scratch() / "t.csv"
        csv.write_text("a,b\n1,2\n3,4\n")
        self.assertEqual(Dataset(support.converted("csv", "--header", str(csv))).meta["columns"], [{"name": "a", "dtype": "float64"}, {"name": "b", "dtype": "float64"}])

    def test_several(self):
        out, first = support.tars(), support.converted("tar", *support.TARS[:2])
        both = Dataset([out, first]).meta["fields"]
        for name in both:
            self.assertEqual(both[name], {what: n + Dataset(first).meta["fields"].get(name, {}).get(what, 0) for what, n in Dataset(out).meta["fields"][name].items()})
            self.assertEqual(both[name]["samples"], sum(name in s for s in Dataset([out, first])[:]))
        with self.assertRaisesRegex(ValueError, "their meta.json differ"):
            Dataset([out, support.converted("folder", str(support.TESTDATA / "shapes"))]).meta

    def test_large(self):
        """A list of classes may be larger than what is decoded at once."""
        data = Dataset(support.tars())
        from ffconvert.manifest import _members_of
        n = 300_000
        text = b"{\n" + b'  "classes": [\n' + b",\n".join(b'    "c%d"' % i for i in range(n)) + b"\n  ],\n" + (
            b'  "class_to_idx": {\n' + b",\n".join(b'    "c%d": %d' % (i, i) for i in range(n)) + b"\n  }") + b"\n}\n"
        members = _members_of(text, ())
        self.assertEqual((len(members["classes"]), members["class_to_idx"]["c299999"]), (n, n - 1))
        for bad in (b'"c5": true', b'"c5": "x"', b'"c4": 5', b'"c5": 5, "x": 6', b""):
            with self.assertRaises(ValueError):
                _members_of(text.replace(b'"c5": 5', bad), ())
        self.assertEqual(data.meta["fields"]["cls"]["samples"], 120)

    def test_damaged(self):
        out = support.copied()
        data = Dataset(out)
        support.flip(out / "meta.json", 40)
        with self.assertRaisesRegex(DamageError, r"meta\.json: its checksum differs"):
            data.meta


if __name__ == "__main__":
    unittest.main()
