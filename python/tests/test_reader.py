"""Reader returns the samples that are in the files, or names what is wrong."""

import errno
import os
import pathlib
import pickle
import random
import resource
import shutil
import struct
import threading
import unittest
from unittest import mock

from tests import support

import ffconvert
from ffconvert import DamageError, FileReader, Reader
from ffconvert.order import digest


def plain(batch):
    return [bytes(b) for b in batch]


def starts(reads):
    """The offsets of calls of preadv since the last time."""
    offsets = {call.args[2] for call in reads.call_args_list}
    reads.reset_mock()
    return offsets


class Samples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.out = support.tars()
        cls.files = sorted(map(str, cls.out.glob("*.ffr")))
        cls.want = [s for f in cls.files for s in support.samples(f)]

    def test_all(self):
        with Reader(self.out) as reader:
            self.assertEqual((reader.n, len(reader), reader.shards), (120, 120, [len(support.samples(f)) for f in self.files]))
            self.assertEqual(plain(reader.read(range(120))), self.want)
            self.assertEqual(reader.read([]), [])
            self.assertEqual(bytes(reader.read_one(77)), self.want[77])
            self.assertEqual(reader.where(119), (self.files[-1], reader.shards[-1] - 1))

    def test_random(self):
        draw = random.Random(1)
        with FileReader(self.files) as reader:
            for _ in range(200):
                indices = [draw.randrange(120) for _ in range(draw.randrange(1, 64))]
                self.assertEqual(plain(reader.read(indices)), [self.want[i] for i in indices])

    def test_files(self):
        with Reader([self.out, self.files[0]]) as reader:
            first = len(support.samples(self.files[0]))
            self.assertEqual(plain(reader.read([0, 120])), [self.want[0]] * 2)
            self.assertEqual(len(reader), 120 + first)
        with Reader(pathlib.Path(self.files[1])) as reader:
            self.assertEqual(plain(reader.read(range(len(reader)))), support.samples(self.files[1]))

    def test_urls(self):
        """A dataset in an object store wants a cache, or to be copied: the error has the command. A directory with such a name is one."""
        for files in ("s3://bucket/data", ["s3://bucket/data"], pathlib.Path("s3://bucket/data")):
            with self.subTest(files=files), self.assertRaises(ValueError) as e:
                Reader(files)
            self.assertIn("s3://bucket/data: ", str(e.exception))
            self.assertIn("ffconvert copy s3://bucket/data out/", str(e.exception))
        with self.assertRaisesRegex(ValueError, "ffconvert copy 'gs://b/a b' out/$"):
            ffconvert.Dataset("gs://b/a b")
        with self.assertRaisesRegex(ValueError, "^ftp://example.org/a.ffr: .*fetch it first$"):
            Reader("ftp://example.org/a.ffr")
        with self.assertRaises(FileNotFoundError):
            Reader("a:/b")
        there = support.scratch()
        (there / "s3:").mkdir()
        shutil.copytree(self.out, there / "s3:" / "data")
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(there)
        with Reader("s3://data") as reader:
            self.assertEqual(reader.n, 120)

    def test_types(self):
        with Reader(self.out) as reader:
            self.assertIs(type(reader.read_one(0)), bytes if support.PLAIN else __import__("numpy").ndarray)
            if support.PLAIN:
                return
        import numpy as np
        with Reader(self.out) as reader:
            a, b, again = reader.read(np.array([3, 4, 3]))
            self.assertEqual((a.dtype, bytes(b)), (np.uint8, self.want[4]))
            a[:] = 0
            self.assertEqual(bytes(b), self.want[4])
            self.assertEqual(bytes(again), self.want[3], "a copy of a sample shares its memory")

    def test_indices(self):
        with Reader(self.out) as reader:
            for bad in ([120], [-1], [5, 1000], [2, -7]):
                with self.subTest(bad=bad), self.assertRaisesRegex(IndexError, "sample %d of 120" % bad[-1]):
                    reader.read(bad)
            for bad in ([1.5], [True, False]):
                with self.assertRaises(TypeError):
                    reader.read(bad)
            for bad in (-1, 120):
                with self.assertRaisesRegex(IndexError, "sample %d of 120" % bad):
                    reader.where(bad)
        with self.assertRaisesRegex(ValueError, "closed"):
            reader.read([1])

    def test_digest(self):
        shards = []
        for f in self.files:
            head = struct.unpack("<Iq", pathlib.Path(f).read_bytes()[:12])
            shards.append((head[1], head[0], os.path.getsize(f)))
        with Reader(self.out) as reader:
            self.assertEqual(reader.digest, digest(shards))
        with Reader(self.files[::-1]) as reader:
            self.assertEqual(reader.digest, digest(shards[::-1]))

    @support.in_python()
    def test_near_samples_come_at_once(self):
        path = support.write(support.scratch() / "a.ffr", [bytes([i]) * 300 for i in range(200)])
        with Reader(path) as reader, mock.patch.object(os, "preadv", wraps=os.preadv) as reads:
            reader.read([0])
            starts(reads)
            self.assertEqual(plain(reader.read(range(0, 200, 2))), [bytes([i]) * 300 for i in range(0, 200, 2)])
            self.assertEqual(len(starts(reads)), 1)
            reader.read([0, 199])
            self.assertEqual(len(starts(reads)), 2)

    @support.in_python()
    def test_short_reads(self):
        """A system call may return fewer bytes than it was asked for."""
        def few(fd, buffers, off, flags=0):
            first = next(b for b in buffers if len(b))
            data = os.pread(fd, min(100, len(first)), off)
            memoryview(first)[:len(data)] = data
            return len(data)
        with Reader(self.out) as reader, mock.patch.object(os, "preadv", few):
            self.assertEqual(plain(reader.read(range(20))), self.want[:20])

    @support.in_python()
    def test_all_are_asked_for_first(self):
        """A call waits for the device when it has asked it for all that the page cache lacks, in all files; or for so many bytes."""
        for bound, want in ((1 << 20, "aaaaawwwww"), (1, "awawawawaw")):
            does = []

            def preadv(fd, buffers, off, flags=0):
                if flags:
                    raise BlockingIOError
                does.append("w")
                return real(fd, buffers, off)

            def advise(fd, off, size, advice):
                does.append("a")
                raise OSError("it does not matter")
            real = os.preadv
            with Reader(self.out) as reader:
                firsts = [sum(reader.shards[:k]) for k in range(5)]
                reader.read(firsts)
                with mock.patch.object(os, "preadv", preadv), mock.patch.object(os, "posix_fadvise", advise), mock.patch.object(ffconvert.reader, "_ASK", bound):
                    self.assertEqual(plain(reader.read(firsts)), [self.want[i] for i in firsts])
            self.assertEqual("".join(does), want)

    @support.in_python()
    def test_without_advice(self):
        """Where the system cannot be asked without waiting, samples are read."""
        with Reader(self.out) as reader, mock.patch.object(ffconvert.shard, "_NOWAIT", 0), mock.patch.object(os, "posix_fadvise", None):
            self.assertEqual(plain(reader.read(range(120))), self.want)

    @support.in_python()
    def test_errors(self):
        """An error of the device names the file."""
        def broken(fd, buffers, off, flags=0):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        with Reader(self.out) as reader, mock.patch.object(os, "preadv", broken):
            with self.assertRaises(OSError) as caught:
                reader.read([119])
        self.assertEqual((caught.exception.errno, caught.exception.filename), (errno.EIO, self.files[-1]))

    def test_sizes(self):
        for records in ([], [b""], [b"", b"x", b""], [b"a"] * 1500, [b"x" * (3 << 20), b"y", b"z" * (1 << 20)]):
            with self.subTest(n=len(records)), Reader(support.write(support.scratch() / "a.ffr", records)) as reader:
                self.assertEqual(plain(reader.read(range(len(reader)))), records)

    def test_processes(self):
        with Reader(self.out) as reader:
            pid = os.fork()
            if not pid:
                os._exit(0 if plain(reader.read([5, 100])) == [self.want[5], self.want[100]] else 1)
            self.assertEqual(os.waitpid(pid, 0)[1], 0)
            with pickle.loads(pickle.dumps(reader)) as other:
                self.assertEqual((bytes(other.read_one(50)), other.digest), (self.want[50], reader.digest))

    def test_directory_changes(self):
        """A relative path is that of the moment."""
        back = os.getcwd()
        os.chdir(self.out)
        try:
            reader = Reader("PART_00000.ffr")
            os.chdir("/")
            for r in (reader, pickle.loads(pickle.dumps(reader))):
                self.assertEqual(bytes(r.read_one(0)), self.want[0])
        finally:
            os.chdir(back)

    def test_threads(self):
        wrong = []

        def work(seed):
            draw = random.Random(seed)
            for _ in range(50):
                i = [draw.randrange(120) for _ in range(16)]
                if plain(reader.read(i)) != [self.want[k] for k in i]:
                    wrong.append(i)
        with Reader(self.out) as reader:
            threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
        self.assertEqual(wrong, [])

    def test_many_files(self):
        """The soft limit of open files is raised where it is reached."""
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, limits[1]))
        try:
            with Reader(self.files * 20) as reader:
                self.assertEqual(len(reader), 2400)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)


