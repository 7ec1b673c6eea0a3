"""Opening a reader reads its manifest, or 20 bytes of each file; the first read of a shard opens that, and finds what is wrong with it."""

import hashlib
import os
import pathlib
import pickle
import re
import shutil
import struct
import subprocess
import sys
import threading
import unittest
import zlib
from array import array
from unittest import mock

from tests import support

import ffconvert
from ffconvert import DamageError, Reader, native
from ffconvert.shard import Shard, _numbers

MiB = 1 << 20
#: More than a reader of any number of samples takes: without numpy the offsets of a block are objects.
MEMORY = (16 if support.PLAIN else 8) * MiB


def describe(directory, shards):
    """Writes the manifest of shards: of each its name, samples, bytes and the CRC-32 of its header."""
    lines = ['{', '  "ffconvert_manifest": 4,', '  "encode": {', '    "encoding": "msgpack"', '  },', '  "meta": {', '    "bytes": 2,', '    "crc32": 0', '  },', '  "shards": [']
    for name, samples, size, header in shards:
        lines += ['    {', '      "name": "%s",' % name, '      "samples": %d,' % samples, '      "bytes": %d,' % size, '      "header_crc32": %d,' % header, '      "index": {',
                  '        "bytes": 0,', '        "crc32": 0', '      }', '    },']
    lines[-1:] = ['    }', '  ],', '']
    body = "\n".join(lines).encode()
    (directory / "manifest.json").write_bytes(body + b'  "sha256": "%s"\n}\n' % hashlib.sha256(body).hexdigest().encode())


def described(records):
    """A directory of one shard, with its manifest."""
    out = support.scratch()
    path = pathlib.Path(support.write(out / "a.ffr", records))
    describe(out, [("a.ffr", len(records), path.stat().st_size, struct.unpack("<I", path.read_bytes()[:4])[0])])
    return out, path


def anonymous():
    """Bytes of memory of this process that are its own, and no file's."""
    with open("/proc/self/status") as f:
        return 1024 * int(re.search(r"RssAnon:\s+(\d+)", f.read())[1])


def large(directory, n):
    """Writes a shard of n empty samples, and returns the CRC-32 of its header."""
    body = struct.pack("<q", n) + bytes(4 * n) + array("q", [12 + 12 * n]).tobytes() * n
    header = zlib.crc32(body)
    (directory / "large.ffr").write_bytes(struct.pack("<I", header) + body)
    return header


