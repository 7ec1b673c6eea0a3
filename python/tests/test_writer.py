"""What Python writes is what Python reads, whole or not at all."""

import collections
import dataclasses
import enum
import io
import os
import pathlib
import pickle
import random
import shutil
import signal
import subprocess
import sys
import time
import unittest
from unittest import mock

from tests import support

try:
    import numpy as np
except ImportError:
    np = None

import ffconvert
from ffconvert import ConvertError, Dataset, Writer, convert
from ffconvert import conversion, wire
from ffconvert.parts import Parts
from ffconvert.stored import fields, packed

Point = collections.namedtuple("Point", "x y")


@dataclasses.dataclass
class Line:
    begin: Point
    name: str


class Colour(enum.IntEnum):
    RED = 3


class Word(str, enum.Enum):
    CAT = "cat"


class _Array:
    """What is stored as a file, without numpy."""

    mode, fp, format, tile = "RGB", io.BytesIO(b"bytes"), "PNG", [0]

    def getbands(self):
        return ()

    def save(self, *_):
        raise OSError

    def tell(self):
        return 0


def setUpModule():
    mock.patch.dict(os.environ, {"FFCONVERT": support.PROGRAM}).start()
    unittest.addModuleCleanup(mock.patch.stopall)


def back(out):
    """The samples of a dataset without their keys, as they are in records."""
    return [{k: v for k, v in s.items() if k != "__key__"} for s in Dataset(out, decode="raw")]


class Numbers:
    """A dataset of numbered samples, that fails at one of them."""

    def __init__(self, n, bad=-1):
        self.n, self.bad, self.read = n, bad, support.scratch()

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        (self.read / str(i)).touch()
        if i == self.bad:
            raise KeyError("no sample %d" % i)
        return {"n": i, "data": bytes(i % 50)}


class _Deep(list):
    """A dataset one of whose samples has too many lists."""

    def __init__(self):
        value = []
        for _ in range(40):
            value = [value]
        super().__init__({"data": value if i == 5 else [[i]]} for i in range(9))


class Computed:
    """A dataset that computes with several threads of torch."""

    def __len__(self):
        return 8

    def __getitem__(self, i):
        import torch
        return {"mean": float((torch.ones(1000, 1000) * i).exp().mean())}


