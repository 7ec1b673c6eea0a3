"""What is written for the package of FFRecord runs with ffconvert.ffrecord in its place, and what that would damage is an error.

The cases of its tests are here, in test_ffrecord_torch.py those that need torch.
"""

import gc
import importlib
import os
import pathlib
import pickle
import random
import subprocess
import sys
import tempfile
import threading
import unittest
import warnings
from array import array
from unittest import mock

from tests import support

import ffconvert.ffrecord as ffrecord
from ffconvert import DamageError, Reader
from ffconvert.ffrecord import FileReader, FileWriter, PackedFolder, checkFsAlign, pack_folder
from ffconvert.ffrecord import writer as writing
from ffconvert.ffrecord.utils import dump

SQUARES = [bytes(x * x % 256 for x in range(i + 5)) for i in range(200)]


def write(path, samples):
    writer = FileWriter(path, len(samples))
    for sample in samples:
        writer.write_one(sample)
    writer.close()
    return str(path)


def new():
    return support.scratch() / "new.ffr"


class Names(unittest.TestCase):
    def test_names(self):
        for name in ffrecord.__all__:
            self.assertIsNotNone(getattr(ffrecord, name) if name != "torch" else ffrecord.__getattr__)
        self.assertEqual(ffrecord.__version__, "1.4.0")
        for module, names in (("fileio", "FileReader FileWriter checkFsAlign"), ("package", "PackedFolder pack_folder"), ("utils", "dump")):
            for name in names.split():
                self.assertTrue(callable(getattr(importlib.import_module("ffconvert.ffrecord." + module), name)))
        with self.assertRaisesRegex(AttributeError, "no attribute 'tourch'"):
            ffrecord.tourch

    def test_without_torch(self):
        code = "import sys, ffconvert.ffrecord as f; f.FileReader; f.utils.dump; assert 'torch' not in sys.modules"
        subprocess.run([sys.executable, "-c", code], check=True, cwd=support.ROOT / "python")


class Snippets(unittest.TestCase):
    """The usage in its README."""

    def test_write_and_read(self):
        samples = [i for i in range(100)]
        fname = str(new())
        writer = FileWriter(fname, len(samples))
        for i in range(len(samples)):
            writer.write_one(pickle.dumps(samples[i]))
        writer.close()
        reader = FileReader(fname, check_data=True)
        self.assertEqual(reader.n, 100)
        self.assertEqual([pickle.loads(b) for b in reader.read([3, 6, 0, 10])], [3, 6, 0, 10])
        reader.close()


