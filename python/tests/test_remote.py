"""Datasets of a web server, with ranges and faults, whose samples a cache keeps: compared with the directory that it serves."""

import contextlib
import http.server
import json
import multiprocessing
import os
import pathlib
import pickle
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
import unittest
from unittest import mock

from tests import support

from ffconvert import BatchSampler, DamageError, Dataset, Reader, Subset
from ffconvert.remote import AT_ONCE

try:
    import torch  # noqa: F401
    from ffconvert import DataLoader
except ImportError:
    DataLoader = None


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves files with ranges. wrong makes bytes of bodies other ones."""

    protocol_version = "HTTP/1.1"
    wrong = staticmethod(lambda path: False)

    def log_message(self, *args):
        pass

    def do_GET(self):
        self.answer(True)

    def do_HEAD(self):
        self.answer(False)

    def answer(self, whole):
        path = pathlib.Path(self.translate_path(self.path))
        if not path.is_file():
            self.send_response(404)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        data, asked, status = path.read_bytes(), self.headers.get("Range"), 200
        begin, end = 0, len(data) - 1
        if asked:
            begin, _, last = asked[len("bytes="):].partition("-")
            begin, end, status = int(begin), min(end, int(last) if last else end), 206
        body = bytearray(data[begin:end + 1])
        if self.wrong(self.path) and body:
            body[len(body) // 2] ^= 1
        self.send_response(status)
        if status == 206:
            self.send_header("Content-Range", "bytes %d-%d/%d" % (begin, end, len(data)))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if whole:
            with contextlib.suppress(OSError):
                self.wfile.write(body)


class Server:
    """A web server of a directory, until the test ends."""

    def __init__(self, test, directory, wrong=lambda path: False):
        handler = type("H", (Handler,), {"wrong": staticmethod(wrong), "__init__": lambda h, *a: Handler.__init__(h, *a, directory=str(directory))})
        kind = type("S", (http.server.ThreadingHTTPServer,), {"request_queue_size": 128})  # as many connections as come at once
        self.server = kind(("127.0.0.1", 0), handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *args: None  # a client that is killed closes its connection
        self.url = "http://127.0.0.1:%d" % self.server.server_port
        thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        thread.start()
        test.addCleanup(thread.join)
        test.addCleanup(self.server.server_close)
        test.addCleanup(self.server.shutdown)


def server_of(reader):
    """The processes that fetch for readers of a cache."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (process / "cmdline").read_bytes().split(b"\0")
            if b"serve" in words and b"--cache-dir=" + os.fsencode(reader.cache) in words:
                found.append(int(process.name))
    return found


def batches(n, seed=0, size=16):
    order = list(range(n))
    random.Random(seed).shuffle(order)
    return [order[i:i + size] for i in range(0, n, size)]


def stored(samples):
    return [bytes(s) for s in samples]


class Base(unittest.TestCase):
    """A directory, and a way to open it by a web server."""

    def setUp(self):
        self.out = support.tars()
        self.local = Reader(self.out)
        self.cache = support.scratch() / "cache"

    def open(self, url=None, kind=Reader, **options):
        opened = kind(url or Server(self, self.out).url, cache=self.cache, **options)
        self.addCleanup((opened if kind is Reader else opened.reader).close)
        return opened

    def same(self, reader, seed=0):
        for numbers in batches(self.local.n, seed):
            self.assertEqual(stored(reader.read(numbers)), stored(self.local.read(numbers)))


