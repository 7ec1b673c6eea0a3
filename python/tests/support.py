"""What the tests share: datasets that ffconvert writes, and a watchdog.

FFCONVERT is the program, that of `make build` if it is not set. FFCONVERT_PLAIN=1 hides the modules that the package does without.
"""

import atexit
import faulthandler
import functools
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib
from unittest import mock

PLAIN = bool(os.environ.get("FFCONVERT_PLAIN"))
if PLAIN:
    for module in ("numpy", "msgpack", "cbor2"):
        sys.modules[module] = None

faulthandler.dump_traceback_later(500, exit=True)  # a test that hangs ends, and says where

ROOT = pathlib.Path(__file__).resolve().parents[2]
TESTDATA = ROOT / "testdata"
PROGRAM = os.environ.get("FFCONVERT") or str(ROOT / "bin" / "ffconvert")  # of `make build`
TARS = sorted(map(str, TESTDATA.glob("shards-*.tar")))


@functools.lru_cache(maxsize=None)
def _work():
    work, main = tempfile.mkdtemp(prefix="ffconvert-python-"), os.getpid()
    atexit.register(lambda: os.getpid() == main and shutil.rmtree(work, ignore_errors=True))
    return work


def run(*args):
    done = subprocess.run([PROGRAM, *map(str, args)], capture_output=True, text=True, errors="replace")
    if done.returncode:
        raise AssertionError("%s: status %d\n%s" % (" ".join(map(str, args)), done.returncode, done.stderr))


def in_python():
    """While it lasts, and in what it decorates, the native helper is not used."""
    from ffconvert import native
    return mock.patch.object(native, "library", None)


def scratch():
    """A new directory, removed at the end."""
    return pathlib.Path(tempfile.mkdtemp(dir=_work()))


@functools.lru_cache(maxsize=None)
def converted(*args):
    """A dataset of `ffconvert ARGS OUT`. Tests must not change it."""
    out = scratch() / "out"
    run(args[0], "--progress", "none", *args[1:], out)
    return out


def tars():
    """The dataset of most tests: 120 samples in 5 shards, with the SHA-256 of its files in the manifest."""
    return converted("tar", "--sha256", "--shards", "5", *TARS)


def copied():
    """A copy of tars() that a test may change."""
    return pathlib.Path(shutil.copytree(tars(), scratch() / "out"))


def offsets(path):
    """Where the samples of one file begin, and the size of the file."""
    b = pathlib.Path(path).read_bytes()
    _, n = struct.unpack_from("<Iq", b)
    return struct.unpack_from("<%dq" % n, b, 12 + 4 * n) + (len(b),)


def samples(path):
    """The samples of one file, read in the way of docs/reading.md."""
    b, offs = pathlib.Path(path).read_bytes(), offsets(path)
    n = len(offs) - 1
    return [b[offs[i]:offs[i + 1]] for i in range(n)]


def write(path, records):
    """Writes an FFRecord file."""
    n = len(records)
    offs, at = [], 12 + 12 * n
    for r in records:
        offs.append(at)
        at += len(r)
    table = struct.pack("<q%dI%dq" % (n, n), n, *map(zlib.crc32, records), *offs)
    pathlib.Path(path).write_bytes(struct.pack("<I", zlib.crc32(table)) + table + b"".join(records))
    return str(path)


def flip(path, at):
    """Changes a byte of a file in place."""
    with open(path, "r+b") as f:
        f.seek(at)
        b = f.read(1)
        f.seek(at)
        f.write(bytes([b[0] ^ 0x20]))
