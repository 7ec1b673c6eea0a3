"""The native helper returns what Python returns: samples, errors and their words; and holds with threads, forks and signals."""

import contextlib
import os
import pathlib
import pickle
import random
import signal
import subprocess
import sys
import threading
import time
import unittest
import zlib
from unittest import mock

from tests import support

import ffconvert
from ffconvert import DamageError, Reader, native

SANITIZED = "san" in os.environ.get("LD_PRELOAD", "")


def outcome(do):
    """What a function returns, or raises: its type, its words and all attributes."""
    try:
        return do()
    except Exception as e:
        return type(e), str(e), getattr(e, "__dict__", None), getattr(e, "errno", None), getattr(e, "filename", None)


def read(files, indices=None, **options):
    with Reader(files, **options) as reader:
        return [bytes(s) for s in reader.read(range(len(reader)) if indices is None else indices)]


@unittest.skipIf(native.library is None, native.missing)
class Native(unittest.TestCase):
    def both(self, do):
        """The outcome of a function, which is one with the helper and without it."""
        got = outcome(do)
        with support.in_python():
            self.assertEqual(got, outcome(do))
        return got

    def test_crc32(self):
        """The helper's checksum is that of zlib, of any length, after any bytes."""
        draw = random.Random(3)
        for size in (0, 1, 4095, 4096, 4097, 70_001, 1 << 20):
            data, before = draw.randbytes(size), draw.getrandbits(32)
            for given in (data, bytearray(data), memoryview(data)):
                self.assertEqual(native.crc32(given, before), zlib.crc32(data, before))

    def test_is_used(self):
        with Reader(support.tars()) as reader:
            self.assertEqual([bytes(s) for s in reader._table.read([3, 50, 119])], read(support.tars(), [3, 50, 119]))
            for bad in ([120], [-1], [4, 3], [5, 5], [1 << 62]):
                self.assertIsNone(reader._table.read(bad))

    def test_samples(self):
        draw = random.Random(3)
        out = support.scratch()
        sizes = [0, 1, 15, 16, 300, 4095, 4096, 4097, 70000, 1 << 20, (1 << 20) + 1, 3 << 20]
        files = [support.write(out / ("%d.ffr" % k), [draw.randbytes(draw.choice(sizes[:(k % 12) + 1])) for _ in range(draw.choice((0, 1, 40, 700)))])
                 for k in range(24)]
        files += [support.write(out / "small.ffr", [bytes([i % 251]) * (i % 7) for i in range(5000)])]
        with Reader(files) as reader:
            for n in (1, 2, 30, 300, 2000):
                for _ in range(10):
                    indices = [draw.randrange(len(reader)) for _ in range(n)]
                    if draw.random() < 0.5:  # near each other
                        first = draw.randrange(len(reader) - n * 2)
                        indices = draw.sample(range(first, first + 2 * n), n)
                    got = [bytes(s) for s in reader.read(indices)]
                    with support.in_python():
                        self.assertEqual(got, [bytes(s) for s in reader.read(indices)])

    def test_not_cached(self):
        files = sorted(support.copied().glob("*.ffr"))
        want = read(files)
        for _ in range(3):
            for path in files:
                with open(path, "r+b") as f:
                    os.fsync(f.fileno())
                    os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            self.assertEqual(read(files), want)

    def test_every_byte(self):
        """Any byte that is changed, and any cut, gives the same words."""
        path = support.scratch() / "a.ffr"
        for name in ("three-samples.ffr", "two-empty.ffr"):
            good = (support.TESTDATA / "ffrecord" / name).read_bytes()
            for i in range(len(good)):
                for bad in (good[:i] + bytes([good[i] ^ 0x40]) + good[i + 1:], good[:i], good[:i] + bytes([0]) + good[i + 1:]):
                    path.write_bytes(bad)
                    for checked in (True, False):
                        got = self.both(lambda: read(path, check_data=checked))
                        if checked and bad != good:
                            self.assertIs(got[0], DamageError, "byte %d" % i)

    def test_damaged_shards(self):
        """In datasets of several shards the helper finds the sample that Python finds, and reads the others."""
        draw = random.Random(5)
        out = support.copied()
        paths = sorted(out.glob("*.ffr"))
        with Reader(out) as reader:
            for _ in range(40):
                path = draw.choice(paths)
                at = draw.randrange(path.stat().st_size)
                support.flip(path, at)
                for n in (1, 8, 120):
                    indices = draw.sample(range(120), n)
                    self.both(lambda: [bytes(s) for s in reader.read(indices)])
                self.both(lambda: read(out))
                support.flip(path, at)

    def test_changed_while_open(self):
        def replaced(path):
            data = path.read_bytes()
            path.unlink()
            path.write_bytes(data)

        def touched(path):
            os.utime(path, ns=(1, path.stat().st_mtime_ns + 1))

        def cut(path):
            os.truncate(path, path.stat().st_size - 1)

        def gone(path):
            path.unlink()

        def hidden(path):
            path.unlink()
            path.mkdir()
        for change in (replaced, touched, cut, gone, hidden):
            with self.subTest(change=change.__name__):
                out = support.copied()
                with Reader(out) as reader:
                    change(out / "PART_00002.ffr")
                    first = sum(reader.shards[:2])
                    got = self.both(lambda: reader.read([0, first, 119]))
                    self.assertIs(got[0], DamageError)
                    self.assertIn("PART_00002.ffr", got[1])
                    self.assertEqual(len(reader.read([0, 119])), 2)

    def test_memory(self):
        """Samples for which there is no memory are named."""
        def empty(size, *_):
            raise MemoryError
        path = support.scratch() / "a.ffr"
        support.write(path, [b"x", b"y"])
        with Reader(path) as reader:
            reader.read([0])
            patches = [mock.patch.object(of, "bytearray", empty, create=True) for of in (native, ffconvert.reader)] if native.np is None else [mock.patch("numpy.empty", empty)]
            with contextlib.ExitStack() as stack:
                for patch in patches:
                    stack.enter_context(patch)
                got = self.both(lambda: reader.read([0, 1]))
        self.assertIs(got[0], MemoryError)
        self.assertIn("there is no memory", got[1])

    if not SANITIZED:  # whose allocator may not be forked among threads
        def test_fork_among_threads(self):
            """A process may fork while other threads read: the child has no lock of theirs."""
            want, stop, wrong = read(support.tars()), threading.Event(), []

            def work():
                while not stop.is_set():
                    if [bytes(s) for s in reader.read(range(120))] != want:
                        wrong.append(1)
            with Reader(support.tars()) as reader:
                threads = [threading.Thread(target=work) for _ in range(3)]
                for t in threads:
                    t.start()
                for _ in range(30):
                    pid = os.fork()
                    if not pid:
                        signal.alarm(30)
                        os._exit(0 if [bytes(s) for s in reader.read(range(120))] == want else 1)
                    self.assertEqual(os.waitpid(pid, 0)[1], 0)
                stop.set()
                for t in threads:
                    t.join()
            self.assertEqual(wrong, [])

    def test_fork(self):
        with Reader(support.tars()) as reader:
            want = [bytes(s) for s in reader.read(range(120))]
            pid = os.fork()
            if not pid:
                signal.alarm(30)
                os._exit(0 if [bytes(s) for s in reader.read(range(120))] == want else 1)
            self.assertEqual(os.waitpid(pid, 0)[1], 0)

    def test_other_process(self):
        """A process that was not forked opens its own."""
        with Reader(support.tars()) as reader:
            sent = pickle.dumps(reader)
        script = "import pickle, sys; r = pickle.load(sys.stdin.buffer); sys.stdout.buffer.write(b''.join(map(bytes, r.read(range(120)))))"
        got = subprocess.run([sys.executable, "-c", script], input=sent, capture_output=True, cwd=support.ROOT / "python", check=True)
        self.assertEqual(got.stdout, b"".join(read(support.tars())))

    def test_closed_among_reads(self):
        """What other threads are reading is read to its end; then no file is open."""
        want = read(support.tars())

        def work(reader, wrong):
            while True:
                try:
                    if [bytes(s) for s in reader.read(range(120))] != want:
                        wrong.append("other bytes")
                except ValueError as e:
                    if "closed" not in str(e):
                        wrong.append(str(e))
                    return
                except Exception as e:
                    wrong.append(repr(e))
                    return
        before = os.listdir("/proc/self/fd")
        for _ in range(20):
            reader, wrong = Reader(support.tars()), []
            threads = [threading.Thread(target=work, args=(reader, wrong)) for _ in range(4)]
            for t in threads:
                t.start()
            reader.close()
            for t in threads:
                t.join()
            self.assertEqual(wrong, [])
            with self.assertRaisesRegex(ValueError, "closed"):
                reader.read([1])
        self.assertEqual(os.listdir("/proc/self/fd"), before)

    def test_signals(self):
        """A signal that comes while the helper reads does no harm."""
        came = []
        before = signal.signal(signal.SIGALRM, lambda *_: came.append(1))
        try:
            want = read(support.tars())
            signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
            with Reader(support.tars()) as reader:
                end = time.monotonic() + 30
                while len(came) < 200 and time.monotonic() < end:
                    self.assertEqual([bytes(s) for s in reader.read(range(120))], want)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        self.assertGreaterEqual(len(came), 200)


class Missing(unittest.TestCase):
    def said(self, value):
        script = "from ffconvert import native; print(native.library is None, native.missing)"
        env = dict(os.environ, FFCONVERT_NATIVE=str(value))
        return subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, cwd=support.ROOT / "python", check=True).stdout

    def test_said(self):
        """Why there is no helper is said, and all else works."""
        text = support.scratch() / "text.so"
        text.write_text("no library")
        for value, why in ((0, "leaves it out"), ("/nowhere.so", "/nowhere.so: it is not there"), (text, "text.so"),
                           (next(pathlib.Path("/lib").glob("*-linux-gnu/libc.so.6"), text), "")):
            with self.subTest(value=value):
                self.assertRegex(self.said(value), "^True .*" + why)


if __name__ == "__main__":
    unittest.main()