class Remote(Base):
    def test_samples(self):
        size = sum(os.path.getsize(f) for f in self.out.glob("*.ffr"))
        for native in (True, False):
            for limit in (None, size // 2, 1):
                with self.subTest(limit=limit, native=native), contextlib.ExitStack() as stack:
                    if not native:
                        stack.enter_context(support.in_python())
                    self.cache = support.scratch() / "cache"
                    reader = self.open(cache_size=limit)
                    self.assertEqual((reader.n, reader.shards, reader.digest), (self.local.n, self.local.shards, self.local.digest))
                    for seed in range(3):
                        self.same(reader, seed)
                    self.assertEqual(stored(reader.read([3, 119, 3])), stored(self.local.read([3, 119, 3])))
                    if limit is None:
                        self.wait(lambda: not [s for s in reader._shards if not s.whole()])
                        fetched = reader._remotes[0].fetched()
                        self.same(reader, 9)
                        self.assertEqual(reader._remotes[0].fetched(), fetched)
                        self.assertFalse(reader._partial, "files alone are read")
                    else:
                        self.assertTrue(reader._partial)

    def wait(self, done):
        for _ in range(3000):
            if done():
                return
            time.sleep(0.01)
        self.fail("it was waited for in vain")

    def test_many_at_once(self):
        reader = self.open(cache_size=1)
        with mock.patch("ffconvert.copied.AT_ONCE", 7):
            self.assertEqual(stored(reader.read(range(120))), stored(self.local.read(range(120))))

    def test_dataset(self):
        here, there = Dataset(self.out, decode="raw"), self.open(kind=Dataset, decode="raw")
        self.assertEqual(list(there.keys()), list(here.keys()))
        self.assertEqual((there.meta, there.classes, there.fields), (here.meta, here.classes, here.fields))
        key = list(here.keys())[70]
        self.assertEqual({k: bytes(v) if k != "__key__" else v for k, v in there[key].items()}, {k: bytes(v) if k != "__key__" else v for k, v in here[key].items()})
        self.assertIn("http://", repr(there))

    def test_rows_of_numbers(self):
        table = support.scratch() / "rows.csv"
        table.write_text("a,b\n" + "".join("%d,%d\n" % (i, i * i) for i in range(1000)))
        out = support.converted("csv", "--shards", "3", str(table))
        here, there = Dataset(out), self.open(Server(self, out).url, kind=Dataset)
        for numbers in batches(1000, size=100):
            self.assertEqual(repr(there[numbers]), repr(here[numbers]))

    def test_pickled_and_forked(self):
        reader = self.open()
        self.same(pickle.loads(pickle.dumps(reader)))
        numbers = batches(self.local.n, 5)[0]
        want = stored(self.local.read(numbers))
        read_end, write_end = os.pipe()
        pid = os.fork()
        if pid == 0:
            ok = b"n"
            with contextlib.suppress(BaseException):
                ok = b"y" if stored(reader.read(numbers)) == want else b"o"
            os.write(write_end, ok)
            os._exit(0)
        os.waitpid(pid, 0)
        self.assertEqual(os.read(read_end, 1), b"y")
        os.close(read_end)
        os.close(write_end)
        self.same(reader)

    def test_killed(self):
        for limit in (None, 1):
            with self.subTest(limit=limit):
                self.cache = support.scratch() / "cache"
                reader = self.open(cache_size=limit)
                for n, numbers in enumerate(batches(self.local.n, size=8)):
                    if n % 4 == 1:
                        pids = server_of(reader)
                        self.assertTrue(pids or limit is None, "no process fetches")
                        for pid in pids:
                            with contextlib.suppress(ProcessLookupError):
                                os.kill(pid, signal.SIGKILL)
                    self.assertEqual(stored(reader.read(numbers)), stored(self.local.read(numbers)))

    def test_stopped(self):
        reader = self.open()
        remote, pids = reader._remotes[0], server_of(reader)
        self.assertEqual(len(pids), 1)
        os.kill(pids[0], signal.SIGSTOP)
        try:
            for _ in range(2):
                remote.coming([0] * AT_ONCE)  # more than a socket takes
            remote.coming(None)
        finally:
            os.kill(pids[0], signal.SIGCONT)
        self.same(reader)  # by that process, or by another, if it has seen no user for two seconds

    def test_ends_with_its_users(self):
        reader = self.open()
        reader.read([0])
        self.assertEqual(len(server_of(reader)), 1)
        again = self.open(reader.files[0])
        reader.close()
        time.sleep(2.5)
        self.assertEqual(len(server_of(again)), 1, "it ended before its last user")
        again.close()
        self.wait(lambda: not server_of(again))

    def test_damaged_copies(self):
        reader = self.open()
        self.same(reader)
        self.wait(lambda: not [s for s in reader._shards if not s.whole()])
        for copy in self.cache.glob("datasets/*/*.copy"):
            support.flip(copy, os.path.getsize(copy) - 1)
        self.same(self.open(reader.files[0]))

    def test_cut_files(self):
        size = sum(os.path.getsize(f) for f in self.out.glob("*.ffr"))
        reader = self.open(cache_size=size * 2 // 3)
        self.same(reader)
        for have in self.cache.glob("datasets/*/*.have"):
            os.truncate(have, 0)
        self.same(reader, 1)

    def test_other_bytes(self):
        wrong = []
        server = Server(self, self.out, lambda path: bool(wrong) and path.endswith("PART_00002.ffr"))
        reader = self.open(server.url, cache_size=1)
        first = sum(self.local.shards[:2])
        reader.read([first])
        wrong.append(True)
        with self.assertRaisesRegex(DamageError, "PART_00002.ffr: offset [0-9]+: sample [0-9]+ differs from the manifest"):
            reader.read([first + 5])
        self.assertEqual(stored(reader.read([0])), stored(self.local.read([0])))
        wrong.clear()
        self.assertEqual(stored(reader.read([first + 5])), stored(self.local.read([first + 5])))

    def test_replaced(self):
        out = support.copied()
        reader = self.open(Server(self, out).url)
        self.same(reader)
        self.cache = support.scratch() / "other"
        other = self.open(reader.files[0], cache_size=1)
        other.read([0])
        shutil.rmtree(out)
        shutil.copytree(support.converted("tar", "--shards", "5", *support.TARS[:5]), out)
        self.assertNotEqual(self.open(reader.files[0]).digest, reader.digest)
        with self.assertRaisesRegex(DamageError, "PART_0000.*differs from the manifest"):
            other.read(range(reader.n))
        with self.assertRaisesRegex(DamageError, "digest"):
            pickle.loads(pickle.dumps(reader)).read([0])

    def test_refused(self):
        server = Server(self, self.out)
        with self.assertRaisesRegex(ValueError, "give cache=.*ffconvert copy"):
            Dataset(server.url)
        empty = Server(self, support.scratch())
        with self.assertRaisesRegex((OSError, ValueError, DamageError), "not finished.*manifest.json"):
            self.open(empty.url)
        with self.assertRaisesRegex(ValueError, "cache-size"):
            self.open(server.url, cache_size="many")
        with mock.patch.dict(os.environ, {"FFCONVERT": ""}), mock.patch("ffconvert.writer.find_program", return_value=None):
            with self.assertRaisesRegex(FileNotFoundError, "read by the program ffconvert.*ffconvert copy http"):
                self.open(server.url)
        with self.assertRaisesRegex(ValueError, "cache is empty"):
            Dataset(server.url, cache="")
        with self.assertRaisesRegex(ValueError, "fetch it first"):
            Dataset("ftp://host/data")

    def test_local_imports_nothing(self):
        text = ("import sys, ffconvert\nr = ffconvert.Dataset(sys.argv[1])\n"
                "for b in ffconvert.BatchSampler(r, 8): r.__getitems__(b)\n"
                "print([m for m in ('socket', 'subprocess', 'ffconvert.remote', 'ffconvert.copied') if m in sys.modules])")
        env = {**os.environ, "PYTHONPATH": str(pathlib.Path(__file__).resolve().parents[1]), "FFCONVERT": "/nonexistent"}
        done = subprocess.run([sys.executable, "-c", "import sys; sys.modules['torch'] = None; sys.modules['PIL'] = None\n" + text, str(self.out)],
                              capture_output=True, text=True, env=env)
        self.assertEqual(done.stdout.strip(), "[]", done.stderr)

    def test_says_what_comes(self):
        data = self.open(kind=Dataset, decode="raw")
        said = []
        with mock.patch.object(data.reader._remotes[0], "coming", said.append):
            lists = list(BatchSampler(data, batch_size=10, seed=3))
        self.assertEqual(said, [None, *lists])
        some = Subset(data, range(100, 120))
        with mock.patch.object(data.reader._remotes[0], "coming", said.append):
            lists_of_some = list(BatchSampler(some, batch_size=5, seed=3))
        self.assertEqual(said[-4:], [[100 + i for i in numbers] for numbers in lists_of_some])
        self.assertEqual(lists, list(BatchSampler(Dataset(self.out), batch_size=10, seed=3)))


if DataLoader is not None and not support.PLAIN:
    class Loader(Base):
        def test_loader(self):
            def epoch(data, state=None, stop=None, **options):
                loader = DataLoader(data, batch_size=8, shuffle=True, seed=7, collate_fn=lambda b: [s["__key__"] for s in b], **options)
                if state:
                    loader.load_state_dict(state)
                seen = []
                for n, keys in enumerate(loader):
                    seen.append(keys)
                    if n == stop:
                        break
                return seen, loader.state_dict()

            here, url = Dataset(self.out, decode="raw"), Server(self, self.out).url
            want, _ = epoch(here)
            for options in ({"num_workers": 2}, {"num_workers": 2, "workers": "threads"}, {}):
                for limit in (None, 1):
                    with self.subTest(options=options, limit=limit):
                        self.cache = support.scratch() / "cache"
                        there = self.open(url, kind=Dataset, decode="raw", cache_size=limit)
                        first, state = epoch(there, stop=5, **options)
                        self.assertEqual(json.loads(json.dumps(state))["dataset"], here.digest)
                        rest, _ = epoch(there, state, **options)
                        self.assertEqual(first + rest, want)


if __name__ == "__main__":
    multiprocessing.set_start_method("fork")
    unittest.main()