class Damage(unittest.TestCase):
    def test_sample(self):
        out = support.copied()
        path = str(out / "PART_00001.ffr")
        with Reader(out) as reader:
            first, at = reader.shards[0], support.offsets(path)[7]
        support.flip(path, at + 10)
        with Reader(out) as reader:
            with self.assertRaisesRegex(DamageError, r"PART_00001\.ffr: sample 7 at byte %d: its checksum differs" % at) as caught:
                reader.read([3, first + 7, 100])
            self.assertEqual((caught.exception.path, caught.exception.sample, caught.exception.offset), (path, 7, at))
            reader.read([i for i in range(120) if i != first + 7])
        with Reader(out, check_data=False) as reader:
            self.assertNotEqual(bytes(reader.read_one(first + 7)), support.samples(support.tars() / "PART_00001.ffr")[7])

    def test_every_byte(self):
        """Any byte that is changed, and any cut, is an error."""
        good = (support.TESTDATA / "ffrecord" / "three-samples.ffr").read_bytes()
        path = support.scratch() / "a.ffr"

        def bad(b):
            path.write_bytes(b)
            try:
                with Reader(path) as reader:
                    reader.read(range(len(reader)))
            except DamageError as e:
                return str(path) in str(e)
        for i in range(len(good)):
            self.assertTrue(bad(good[:i] + bytes([good[i] ^ 0x40]) + good[i + 1:]), "byte %d" % i)
            self.assertTrue(bad(good[:i]), "cut at %d" % i)
        self.assertTrue(bad(good + b"x"))
        self.assertFalse(bad(good))

    def test_heads(self):
        path = support.scratch() / "a.ffr"
        for head, why in ((b"\x01\0\0\0" + b"\xff" * 8, "not finished"), (bytes(12), "not finished"), (struct.pack("<Iq", 7, 1 << 40), "1099511627776 samples"),
                          (b"hello, world", "not an FFRecord"), (b"short", "it has 5 bytes")):
            path.write_bytes(head)
            with self.subTest(why=why), self.assertRaisesRegex(DamageError, why):
                Reader(path)

    def test_not_files(self):
        """Neither waits for the writer of a FIFO nor reads the current directory for an empty name."""
        fifo = support.scratch() / "a.ffr"
        os.mkfifo(fifo)
        for path in (fifo, fifo.parent, "/dev/zero"):
            with self.subTest(path=path), self.assertRaisesRegex(DamageError, "not a regular file"):
                Reader(path)
        with self.assertRaisesRegex(ValueError, "is empty"):
            Reader(["", fifo])

    def test_without_header_checksum(self):
        path = support.write(support.scratch() / "a.ffr", [b"hello"])
        b = bytearray(pathlib.Path(path).read_bytes())
        b[:4] = bytes(4)
        pathlib.Path(path).write_bytes(b)
        with self.assertRaisesRegex(DamageError, "check_data=False accepts"):
            Reader(path)
        with Reader(path, check_data=False) as reader:
            self.assertEqual(bytes(reader.read_one(0)), b"hello")

    def test_directory(self):
        """What is in a directory is what its manifest says."""
        def missing(out):
            (out / "PART_00002.ffr").unlink()

        def more(out):
            support.write(out / "PART_00005.ffr", [b"x"])

        def other(out):
            support.write(out / "PART_00003.ffr", [b"x"])

        def unfinished(out):
            (out / "manifest.json").unlink()

        def garbled(out):
            support.flip(out / "manifest.json", 0)
        for change, why in ((missing, r"PART_00002\.ffr: missing"), (more, r"PART_00005\.ffr: manifest\.json does not name it"),
                            (other, r"PART_00003\.ffr: not the shard that"), (unfinished, "has not finished"), (garbled, r"manifest\.json: ")):
            with self.subTest(why=why):
                out = support.copied()
                change(out)
                with self.assertRaisesRegex(DamageError, why):
                    Reader(out)
        with self.assertRaisesRegex(FileNotFoundError, "no \\*.ffr"):
            Reader(support.scratch())
        with self.assertRaisesRegex(FileNotFoundError, "nothing.ffr"):
            Reader("nothing.ffr")

    def test_claims(self):
        """A sparse file may claim any number of samples, and have the size for them. tests/hostile.py measures memory."""
        path = support.scratch() / "a.ffr"
        for n in (1 << 25, 1 << 28, 1 << 38):
            with open(path, "wb") as f:
                f.write(struct.pack("<Iq", 1, n))
                f.truncate(12 + 12 * n)
            with self.subTest(n=n), self.assertRaisesRegex(DamageError, r"a\.ffr: .*%d samples" % n):
                Reader(path, max_samples=max(n, 1 << 27) if n < 1 << 28 else 1 << 27)
        support.write(path, [b"a", b"b", b"c"])
        with self.assertRaisesRegex(DamageError, "it has 3 samples, max_samples=2 allows no more"):
            Reader(path, max_samples=2)
        with Reader(path, max_samples=3) as reader:
            self.assertEqual(pickle.loads(pickle.dumps(reader)).max_samples, 3)

    def test_not_regular(self):
        """What is no file, or a link, in the place of a file of a dataset is refused and not waited for."""
        for name in ("manifest.json", "PART_00002.ffr"):
            out = support.copied()
            path, aside = str(out / name), str(out / "aside")
            os.rename(path, aside)
            for make, why in ((os.mkfifo, "not a regular file"), (os.mkdir, "not a regular file"), (lambda p: os.symlink("/dev/zero", p), "a link"),
                              (lambda p: os.symlink(aside, p), "a link")):
                make(path)
                with self.subTest(name=name, why=why), self.assertRaisesRegex(DamageError, "%s: %s" % (name, why)):
                    Reader(out)
                os.rmdir(path) if os.path.isdir(path) else os.unlink(path)
            os.rename(aside, path)
        link = support.scratch() / "a.ffr"
        link.symlink_to(out / "PART_00002.ffr")
        for files in (link, link.parent):  # a link that is given by name, or among files without a manifest
            with Reader(files) as reader:
                self.assertEqual(plain(reader.read(range(len(reader)))), support.samples(link))

    def test_manifest(self):
        """Its last line has the SHA-256 of all others, those of sources too."""
        out = support.copied()
        good = (out / "manifest.json").read_bytes()
        for change, why in ((lambda b: b.replace(b"shards-003", b"shards-004"), "differs from its checksum"), (lambda b: b[:-10], "differs from its checksum"),
                            (lambda b: b.replace(b'"ffconvert_manifest": 4', b'"ffconvert_manifest": 9'), "of version 9, and this package reads 2 to 5"),
                            (lambda b: b"[" * 1000000, "damaged")):
            (out / "manifest.json").write_bytes(change(good))
            with self.subTest(why=why), self.assertRaisesRegex(DamageError, r"manifest\.json: .*" + why):
                Reader(out)

    def test_changed_while_open(self):
        """A file that is deleted, replaced, cut or written to is an error, even for bytes that would still be right."""
        def replaced(path):
            shutil.copy(path, path + "2")
            os.replace(path + "2", path)

        def cut(path):
            os.truncate(path, os.path.getsize(path) - 1)

        def written(path):
            support.flip(path, os.path.getsize(path) - 1)
        for change, why in ((os.unlink, "gone"), (replaced, "replaced or changed"), (cut, "replaced or changed"), (written, "replaced or changed")):
            with self.subTest(change=change.__name__):
                out = support.copied()
                with Reader(out) as reader:
                    change(str(out / "PART_00001.ffr"))
                    with self.assertRaisesRegex(DamageError, r"PART_00001\.ffr: .*" + why):
                        reader.read([0, reader.shards[0]])
                    reader.read([0, 119])  # other files are as they were

    def test_replaced_before_unpickling(self):
        out = support.scratch()
        path = support.write(out / "a.ffr", [b"one", b"two"])
        with Reader(path) as reader:
            sent = pickle.dumps(reader)
        support.write(path, [b"one", b"TWO"])
        with pickle.loads(sent) as reader:  # an error of the unpickling itself would end a worker without a word
            self.assertEqual((len(reader), reader.shards, reader.read([])), (2, [2], []))
            for read in (reader.read_one, reader.where):
                with self.assertRaisesRegex(DamageError, "not the dataset that was opened"):
                    read(0)
        os.unlink(path)
        with pickle.loads(sent) as reader, self.assertRaisesRegex(FileNotFoundError, r"a\.ffr"):
            reader.read([1])


if __name__ == "__main__":
    unittest.main()
