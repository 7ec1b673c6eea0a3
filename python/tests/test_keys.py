"""What a dataset says of itself, and samples by their keys."""

import json
import os
import pathlib
import pickle
import threading
import unittest

from tests import support
from tests.test_decode import tar_samples

from ffconvert import DamageError, Dataset, Reader


class Says(unittest.TestCase):
    def test_fields(self):
        want = []
        for sample in tar_samples():
            want += [name for name in sample if name not in want]
        data = Dataset(support.tars())
        self.assertEqual(sorted(data.fields), sorted(want))
        self.assertEqual(data.fields[:len(data[0])], list(data[0]), "those of the first sample come first")
        self.assertEqual(Dataset(support.tars(), fields=["cls", "jpg;png"]).fields, ["cls", "jpg"])
        self.assertEqual(Dataset(support.tars(), encoding=None).fields, [])
        self.assertEqual(Dataset(support.converted("tar", "--encode", "raw:cls", *support.TARS)).fields, ["cls"])
        bare = support.write(support.scratch() / "a.ffr", [b"\x81\xa1a\x01"])
        self.assertEqual(Dataset(bare, encoding="msgpack").fields, ["a"])
        self.assertEqual(Dataset(bare, encoding=lambda record: len(record)).fields, [])

    def test_classes(self):
        shapes = Dataset(support.converted("folder", str(support.TESTDATA / "shapes")))
        names = sorted(path.name for path in (support.TESTDATA / "shapes").iterdir() if path.is_dir())
        self.assertEqual((shapes.classes, shapes.class_to_idx), (names, {name: i for i, name in enumerate(names)}))
        self.assertEqual([shapes.classes[s["cls"]] for s in shapes[:]], [s["__key__"].split("/")[0] for s in shapes[:]])
        self.assertEqual(Dataset(support.tars()).classes, [])
        with self.assertRaisesRegex(ValueError, "different classes"):
            Dataset([support.tars(), shapes.reader.files[0]]).classes

    def test_repr(self):
        text = repr(Dataset(support.tars()))
        for part in (str(support.tars()), "120 samples in 5 shards", "__key__ (str)", "jpg (picture ", "cls (int)", "seg.png>"):
            self.assertIn(part, text)
        out = support.copied()
        data = Dataset(out)
        support.flip(out / "meta.json", 5)
        self.assertRegex(repr(data), "120 samples in 5 shards, fields not known: .*meta.json: its checksum differs")
        with self.assertRaisesRegex(DamageError, r"meta\.json: its checksum differs"):
            Dataset(out).classes

    def test_describe(self):
        shapes = Dataset(support.converted("folder", str(support.TESTDATA / "shapes")))
        lines = shapes.describe().split("\n")
        self.assertRegex(lines[0], r"^24 samples in 1 shard, [0-9,]+ bytes$")
        self.assertEqual([line.split()[0] for line in lines], ["24", "files", "digest", "classes", "field", "field", "field"])
        self.assertEqual(lines[3], "classes  3: circle, glyphs, stripes")
        self.assertRegex("\n".join(lines), r"field    __key__  str: 'circle/000'\nfield    jpg      picture \d+ × \d+\nfield    cls      int: 0")
        self.assertIn("sample   ", Dataset(support.tars(), encoding=None).describe())

    def test_page(self):
        """A notebook shows the first samples; what they say is text there."""
        bad = support.write(support.scratch() / "a.ffr", [b"\x82\xa3txt\xb9<script>alert(1)</script>\xa3<b>\x01"])
        text = Dataset(bad, encoding="msgpack")._repr_html_()
        self.assertNotIn("<script>", text)
        self.assertNotIn("<b>", text)
        self.assertIn("&lt;script&gt;alert(1)&lt;/script&gt;", text)
        page = Dataset(support.tars())._repr_html_()
        self.assertEqual((page.count("<tr>"), "<td>7</td>" in page), (9, True))
        if not support.PLAIN:
            self.assertRegex(page, 'src="data:image/png;base64,iVBOR')
        self.assertRegex(Dataset(support.write(support.scratch() / "a.ffr", [b"\xc1"]), encoding="msgpack")._repr_html_(), "cannot be shown")