def grown(what, path):
    """Prints by how many bytes memory grows while a reader is opened, or reads."""
    with Reader(support.tars()) as reader:
        reader.read(range(120))  # what is needed once
    before = anonymous()
    reader = Reader(path)
    if what == "read":
        reader.read(range(0, reader.n, reader.n // 1000))
    print(anonymous() - before, reader.n)


class Opening(unittest.TestCase):
    def grown(self, what, path):
        script = "from tests import test_opening; test_opening.grown(%r, %r)" % (what, str(path))
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, cwd=support.ROOT / "python")
        self.assertEqual(done.returncode, 0, done.stderr)
        return map(int, done.stdout.split())

    def test_manifest(self):
        """Of a dataset with a manifest no shard is opened, and each is opened once."""
        with mock.patch.object(os, "open", wraps=os.open) as opens, mock.patch.object(os, "preadv", wraps=os.preadv) as reads, Reader(support.tars()) as reader:
            self.assertEqual(([os.path.basename(call.args[0]) for call in opens.call_args_list], reads.call_count), (["manifest.json"], 0))
            digest = reader.digest
            for _ in range(2):
                reader.read([0, 1, 119])
            self.assertEqual([os.path.basename(call.args[0]) for call in opens.call_args_list[1:]], ["PART_00000.ffr", "PART_00004.ffr"])
        with Reader(sorted(support.tars().glob("*.ffr"))) as reader:
            self.assertEqual(reader.digest, digest)

    def test_heads(self):
        """Of others the head and the first offset are read."""
        files = sorted(map(str, support.tars().glob("*.ffr")))
        with mock.patch.object(os, "preadv", wraps=os.preadv) as reads, Reader(files):
            self.assertEqual(sum(len(piece) for call in reads.call_args_list for piece in call.args[1]), 20 * len(files))
        before = os.listdir("/proc/self/fd")
        with Reader(files):
            self.assertEqual(os.listdir("/proc/self/fd"), before)

    def test_billion(self):
        """The memory and the calls of opening 10**9 samples are those of 2,000 shards."""
        out, n = support.scratch(), 500_000
        names = ["PART_%05d.ffr" % i for i in range(2000)]
        for name in names:
            with open(out / name, "wb") as f:
                f.truncate(12 + 12 * n)
        describe(out, [(name, n, 12 + 12 * n, i) for i, name in enumerate(names)])
        memory, samples = self.grown("open", out)
        self.assertEqual(samples, 10**9)
        self.assertLess(memory, MEMORY)
        with mock.patch.object(os, "open", wraps=os.open) as opens, mock.patch.object(os, "lstat", wraps=os.lstat) as looks, mock.patch.object(os, "stat", wraps=os.stat) as more:
            Reader(out)
        self.assertEqual((opens.call_count, looks.call_count), (1, 2001))
        self.assertLess(more.call_count, 10)

    def test_mapped(self):
        """A header of 36 MB takes no memory of the process that reads."""
        out, n = support.scratch(), 3_000_000
        describe(out, [("large.ffr", n, 12 + 12 * n, large(out, n))])
        memory, samples = self.grown("read", out)
        self.assertEqual(samples, n)
        self.assertLess(memory, MEMORY)

    def test_processes(self):
        """Files that nobody touched are opened by the process that reads: one that was forked, or has the reader by pickle."""
        reader = Reader(support.tars())
        for other in (reader, pickle.loads(pickle.dumps(reader))):
            pid = os.fork()
            if not pid:
                os._exit(0 if list(map(bytes, other.read(range(120)))) == [s for f in sorted(support.tars().glob("*.ffr")) for s in support.samples(f)] else 1)
            self.assertEqual(os.waitpid(pid, 0)[1], 0)

    def test_threads(self):
        """Threads that touch a shard first at the same time read the same, and leave one file open."""
        want = support.samples(support.tars() / "PART_00000.ffr")
        before, count = len(os.listdir("/proc/self/fd")), 8
        for _ in range(20):
            meet, got = threading.Barrier(count), []

            def work(reader):
                meet.wait(30)
                got.append(list(map(bytes, reader.read(range(len(want))))))
            with Reader(support.tars() / "PART_00000.ffr") as reader:
                threads = [threading.Thread(target=work, args=(reader,)) for _ in range(count)]
                for t in threads:
                    t.start()
                for t in threads:
                    t.join()
                self.assertEqual(got, [want] * count)
                self.assertEqual(len(os.listdir("/proc/self/fd")) - before, 2 if native.library is None else 1)  # a map of Python's has one, too
            del reader, threads
            self.assertEqual(len(os.listdir("/proc/self/fd")), before)


class Touching(unittest.TestCase):
    def test_described(self):
        """What a manifest describes, and a file is not, is an error of the first read, of any sample of it."""
        records = [b"one", b"two", b"three", b"last"]

        def other(path):
            support.write(path, [b"ONE", b"two", b"three", b"last"])

        def count(path):
            support.write(path, [b"one"] + [b"x" * (path.stat().st_size - 12 - 24 - 3)])

        def head(path):
            with open(path, "r+b") as f:
                f.write(b"\x01\0\0\0" + b"\xff" * 8)
        for change, why in ((lambda path: support.flip(path, 13), "the checksum of the header differs"), (lambda path: support.flip(path, path.stat().st_size - 1), "sample 3 at byte 71: its"),
                            (other, "not the shard that manifest.json describes"), (count, "not the shard that manifest.json describes"), (head, "not finished")):
            out, path = described(records)
            before = path.stat().st_size
            change(path)
            self.assertEqual(path.stat().st_size, before)
            with self.subTest(why=why), Reader(out) as reader:
                for _ in range(2):
                    with self.assertRaisesRegex(DamageError, r"a\.ffr: " + why):
                        reader.read([0])

    def test_sizes(self):
        """A number of samples that its file has no room for, or another size, is an error of opening."""
        for samples, more in ((5, 0), (1 << 62, 0), (0, 0), (2, 1)):
            out, path = described([b"", b""])
            describe(out, [("a.ffr", samples, path.stat().st_size + more, 0)])
            with self.subTest(samples=samples, more=more), self.assertRaisesRegex(DamageError, "not the shard that manifest.json describes"):
                Reader(out)
        out, path = described([b"", b""])
        with self.assertRaisesRegex(DamageError, "it has 2 samples, max_samples=1 allows no more"):
            Reader(out, max_samples=1)

    def test_changed_behind_the_times(self):
        """Offsets that change in a file whose time does not, since a device did it, never lead out of the file or of memory."""
        records = [bytes([i]) * 100 for i in range(8)]
        for at in range(12 + 4 * 8, 12 + 12 * 8):
            path = support.scratch() / "a.ffr"
            support.write(path, records)
            with Reader(path) as reader:
                reader.read([0])
                found = path.stat()
                support.flip(path, at)
                os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))
                with self.subTest(at=at), self.assertRaisesRegex(DamageError, r"a\.ffr: .*(checksum|offsets)"):
                    reader.read(range(8))

    def test_cut(self):
        """A file that was cut is an error, and not the end of the process: its header is mapped."""
        out = support.scratch()
        for size in (0, 12, 13 * 4096):
            large(out, 1 << 20)
            for touched in (False, True):
                with self.subTest(size=size, touched=touched), Reader(out) as reader:
                    if touched:
                        reader.read([0])
                    os.truncate(out / "large.ffr", size)
                    for i in (0, reader.n - 1):
                        with self.assertRaisesRegex(DamageError, r"large\.ffr: the file was replaced or changed since it was opened"):
                            reader.read([i])
                large(out, 1 << 20)

    def test_growing(self):
        """A copy that has the header alone, and grows, is read where it has its samples: its size is right, its time is not."""
        records = [bytes([65 + i]) * 5000 for i in range(6)]
        whole, copy = support.write(support.scratch() / "a.ffr", records), str(support.scratch() / "a.ffr")
        offsets, data = support.offsets(whole), pathlib.Path(whole).read_bytes()
        with open(copy, "wb") as f:
            f.write(data[:offsets[0]])
            f.truncate(len(data))
        reader = Reader(whole)
        with self.assertRaisesRegex(DamageError, "sample 5 at byte"):
            Shard(copy, 6, reader._shards[0].header, os.stat(copy)).file()
        reader._shards = [Shard(copy, 6, reader._shards[0].header, os.stat(copy), growing=True)]
        reader._table = None if native.library is None else native.Table(reader._shards, True)
        for i in (5, 0, 3):
            with self.assertRaisesRegex(DamageError, "sample %d at byte %d: its checksum differs" % (i, offsets[i])):
                reader.read([i])
            with open(copy, "r+b") as f:
                f.seek(offsets[i])
                f.write(records[i])
            self.assertEqual(bytes(reader.read_one(i)), records[i])
        shutil.copy(copy, copy + "2")
        os.replace(copy + "2", copy)
        with self.assertRaisesRegex(DamageError, "replaced or changed"):
            reader.read([0])

    def test_big_endian(self):
        """A machine whose numbers are not those of the file swaps their bytes."""
        for kind in "Iq":
            file = struct.pack((">2" if sys.byteorder == "little" else "<2") + kind, 1, 1 << 31)
            with mock.patch.object(sys, "byteorder", "big"):
                self.assertEqual(list(_numbers(kind, memoryview(file))), [1, 1 << 31])

    def test_no_room(self):
        """The limit of open files is an error that names the file, and harms no later read."""
        with Reader(support.tars()) as reader:
            with mock.patch.object(ffconvert.files, "resource", None), mock.patch.object(os, "open", side_effect=OSError(24, "Too many open files", "x.ffr")):
                with self.assertRaisesRegex(OSError, "x.ffr"):
                    reader.read([0])
            self.assertEqual(len(reader.read(range(120))), 120)


if __name__ == "__main__":
    unittest.main()