class Values(unittest.TestCase):
    def test_samples(self):
        for sample, want in (({"a": 1, "b": b"x"}, {"a": 1, "b": b"x"}), ((b"x", 5), {"0": b"x", "1": 5}), (Point(1, "y"), {"x": 1, "y": "y"}), (7, {"value": 7}),
                             (Line(Point(1, 2), "l"), {"begin": [1, 2], "name": "l"}), (None, {"value": None}), ("text", {"value": "text"}),
                             ({"t": (1, (2.5, {"x": [b"y", True]}))}, {"t": [1, [2.5, {"x": [b"y", True]}]]}), ({"m": memoryview(b"ab"), "e": Colour.RED, "w": Word.CAT}, {"m": b"ab", "e": 3, "w": "cat"})):
            with self.subTest(sample=sample):
                got = fields(sample)
                self.assertEqual((got, list(got)), (want, list(want)))
                self.assertEqual([type(v) for v in got.values()], [type(v) for v in want.values()])
        for sample, why in (({"a": {1, 2}}, "field a: a set cannot be stored"), ({1: 2}, "a field has the name 1"), ({"a": object()}, "field a: a object cannot be stored"),
                            ({"b": [1, 2j]}, "field b: a complex cannot be stored"), ({"b": [_Array()]}, "field b: a _Array in a list or dict: make it a field")):
            with self.subTest(sample=sample), self.assertRaisesRegex(TypeError, why):
                fields(sample)
        for key in (7, "", b"x", None):
            with self.assertRaisesRegex(TypeError, "__key__ is %r: want a text" % (key,)):
                packed({"__key__": key, "n": 1}, "0")
        with self.assertRaisesRegex(ValueError, "^sample 0: .*surrogates not allowed"):  # whose own type is not made of a message
            with Writer(support.scratch() / "out") as writer:
                writer.write({"a": "\ud800"})

    def test_depth(self):
        """Samples that the program would refuse at the end are refused when they are written; a flag takes them."""
        def nested(n):
            value = 1
            for _ in range(n):
                value = [value]
            return value
        endless = []
        endless.append(endless)
        for bad in (nested(32), endless, {"x": nested(31)}):
            with self.assertRaisesRegex(ValueError, "^field a: too many lists and dicts in one another: 32 are taken"):
                fields({"a": bad})
        out = support.scratch()
        for depth, options in ((32, {}), (40, {"max": {"depth": 40}}), (41, {"max": ["item-size=1MiB", "depth=41"]})):
            with Writer(out / str(depth), **options) as writer:
                writer.write({"a": 1})
                with self.assertRaisesRegex(ValueError, "^sample 1: field a: too many"):
                    writer.write({"a": nested(depth)})
                writer.write({"a": nested(depth - 1)})
            self.assertEqual(writer.count, 2)
        with self.assertRaisesRegex(ValueError, "^sample 5: field data: too many"):
            ffconvert.convert(_Deep(), out / "parts", num_workers=2)

    def test_msgpack(self):
        """Our encoder writes what the module msgpack does, or what it reads again."""
        draw = random.Random(4)

        def value(depth=0):
            kind = draw.randrange(9 if depth < 4 else 7)
            if kind == 0:
                return draw.choice([None, True, False])
            if kind in (1, 2):
                return draw.choice([1, -1]) * draw.getrandbits(draw.randrange(64))
            if kind == 3:
                return draw.choice([0.0, -1.5, 1e300, draw.random()])
            if kind in (4, 5):
                return draw.randbytes(draw.choice([0, 31, 32, 255, 256, 65535, 65536]))
            if kind == 6:
                return "\u00e9" * draw.choice([0, 15, 16, 127, 128, 40000])
            if kind == 7:
                return [value(depth + 1) for _ in range(draw.choice([0, 3, 15, 16]))]
            return {str(i): value(depth + 1) for i in range(draw.choice([0, 3, 15, 16]))}
        edges = [s * ((1 << b) + d) for b in (5, 7, 8, 15, 16, 31, 32, 63) for d in (-1, 0, 1) for s in (1, -1)] + [(1 << 64) - 1, -(1 << 63)]
        values = [value() for _ in range(300)] + [e for e in edges if -(1 << 63) <= e < 1 << 64] + [[0] * 70000, {str(i): i for i in range(70000)}]
        theirs = [wire.dumps_msgpack(v) for v in values]
        with mock.patch.object(wire, "msgpack", None):
            ours = [wire.dumps_msgpack(v) for v in values]
            self.assertEqual([wire.loads_msgpack(b) for b in ours], values)
            for bad in (1 << 64, -(1 << 63) - 1):
                with self.assertRaisesRegex(ValueError, "64 bits"):
                    wire.dumps_msgpack(bad)
            for bad in ({1, 2}, Colour.RED, (1,)):
                with self.assertRaises(TypeError):
                    wire.dumps_msgpack(bad)
        self.assertEqual(ours, theirs)
        for bad in (1 << 64, -(1 << 63) - 1):
            with self.assertRaises(ValueError):
                wire.dumps_msgpack(bad)

    if not support.PLAIN:
        def test_arrays(self):
            got = fields({"a": np.arange(6, dtype="<f4").reshape(2, 3), "b.npy": np.array([True]), "n": np.int64(5), "f": np.float32(0.5), "z": np.array(3), "s": np.str_("x")})
            self.assertEqual(list(got), ["a.npy", "b.npy", "n", "f", "z", "s"])
            self.assertEqual([got[k] for k in "nfzs"], [5, 0.5, 3, "x"])
            again = np.load(io.BytesIO(got["a.npy"]))
            self.assertEqual((again.dtype.str, again.tolist()), ("<f4", [[0, 1, 2], [3, 4, 5]]))
            for sample, why in (({"a": np.array([{}])}, "field a: an array of objects"), ({"a": np.ones(2), "a.npy": b""}, "two fields are named a.npy"),
                                ({"a": np.ma.array([1, 2], mask=[0, 1])}, "field a: an array with a mask")):
                with self.assertRaisesRegex((TypeError, ValueError), why):
                    fields(sample)

        def test_pictures(self):
            from PIL import Image
            path = next((support.TESTDATA / "shapes").glob("*/*.jpg"))
            for opened in (Image.open(path), Image.open(io.BytesIO(path.read_bytes()))):
                self.assertEqual(fields({"image": opened, "x": 1}), {"image.jpg": path.read_bytes(), "x": 1})
                self.assertEqual(opened.convert("L").size, opened.size)  # it can still be read
            with Image.open(path) as pixels:
                pixels.load()
            pixels.putpixel((0, 0), (1, 2, 3))
            again = Image.open(io.BytesIO(fields({"image": pixels})["image.png"]))
            self.assertEqual((again.format, again.tobytes()), ("PNG", pixels.tobytes()))
            with Image.open(path) as opened:
                self.assertEqual(list(fields({"jpg": opened})), ["jpg"])
            for draft, kind, size, mode in ((("RGB", None), "jpg", (64, 48), "RGB"), (("RGB", (16, 12)), "png", (16, 12), "RGB"), (("L", None), "png", (64, 48), "L"), (("YCbCr", (32, 24)), "npy", (32, 24), "")):
                file = io.BytesIO()
                Image.new("RGB", (64, 48), (9, 99, 199)).save(file, "JPEG")
                drafted = Image.open(file)
                drafted.draft(*draft)
                (name, data), = fields({"image": drafted}).items()
                self.assertEqual((name, drafted.size), ("image." + kind, size))
                if mode:
                    again = Image.open(io.BytesIO(data))
                    self.assertEqual((again.size, again.mode), (size, mode))
                    self.assertEqual(list(again.getdata()), list(drafted.getdata()))
                else:
                    self.assertEqual(np.load(io.BytesIO(data)).shape, (24, 32, 3))
            depth = fields({"image": Image.fromarray(np.array([[70000, -5]], "i4"))})  # no PNG holds these
            self.assertEqual(np.load(io.BytesIO(depth["image.npy"])).tolist(), [[70000, -5]])
            cmyk = fields({"image": Image.new("CMYK", (3, 2), (1, 2, 3, 4))})
            self.assertEqual(np.load(io.BytesIO(cmyk["image.npy"])).tolist(), [[[1, 2, 3, 4]] * 3] * 2)

        def test_tensors(self):
            try:
                import torch
            except ImportError:
                return
            got = fields((torch.ones(2, 2, requires_grad=True), torch.tensor(3)))
            self.assertEqual((np.load(io.BytesIO(got["0.npy"])).tolist(), got["1"]), ([[1, 1], [1, 1]], 3))