class ByKey(unittest.TestCase):
    def test_threads(self):
        """Threads that are the first to use an index get the samples of their keys."""
        rows = support.scratch() / "rows.jsonl"
        rows.write_text("".join('{"__key__": "k%05d", "n": %d}\n' % (i, i) for i in range(20000)))
        out = support.converted("jsonl", str(rows))
        for _ in range(20):
            data, begin, wrong = Dataset(out), threading.Barrier(4), []

            def work(i):
                begin.wait(30)
                try:
                    if data["k%05d" % i]["n"] != i:
                        wrong.append(i)
                except Exception as e:
                    wrong.append(repr(e))
            workers = [threading.Thread(target=work, args=(i,)) for i in (3, 9000, 13000, 19999)]
            for w in workers:
                w.start()
            for w in workers:
                w.join()
            self.assertEqual(wrong, [])

    def test_keys(self):
        samples = tar_samples()
        keys = [s["__key__"] for s in samples]
        for data in (Dataset(support.tars(), decode="raw"), pickle.loads(pickle.dumps(Dataset(support.tars(), decode="raw")))):
            self.assertEqual(list(data.keys()), keys)
            self.assertEqual([data[key] for key in keys], samples)
            self.assertEqual(data[[keys[7], 3, keys[1]]], [samples[7], samples[3], samples[1]])
            self.assertIn(keys[99], data)
            self.assertNotIn("nothing", data)
        raw = Dataset(support.converted("tar", "--encode", "raw:cls", "--shards", "3", *support.TARS), decode="raw")
        self.assertEqual([raw[key] for key in keys], [{"cls": s["cls"]} for s in samples])
        for bad in ("nothing", "", keys[5] + "0", keys[5][:-1]):
            with self.subTest(key=bad), self.assertRaisesRegex(KeyError, "no sample has this key"):
                data[bad]
        with self.assertRaises(TypeError):
            3 in data

    def test_some_shards(self):
        """Of several files and directories, also one twice."""
        keys = [s["__key__"] for s in tar_samples()]
        one = Dataset([support.tars() / "PART_00003.ffr", support.tars() / "PART_00001.ffr"])
        counts = Reader(support.tars()).shards
        want = keys[sum(counts[:3]):sum(counts[:4])] + keys[counts[0]:sum(counts[:2])]
        self.assertEqual(list(one.keys()), want)
        self.assertEqual([one[key]["__key__"] for key in want], want)
        with self.assertRaisesRegex(KeyError, "no sample"):
            one[keys[0]]
        with self.assertRaisesRegex(KeyError, "'%s' is the key of 2 samples: 4, 124; " % keys[4]):
            Dataset([support.tars(), support.tars()])[keys[4]]

    def test_without_keys(self):
        rows = support.scratch() / "rows.csv"
        rows.write_text("1,2\n3,4\n")
        data = Dataset(support.converted("csv", str(rows)))
        with self.assertRaisesRegex(LookupError, "have no keys"):
            list(data.keys())
        with self.assertRaisesRegex(KeyError, "have no keys"):
            data["1"]
        bare = support.write(support.scratch() / "a.ffr", [b"\x81\xa1a\x01"])
        with self.assertRaisesRegex(LookupError, "have no keys, .*ffconvert ffr"):
            Dataset(bare, encoding="msgpack")["a"]

    def test_odd_keys(self):
        """Keys that begin with one another, of other bytes, or long."""
        keys = ["a", "aa", "aaa", "ä", "日本/語", "a/b", "x" * 3000, "b" * 32, "c" * 33, " ", "'\"\\"]
        path = support.scratch() / "rows.jsonl"
        path.write_text("".join(json.dumps({"__key__": key, "n": i}) + "\n" for i, key in enumerate(keys)))
        data = Dataset(support.converted("jsonl", str(path)))
        self.assertEqual(list(data.keys()), keys)
        self.assertEqual([data[key]["n"] for key in keys], list(range(len(keys))))

    def test_damaged_index(self):
        keys = [s["__key__"] for s in tar_samples()]
        out = support.copied()
        index = out / "index" / "PART_00000.arrow"
        good = index.read_bytes()
        for data in (good[:-1], good + b"x", b"", good.replace(b"000001", b"000002", 1)):
            index.write_bytes(data)
            for use in (lambda d: d[keys[1]], lambda d: list(d.keys())):
                with self.assertRaisesRegex(DamageError, r"index/PART_00000\.arrow: "):
                    use(Dataset(out))
        index.unlink()
        with self.assertRaisesRegex(FileNotFoundError, r"PART_00000\.arrow"):
            Dataset(out)[keys[1]]
        data = Dataset(support.copied())
        data[keys[1]]
        index = data.reader.files[0] + "/index/PART_00000.arrow"
        pathlib.Path(index + ".new").write_bytes(good.replace(b"000001", b"000002", 1))
        os.replace(index + ".new", index)
        with self.assertRaises(DamageError, msg="it was checked, and replaced after that"):
            data[keys[1]]


if __name__ == "__main__":
    unittest.main()