class Io(unittest.TestCase):
    """One file and several, sample by sample and in batches."""

    def files(self, directory, n, count):
        return [write(directory / ("%05d.ffr" % i), SQUARES[i * n:(i + 1) * n]) for i in range(count)]

    def test_io(self):
        for n, count in ((100, 1), (20, 10)):
            files = self.files(support.scratch(), n, count)
            order = random.Random(1).sample(range(n * count), n * count)
            with FileReader(files, check_data=True) as reader:
                self.assertEqual((reader.n, reader.fnames, reader.nfiles), (n * count, files, count))
                self.assertEqual([bytes(reader.read_one(i)) for i in order], [SQUARES[i] for i in order])
                for at in range(0, len(order), 10):
                    batch = order[at:at + 10]
                    self.assertEqual(list(map(bytes, reader.read(batch))), [SQUARES[i] for i in batch])
                self.assertEqual(reader.read([]), [])
                self.assertEqual(list(map(bytes, reader.read((7, 7)))), [SQUARES[7]] * 2)

    def test_directory(self):
        directory = support.scratch()
        self.files(directory, 40, 5)
        for name in (str(directory) + "/", directory):
            reader = FileReader(name, check_data=True)
            self.assertEqual(list(map(bytes, reader.read(range(200)))), SQUARES)

    def test_path_and_with(self):
        path = new()
        with FileWriter(path, 10) as writer:
            for _ in range(10):
                writer.write_one(b"12345")
        self.assertEqual((writer.n, writer.count, writer.fname), (10, 10, str(path)))
        with FileReader(path) as reader:
            self.assertEqual(list(map(bytes, reader.read(list(range(10))))), [b"12345"] * 10)
        with self.assertRaisesRegex(ValueError, "closed"):
            reader.read([0])

    def test_pickle(self):
        first = FileReader(write(new(), [bytearray([1, 2, 3, 4]), bytearray([5, 6, 7, 8])]), True)
        second = pickle.loads(pickle.dumps(first))
        self.assertIs(type(second), FileReader)
        self.assertEqual(list(map(bytes, second.read([0, 1]))), list(map(bytes, first.read([0, 1]))))
        self.assertEqual((second.fnames, second.check_data), (first.fnames, True))

    def test_large(self):
        """Samples that are written at once, among those that are collected."""
        samples = [bytes([i]) * size for i, size in enumerate((10, 1 << 20, 0, (1 << 20) - 1, 1, 3 << 20, 5, 700000, 700000))]
        self.assertEqual(support.samples(write(new(), samples)), samples)

    def test_tables(self):
        reader = FileReader([write(new(), [b"hello", b""]), write(new(), [b"x" * 9])])
        self.assertEqual(list(reader.get_offsets(0)), [36, 41, 41])
        self.assertEqual(list(reader.get_checksums(0)), [0x3610A686, 0])
        self.assertEqual(list(reader.get_offsets(1)), [24, 33])
        reader.get_offsets(0)[0] = 7  # a copy
        self.assertEqual(bytes(reader.read_one(0)), b"hello")
        for wrong in (2, -1):
            with self.assertRaisesRegex(IndexError, "file -?. of 2"):
                reader.get_checksums(wrong)
        reader.close()
        with self.assertRaisesRegex(ValueError, "closed"):
            reader.get_offsets(0)

    def test_validate(self):
        path = write(new(), [b"hello", b"you"])
        reader = FileReader(path)
        reader.validate()
        before = os.stat(path)
        support.flip(path, 14)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))  # the device did it
        with self.assertRaisesRegex(DamageError, "new.ffr: the checksum of the header differs"):
            reader.validate()
        write(path, [b"other"])
        with self.assertRaisesRegex(DamageError, "was replaced or changed"):
            reader.validate()
        legacy = FileReader(support.TESTDATA / "ffrecord" / "refused" / "legacy.ffr", check_data=False)
        with self.assertRaisesRegex(DamageError, "without a checksum"):
            legacy.validate()

    def test_check_data(self):
        path = write(new(), [b"hello", b"you"])
        support.flip(path, 37)
        with FileReader(path, check_data=False) as reader:
            self.assertEqual(bytes(reader.read_one(0))[0:1], b"h")
        with FileReader(path) as reader, self.assertRaisesRegex(DamageError, "sample 0 at byte 36: its checksum differs"):
            reader.read([1, 0])

    def test_align(self):
        with tempfile.NamedTemporaryFile() as f:
            self.assertIs(checkFsAlign(f.fileno()), False)
        self.assertIs(checkFsAlign(-1), False)