class Writers(unittest.TestCase):
    def test_forked(self):
        """A process that was forked in the block keeps nobody waiting, and cannot write."""
        out = support.scratch() / "out"
        with Writer(out) as writer:
            writer.write(1)
            pid = os.fork()
            if not pid:
                signal.alarm(120)
                try:
                    writer.write(2)
                except ValueError:
                    signal.pause()
                os._exit(1)
            writer.write(3)
        self.assertEqual([s["value"] for s in Dataset(out)], [1, 3])
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)

    def test_interrupted_close(self):
        """An error that comes while the program ends takes the program with it."""
        script = support.scratch() / "slow"
        script.write_text("#!/bin/sh\ncat >/dev/null\nexec sleep 300\n")
        script.chmod(0o755)

        def late(*_):
            raise InterruptedError("late")
        before = signal.signal(signal.SIGALRM, late)
        try:
            with mock.patch.dict(os.environ, {"FFCONVERT": str(script)}):
                writer = Writer(support.scratch() / "out")
                process = writer._program.process
                signal.setitimer(signal.ITIMER_REAL, 0.2)
                with self.assertRaises(InterruptedError):
                    writer.close()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        self.assertIsNotNone(process.poll())

    def test_writer(self):
        out = support.scratch() / "out"
        with Writer(out, shards=3, sha256=True) as writer:
            for i in range(100):
                writer.write({"n": i, "data": bytes(i)})
            with self.assertRaisesRegex(TypeError, "sample 100: field x: a set"):
                writer.write({"x": {1}})
            writer.write({"__key__": "mine", "n": 100})
            self.assertFalse(out.exists())
        self.assertIn("101 samples", writer.summary)
        self.assertEqual(writer.close(), writer.summary)
        data = Dataset(out)
        self.assertEqual((len(data.shards), list(data.keys())), (3, ["%08d" % i for i in range(100)] + ["mine"]))
        self.assertEqual(back(out), [{"n": i, "data": bytes(i)} for i in range(100)] + [{"n": 100}])
        support.run("verify", "--sha256", out)
        with self.assertRaisesRegex(ValueError, "closed"):
            writer.write(1)

    def test_no_dataset(self):
        """An exception in the block, a writer that is dropped, and no samples leave nothing."""
        where = support.scratch()
        with self.assertRaises(ZeroDivisionError), Writer(where / "a") as writer:
            for i in range(1000):
                writer.write(bytes(5000))
            1 // 0
        with self.assertWarnsRegex(ResourceWarning, "not closed"):
            writer = Writer(where / "b")
            writer.write(1)
            del writer
        with self.assertRaisesRegex(ConvertError, "no samples") as caught:
            with Writer(where / "c"):
                pass
        self.assertGreater(caught.exception.status, 0)
        with self.assertRaisesRegex(ConvertError, "unknown flag --no-such-flag"):
            with Writer(where / "d", no_such_flag=1) as writer:
                for _ in range(100):
                    writer.write(bytes(1 << 20))
        self.assertEqual([p for p in where.iterdir() if any(p.glob("*.ffr"))], [])

    def test_failed(self):
        """Once the program has refused, every call says so: a caller that goes on does not end with what looks like a dataset."""
        out = support.scratch()
        (out / "mine.txt").write_text("mine")
        with self.assertRaisesRegex(ConvertError, "not empty") as caught, Writer(out) as writer:
            for _ in range(20_000):
                try:
                    writer.write(bytes(1000))
                except ConvertError:
                    pass
        self.assertEqual((caught.exception.status, writer.summary), (1, ""))
        for call in (writer.close, lambda: writer.write(1)):
            with self.assertRaisesRegex(ConvertError, "not empty"):
                call()
        again = pickle.loads(pickle.dumps(caught.exception))
        self.assertEqual((str(again), again.status), (str(caught.exception), 1))

    def test_killed(self):
        """A process that dies leaves no dataset, wherever that happens."""
        script = """if True:
            import os, sys
            from ffconvert import Writer
            writer = Writer(sys.argv[1])
            for i in range(int(sys.argv[2])):
                writer.write({"n": i, "data": bytes(1000)})
            writer._flush()
            print("written", flush=True)
            sys.stdin.read()"""
        for n in (0, 1, 3000):
            out = support.scratch() / "out"
            process = subprocess.Popen([sys.executable, "-c", script, str(out), str(n)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=support.ROOT / "python")
            self.assertEqual(process.stdout.readline(), b"written\n")
            process.kill()
            process.communicate(timeout=60)
            with self.assertRaises(Exception):
                Dataset(out)
            self.assertEqual(list(out.glob("*.ffr")) if out.exists() else [], [])

    def test_no_program(self):
        with mock.patch.dict(os.environ, {"FFCONVERT": ""}), mock.patch("ffconvert.writer.find_program", lambda: None), \
                self.assertRaisesRegex(FileNotFoundError, "install a wheel"):
            Writer(support.scratch() / "out")


class Converts(unittest.TestCase):
    def test_iterables(self):
        want = [{"n": i, "data": bytes(i % 50)} for i in range(300)]
        for dataset in (Numbers(300), [Numbers(300)[i] for i in range(300)], (s for s in want), lambda: iter(want), iter(want)):
            out = support.scratch() / "out"
            self.assertIn("300 samples", convert(dataset, out, progress=False))
            self.assertEqual(back(out), want)
        out = support.scratch() / "out"
        convert(Dataset(support.tars(), decode="raw"), out)
        self.assertEqual(Dataset(out, decode="raw")[:], Dataset(support.tars(), decode="raw")[:])

    def test_workers(self):
        """Processes write the same dataset to the byte, and leave no parts."""
        where = support.scratch()
        convert(Numbers(1000), where / "one", shards=4)
        for workers in (1, 3):
            with mock.patch.object(conversion, "_SAMPLES", 70):
                convert(Numbers(1000), where / ("of%d" % workers), num_workers=workers, shards=4)
            for path in sorted((where / "one").glob("*.ffr")):
                self.assertEqual(path.read_bytes(), (where / ("of%d" % workers) / path.name).read_bytes())
        self.assertEqual(sorted(p.name for p in where.iterdir()), ["of1", "of3", "one"])

    def test_fails(self):
        """The error of a dataset is raised, there is no dataset, and the next call goes on with the parts that are whole."""
        out, bad = support.scratch() / "out", Numbers(1000, bad=613)
        for workers in (0, 2):
            with self.assertRaisesRegex(KeyError, "no sample 613"):
                convert(bad, out, num_workers=workers)
            self.assertFalse(out.exists())
        whole = sorted(out.with_name("out.parts").glob("*.mp"))
        self.assertGreater(len(whole), 0)
        good = Numbers(1000)
        convert(good, out, num_workers=2)
        self.assertEqual([s["n"] for s in Dataset(out)], list(range(1000)))
        again = {int(p.name) for p in good.read.iterdir()}
        self.assertTrue(613 in again and len(again) < 1000 and int(whole[0].stem[:12]) + 1 not in again, "whole parts were read again")
        self.assertFalse(out.with_name("out.parts").exists())

    def test_changed(self):
        """Parts of another dataset of as many samples are not taken."""
        out = support.scratch() / "out"
        with self.assertRaises(KeyError):
            convert(Numbers(100, bad=99), out, num_workers=1)
        with self.assertRaisesRegex(ValueError, r"out.parts/0000000000\d\d-[0-9a-f]{8}\.mp: sample \d+ is another one than that of the dataset now: .* remove "):
            convert([{"n": -i} for i in range(100)], out, num_workers=1)

    def test_power_cut(self):
        """A part that is not what was written is written again: cut, or with a hole."""
        for damage in (lambda data: data[:-9], lambda data: data[:40] + bytes(8) + data[48:]):
            out = support.scratch() / "out"
            with self.assertRaises(KeyError):
                convert(Numbers(100, bad=99), out, num_workers=1)
            part = min(out.with_name("out.parts").glob("*.mp"))
            part.write_bytes(damage(part.read_bytes()))
            convert(Numbers(100), out, num_workers=2)
            self.assertEqual([s["n"] for s in Dataset(out)], list(range(100)))

    def test_refused_at_once(self):
        """Flags and names that the program refuses end it before a second sample is made."""
        out, numbers = support.scratch() / "out", Numbers(100)
        for options, message in (({"shards": "many"}, "--shards"), ({"no_such_flag": 1}, "unknown flag --no-such-flag")):
            with self.assertRaisesRegex(ConvertError, message):
                convert(numbers, out, num_workers=2, **options)
        out.mkdir()
        (out / "mine.txt").write_text("mine")
        with self.assertRaisesRegex(ConvertError, "not empty"):
            convert(numbers, out, num_workers=2)
        self.assertEqual({int(p.name) for p in numbers.read.iterdir()}, {0})
        self.assertFalse(out.with_name("out.parts").exists())

    def test_lazy_file(self):
        """A file that a dataset opens at its first sample has a position of its own in each process."""
        data = support.scratch() / "data.bin"
        data.write_bytes(b"".join(b"%08d" % i * 100 for i in range(2000)))

        class Lazy:
            file = None

            def __len__(self):
                return 2000

            def __getitem__(self, i):
                self.file = self.file or open(data, "rb")
                self.file.seek(800 * i)
                return {"n": i, "data": self.file.read(800)}
        out = support.scratch() / "out"
        convert(Lazy(), out, num_workers=4)
        self.assertEqual([bytes(s["data"][:8]) for s in Dataset(out)], [b"%08d" % i for i in range(2000)])

    def test_again(self):
        """A dataset that is there is not made again; a removal of the parts that was stopped goes on."""
        out = support.scratch() / "out"
        with mock.patch("ffconvert.parts.Parts.remove"):
            summary = convert(Numbers(100), out, num_workers=2)
        parts = out.with_name("out.parts")
        with mock.patch.object(pathlib.Path, "unlink", side_effect=KeyboardInterrupt), self.assertRaises(KeyboardInterrupt):
            Parts(str(parts)).remove(str(out), summary)
        min(parts.glob("*.mp")).unlink()
        numbers = Numbers(100)
        self.assertEqual(convert(numbers, out, num_workers=2), summary)
        self.assertFalse(parts.exists())
        with self.assertRaisesRegex(FileExistsError, "a dataset is there: overwrite=True"):
            convert(numbers, out, num_workers=2)
        self.assertEqual(list(numbers.read.iterdir()), [])
        convert(Numbers(50), out, num_workers=2, overwrite=True)
        self.assertEqual(len(Dataset(out)), 50)

    def test_anew_after_a_stopped_removal(self):
        """What is left of the parts of a dataset that is gone, or is to be overwritten, says nothing of a new one."""
        for gone in (True, False):
            out = support.scratch() / "out"
            with mock.patch("ffconvert.parts.Parts.remove"):
                summary = convert(Numbers(100), out, num_workers=2)
            parts = Parts(str(out.with_name("out.parts")))
            with mock.patch.object(pathlib.Path, "unlink", side_effect=KeyboardInterrupt), self.assertRaises(KeyboardInterrupt):
                parts.remove(str(out), summary)
            if gone:
                shutil.rmtree(out)
            self.assertIn("70 samples", convert(Numbers(70), out, num_workers=2, overwrite=not gone))
            self.assertEqual(len(Dataset(out)), 70)
            self.assertFalse(parts.directory.exists())

    def test_first_sample(self):
        """A first sample that cannot be stored is named, as all others are."""
        with self.assertRaisesRegex(TypeError, "^sample 0: field a: a set"):
            convert([{"a": {1}}, {"a": 1}], support.scratch() / "out", num_workers=2)

    def test_out_in_parts(self):
        where = support.scratch()
        (where / "q").symlink_to(where / "p")
        for out in ("p", "p/out", "p/x/../out", "q/out"):
            with self.assertRaisesRegex(ValueError, "the directory of the parts"):
                convert(Numbers(10), where / out, num_workers=2, parts=where / "p")

    def test_own_files_stay(self):
        out = support.scratch() / "out"
        with self.assertRaises(KeyError):
            convert(Numbers(100, bad=99), out, num_workers=1)
        (out.with_name("out.parts") / "mine.txt").write_text("mine")
        (out.with_name("out.parts") / "000000000013.4711.new").write_text("of a process that was killed")
        convert(Numbers(100), out, num_workers=2)
        self.assertEqual([p.name for p in out.with_name("out.parts").iterdir()], ["mine.txt"])

    def test_ends_at_once(self):
        """An error, and Ctrl-C, wait for no part."""
        class Slow(Numbers):
            def __getitem__(self, i):
                time.sleep(60 if i > 1 else 0)
                return super().__getitem__(i)
        begin = time.monotonic()
        with self.assertRaisesRegex(KeyError, "no sample 1"):
            convert(Slow(100, bad=1), support.scratch() / "out", num_workers=2)
        self.assertLess(time.monotonic() - begin, 50)

    def test_threads_of_torch(self):
        """Workers compute with torch, whose threads this process has started."""
        try:
            import torch
        except ImportError:
            return  # the tests with the standard library alone
        before = torch.get_num_threads()
        torch.set_num_threads(2)
        try:
            torch.ones(1000, 1000).exp().sum()
            out = support.scratch() / "out"
            convert(Computed(), out, num_workers=2)
            self.assertEqual(len(Dataset(out)), 8)
        finally:
            torch.set_num_threads(before)

    def test_no_dataset(self):
        for dataset in ("src", b"src", pathlib.Path("src"), {"train": []}):
            with self.assertRaisesRegex(TypeError, "is not a dataset"):
                convert(dataset, support.scratch() / "out")
        with self.assertRaisesRegex(ValueError, "num_workers=-1"):
            convert(Numbers(3), support.scratch() / "out", num_workers=-1)
        with self.assertRaisesRegex(ConvertError, "no samples"):
            convert([], support.scratch() / "out", num_workers=2)

    def test_odd_errors(self):
        class Odd(Exception):
            def __init__(self, a, b):
                super().__init__("%s and %s" % (a, b))

        class Bad(Numbers):
            def __getitem__(self, i):
                if i == 7:
                    raise Odd("this", "that")
                return super().__getitem__(i)
        with self.assertRaisesRegex(RuntimeError, "Odd: this and that"):
            convert(Bad(10), support.scratch() / "out", num_workers=1)

    def test_orphans(self):
        """Workers whose parent is killed end."""
        script = """if True:
            import os, sys, time
            from ffconvert import convert
            class Slow:
                def __len__(self): return 20
                def __getitem__(self, i):
                    if os.getpid() != parent:
                        print(os.getpid(), flush=True)
                        time.sleep(300)
                    return i
            parent = os.getpid()
            convert(Slow(), sys.argv[1], num_workers=2)"""
        process = subprocess.Popen([sys.executable, "-c", script, str(support.scratch() / "out")], stdout=subprocess.PIPE, text=True, cwd=support.ROOT / "python")
        process.stdout.readline()
        process.kill()
        process.wait()
        process.stdout.read()  # ends when no worker has it any more; the watchdog of the tests waits for it

    def test_parts_of_others(self):
        where = support.scratch()
        with self.assertRaises(KeyError):
            convert(Numbers(100, bad=50), where / "out", num_workers=2)
        with self.assertRaisesRegex(ValueError, r"out\.parts: its parts are of 100 samples, the dataset has 101"):
            convert(Numbers(101), where / "out", num_workers=2)
        (where / "other").mkdir()
        (where / "other" / "mine.txt").write_text("mine")
        with self.assertRaisesRegex(FileExistsError, "it has other files"):
            convert(Numbers(100), where / "new", num_workers=2, parts=where / "other")
        with self.assertRaisesRegex(TypeError, "a generator has no length"):
            convert((i for i in range(3)), where / "new", num_workers=2)
        with self.assertRaisesRegex(ValueError, "give parts="):
            convert(Numbers(3), "s3://bucket/out", num_workers=2)
        (where / "bad").mkdir()
        (where / "bad" / "parts.json").write_text("[]")
        with self.assertRaisesRegex(ValueError, "not what ffconvert.convert wrote"):
            convert(Numbers(3), where / "new", num_workers=2, parts=where / "bad")

    def test_killed(self):
        """A conversion whose process is killed goes on, with no part lost and none twice."""
        script = """if True:
            import sys, time
            from ffconvert import conversion
            conversion._SAMPLES = 10
            class Slow:
                def __len__(self): return 200
                def __getitem__(self, i):
                    time.sleep(0.002)
                    return {"n": i}
            conversion.convert(Slow(), sys.argv[1], num_workers=2)"""
        draw, out = random.Random(9), support.scratch() / "out"
        parts = out.with_name("out.parts")
        for kill in (2, 9, 15, None):
            process = subprocess.Popen([sys.executable, "-c", script, str(out)], cwd=support.ROOT / "python", start_new_session=True)
            if kill is None:
                self.assertEqual(process.wait(timeout=120), 0)
                break
            while process.poll() is None and len(list(parts.glob("*.mp"))) < kill:
                pass
            os.killpg(process.pid, draw.choice([signal.SIGKILL, signal.SIGTERM]))
            process.wait(timeout=60)
            self.assertFalse(out.exists())
        self.assertEqual([s["n"] for s in Dataset(out)], list(range(200)))

    def test_progress(self):
        said = io.StringIO()
        with mock.patch("sys.stderr", said), mock.patch.object(conversion, "_EVERY", 0):
            convert(Numbers(20), support.scratch() / "out", progress=True)
        self.assertRegex(said.getvalue(), r"\r1 of 20 samples, \d+ a second *\r2 of 20.*\r20 of 20 samples, \d+ a second *\n$")


class Flags(unittest.TestCase):
    def test_arguments(self):
        from ffconvert.writer import arguments
        self.assertEqual(arguments({"shards": 8, "sha256": True, "verify": False, "label": None, "max": {"item-size": "2GiB", "depth": 3}, "annotate": ["a", "b"],
                                    "cache_dir": pathlib.Path("/c"), "encode": "cbor"}),
                         ["--encode=cbor", "--shards=8", "--sha256", "--max=item-size=2GiB", "--max=depth=3", "--annotate=a", "--annotate=b", "--cache-dir=/c"])
        self.assertEqual(arguments({}), ["--encode=msgpack"])
        self.assertIs(ffconvert.convert, convert)


if __name__ == "__main__":
    unittest.main()