class Writer(unittest.TestCase):
    def test_bytes(self):
        """The known files, and any other, to the byte."""
        for name in ("three-samples", "no-samples", "two-empty", "f3"):
            known = support.TESTDATA / "ffrecord" / (name + ".ffr")
            self.assertEqual(pathlib.Path(write(new(), support.samples(known))).read_bytes(), known.read_bytes(), name)
        self.assertEqual(pathlib.Path(write(new(), SQUARES)).read_bytes(), pathlib.Path(support.write(new(), SQUARES)).read_bytes())

    def test_buffers(self):
        given = [b"bytes", bytearray(b"array"), memoryview(b"view"), memoryview(b"a.b.c.")[::2], array("H", [1, 515])]
        want = [b"bytes", b"array", b"view", b"abc", array("H", [1, 515]).tobytes()]
        if not support.PLAIN:
            import numpy as np
            arrays = [np.arange(6, dtype=np.uint8), np.arange(6).reshape(2, 3), np.arange(6)[::-2], np.zeros((0, 3)), np.float16([1.5]),
                      np.arange(3, dtype=">i4"), np.asfortranarray(np.arange(6).reshape(2, 3)), np.array(7), np.array([(1, 2.0)], "i4,f8")]
            given += arrays
            want += [a.tobytes() for a in arrays]
        self.assertEqual(support.samples(write(new(), given)), want)

    def test_changed_afterwards(self):
        data = bytearray(b"first")
        with FileWriter(new(), 2) as writer:
            writer.write_one(data)
            data[:] = b"other"
            writer.write_one(data)
        self.assertEqual(support.samples(writer.fname), [b"first", b"other"])

    def test_replaces(self):
        path = new()
        write(path, SQUARES)
        write(path, [b"short"])
        self.assertEqual(path.read_bytes(), pathlib.Path(support.write(new(), [b"short"])).read_bytes())

    def test_arguments(self):
        for name in ("x.bin", ".ffr", "x"):
            path = support.scratch() / name
            with self.assertRaisesRegex(ValueError, "ends in .ffr"):
                FileWriter(path, 1)
            self.assertFalse(path.exists())
        with self.assertRaisesRegex(ValueError, "-1 samples"):
            FileWriter(new(), -1)
        for wrong in (1.5, "3", None):
            with self.assertRaises(TypeError):
                FileWriter(new(), wrong)
        with self.assertRaises(TypeError):
            FileWriter(7, 1)
        with self.assertRaises(FileNotFoundError):
            FileWriter(support.scratch() / "missing" / "x.ffr", 1)

    def refused(self, path):
        with self.assertRaisesRegex(DamageError, "not finished"):
            Reader(path)
        with self.assertRaisesRegex(DamageError, "not finished"):
            Reader(path, check_data=False)

    def test_too_few(self):
        writer = FileWriter(new(), 3)
        self.refused(writer.fname)
        writer.write_one(b"one")
        with self.assertRaisesRegex(ValueError, r"new.ffr: 1 of 3 samples were written"):
            writer.close()
        self.refused(writer.fname)
        writer.close()  # once is enough
        with self.assertRaisesRegex(ValueError, "1 of 3"):
            with FileWriter(writer.fname, 3) as writer:
                writer.write_one(b"one")
        self.refused(writer.fname)

    def test_too_many(self):
        writer = FileWriter(new(), 1)
        writer.write_one(b"one")
        for call in (lambda: writer.write_one(b"two"), lambda: writer.write_one(b"two"), writer.close):
            with self.assertRaisesRegex(ValueError, r"new.ffr: sample 1, and the writer was made for 1"):
                call()
        self.refused(writer.fname)
        with self.assertRaisesRegex(ValueError, "the writer is closed"):
            writer.write_one(b"one")

    def test_type(self):
        writer = FileWriter(new(), 1)
        for wrong in ("text", 7, None, [1, 2]):
            with self.assertRaisesRegex(TypeError, "new.ffr: sample 0 is of the type %s" % type(wrong).__name__):
                writer.write_one(wrong)
        writer.write_one(b"right")
        writer.close()
        self.assertEqual(support.samples(writer.fname), [b"right"])

    def test_exception(self):
        with self.assertRaisesRegex(KeyError, "mine"):
            with FileWriter(new(), 1) as writer:
                writer.write_one(b"one")
                raise KeyError("mine")
        self.refused(writer.fname)

    def test_deleted(self):
        """It is closed when nobody has it, as FFRecord does; one that lacks samples leaves a file that is refused."""
        path = new()
        writer = FileWriter(path, 1)
        writer.write_one(b"one")
        del writer
        gc.collect()
        self.assertEqual(support.samples(path), [b"one"])
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            writer = FileWriter(path, 2)
            writer.write_one(b"one")
            del writer
            gc.collect()
        self.assertRegex(str(found[0].message), "new.ffr: its writer was not closed.*1 of 2")
        self.refused(path)

    def test_fork(self):
        """A process that was forked meanwhile, as the worker of a loader, changes nothing."""
        writer = FileWriter(new(), 2)
        writer.write_one(b"one")
        child = os.fork()
        if not child:
            writer.count = 2
            writer.__del__()
            os._exit(0)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.refused(writer.fname)
        writer.write_one(b"two")
        writer.close()
        self.assertEqual(support.samples(writer.fname), [b"one", b"two"])
        with self.assertRaisesRegex(TypeError, "cannot be copied"):
            pickle.dumps(writer)

    def test_faults(self):
        """Each call of the system fails once, for good or after a part: it is reported, close fails, and the file is refused."""
        for name in ("pwrite", "fsync"):
            real, calls = getattr(os, name), 0

            def fails(*args):
                nonlocal calls
                calls += 1
                if calls == at:
                    raise OSError(28, "No space left on device")
                if name == "pwrite" and len(args[1]) > 3:
                    args = (args[0], args[1][:len(args[1]) // 2 + 1], args[2])
                return real(*args)

            for at in range(1, 200):
                calls, path = 0, new()
                with mock.patch.object(os, name, fails):
                    try:
                        write(path, SQUARES[:3] + [b"x" * (1 << 20)])
                        break
                    except OSError as e:
                        self.assertEqual((e.errno, e.filename), (28, str(path)))
                for check_data in (True, False):
                    with self.assertRaises(DamageError):
                        Reader(path, check_data)
            self.assertGreater(at, 20 if name == "pwrite" else 1)
            self.assertEqual(support.samples(path), SQUARES[:3] + [b"x" * (1 << 20)])

    def test_sticky(self):
        writer = FileWriter(new(), 2)
        with mock.patch.object(os, "pwrite", side_effect=OSError(28, "No space left on device")), self.assertRaises(OSError):
            writer.write_one(b"x" * (1 << 20))
        for call in (lambda: writer.write_one(b"y"), writer.close):
            with self.assertRaisesRegex(OSError, "No space left on device: '.*new.ffr'"):
                call()
        self.refused(writer.fname)

    def test_interrupted(self):
        writer = FileWriter(new(), 1)
        with mock.patch.object(os, "pwrite", side_effect=KeyboardInterrupt), self.assertRaises(KeyboardInterrupt):
            writer.write_one(b"x" * (1 << 20))
        with self.assertRaisesRegex(ValueError, "the write of sample 0 was interrupted"):
            writer.close()
        self.refused(writer.fname)

    def test_head_last(self):
        """The head is written once, when everything else is on the device."""
        calls = []
        with mock.patch.object(os, "pwrite", lambda fd, data, at, real=os.pwrite: calls.append(at) or real(fd, data, at)), \
                mock.patch.object(os, "fsync", lambda fd: calls.append("sync")):
            write(new(), [b"a", b"b" * (1 << 20)])
        self.assertEqual([c for c in calls if c in (0, "sync")], [0, "sync", 0])
        self.assertEqual(calls[-2:], ["sync", 0])


class Packed(unittest.TestCase):
    def setUp(self):
        self.folder = support.scratch() / "folder"
        self.folder.mkdir()
        self.out = support.scratch() / "packed.ffr"

    def test_flat(self):
        files = {"%03d" % i: bytes((i + j) % 256 for j in range(1000 + i)) for i in range(20)}
        for name, data in files.items():
            (self.folder / name).write_bytes(data)
        with mock.patch("builtins.print") as printed:
            pack_folder(self.folder, self.out, verbose=True)
        self.assertEqual(printed.call_count, 20)
        self.assertEqual(printed.call_args_list[7], mock.call("07/20 %s" % (self.folder / "007"), flush=True))
        folder = PackedFolder(self.out)
        self.assertEqual((folder.num_files(), folder.list()), (20, sorted(files)))
        self.assertEqual((folder.is_file("000"), folder.is_dir("000"), folder.is_file("100")), (True, False, False))
        self.assertEqual({name: bytes(folder.read_one(name)) for name in files}, files)

    def test_as_ffconvert_packs(self):
        source, want = support.TESTDATA / "shapes", support.scratch() / "want.ffr"
        support.run("pack", source, want)
        pack_folder(str(source), str(self.out))
        self.assertEqual(support.samples(self.out)[:-1], support.samples(want)[:-1])
        with PackedFolder(self.out) as got, PackedFolder(want) as wanted:
            self.assertEqual(got.list(recursive=True), wanted.list(recursive=True))

    def test_names(self):
        """What FFRecord unpickles, and order and numbers of the files."""
        for name in ("b/z", "b/a/x", "B", "a", ".hidden", "é"):
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(name.encode())
        (self.folder / "empty").mkdir()
        os.symlink("a", self.folder / "link")
        pack_folder(self.folder, self.out)
        *files, names = support.samples(self.out)
        self.assertEqual(files, [name.encode() for name in (".hidden", "B", "a", "b/a/x", "b/z", "a", "é")])
        tree = pickle.loads(names[9:])
        self.assertEqual((names[:9], type(tree).__name__), (b"piouhjgbr", "OrderedDict"))
        self.assertEqual(list(tree.items()), [(".hidden", 0), ("B", 1), ("a", 2), ("b", {"a": {"x": 3}, "z": 4}), ("empty", {}), ("link", 5), ("é", 6)])
        self.assertEqual(PackedFolder(self.out).list("b", recursive=True), ["a", "a/x", "z"])

    def test_refused(self):
        def loop():
            (self.folder / "d").mkdir()
            os.symlink("..", self.folder / "d" / "up")

        for make, why in ((lambda: os.mkfifo(self.folder / "fifo"), "fifo: neither a file nor"), (loop, "up: a link to a directory that it lies in"),
                          (lambda: open(os.fsencode(self.folder) + b"/\xff", "w").close(), "is not UTF-8"),
                          (lambda: os.symlink("gone", self.folder / "x"), "No such file")):
            self.setUp()
            make()
            with self.assertRaisesRegex((ValueError, FileNotFoundError), why):
                pack_folder(self.folder, self.out)
            self.assertFalse(self.out.exists())
        with self.assertRaisesRegex(NotADirectoryError, "not a directory"):
            pack_folder(write(new(), []), self.out)

    def test_output_in_folder(self):
        (self.folder / "a").write_bytes(b"a")
        pack_folder(self.folder, self.folder / "out.ffr")  # is not in it yet
        before = (self.folder / "out.ffr").read_bytes()
        with self.assertRaisesRegex(ValueError, "out.ffr: the output lies in the folder"):
            pack_folder(self.folder, self.folder / "out.ffr")
        self.assertEqual((self.folder / "out.ffr").read_bytes(), before)


class Dump(unittest.TestCase):
    def test_one_file(self):
        path = new()
        dump([pickle.dumps(i * 2) for i in range(200)], path, nfiles=1)
        with FileReader(path, True) as reader:
            self.assertEqual([pickle.loads(b) for b in reader.read(range(reader.n))], [i * 2 for i in range(200)])

    def test_several_files(self):
        for n, nfiles, want in ((200, 8, [25] * 8), (200, 64, [4] * 50), (10, 16, [1] * 10), (0, 3, [0]), (7, 3, [3, 3, 1])):
            directory = support.scratch() / "a" / "b.ffr"
            with warnings.catch_warnings(record=True) as found:
                warnings.simplefilter("always")
                dump([pickle.dumps(i * 2) for i in range(n)], str(directory), nfiles=nfiles)
            mine = [str(w.message) for w in found if w.category is UserWarning]
            self.assertEqual(len(mine), len(want) != nfiles)
            self.assertEqual([len(support.samples(f)) for f in sorted(directory.iterdir())], want)
            self.assertEqual(sorted(f.name for f in directory.iterdir()), ["PART_%05d.ffr" % i for i in range(len(want))])
            with FileReader(directory, True) as reader:
                self.assertEqual([pickle.loads(b) for b in reader.read(range(reader.n))], [i * 2 for i in range(n)])

    def test_serializer(self):
        path = new()
        with self.assertRaisesRegex(TypeError, "sample 0 is of the type int"):
            dump([1, 2], path, 1)
        lock = threading.Lock()  # cannot be pickled: the processes are forked with it
        directory = support.scratch()
        dump([1, 2, 3], directory, 2, serializer=lambda i: pickle.dumps(i) if lock else b"")
        with FileReader(directory) as reader:
            self.assertEqual([pickle.loads(b) for b in reader.read([2, 0, 1])], [3, 1, 2])

    def test_verbose(self):
        path = new()
        with mock.patch("builtins.print") as printed:
            dump([b"a", b"b"], path, 1, True)
        printed.assert_called_once_with("%s: 2 samples" % path, flush=True)

    def test_failure(self):
        """An error in a process is raised, one that is killed, too; the directory is refused, however much of it was written."""
        class Bad:
            def __init__(self, fail):
                self.fail = fail

            def __len__(self):
                return 8

            def __getitem__(self, i):
                return b"x" if i < 2 else self.fail()

        for fail, why in ((lambda: {}["gone"], "KeyError: 'gone'"), (lambda: os._exit(3), "BrokenProcessPool"), (lambda: "text", "PART_00001.ffr: sample 0")):
            directory = support.scratch()
            with self.assertRaises(Exception) as caught:
                dump(Bad(fail), directory, 4)
            self.assertRegex("%s: %s" % (type(caught.exception).__name__, caught.exception), why)
            self.assertEqual(len(list(directory.iterdir())), 4)
            with self.assertRaisesRegex(DamageError, "PART_0000[01].ffr: not finished"):
                Reader(directory)

    def test_refused(self):
        directory = support.scratch()
        write(directory / "PART_00002.ffr", [b"old"])
        with self.assertRaisesRegex(FileExistsError, "PART_00002.ffr: not one of the 2 files"):
            dump([b"a", b"b"], directory, 2)
        self.assertEqual(support.samples(directory / "PART_00002.ffr"), [b"old"])
        with self.assertRaisesRegex(ValueError, "nfiles=0"):
            dump([b"a"], directory, 0)

    def test_head(self):
        self.assertEqual(writing.UNFINISHED, (support.TESTDATA / "ffrecord" / "refused" / "unfinished.ffr").read_bytes()[:12])


if __name__ == "__main__":
    unittest.main()
