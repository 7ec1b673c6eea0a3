"""The parts of a dataset that processes write, each a file of MessagePack with a begin and an end, in one directory.

The name of a part has the number of its first sample and the CRC-32 of its bytes: what a kill or a power cut has left of one is not taken for it, and it need not be
synced. Beside them parts.json says how many samples the dataset and a part have, and done.json, while all is removed, what the program said of the dataset.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import pathlib
from typing import Callable, Iterable, Iterator, List

from .native import crc32
from .wire import dumps_msgpack

__all__ = ["Parts"]

#: Bytes of a read or write of a part, at least.
_CHUNK = 1 << 16
#: What a part begins with.
_BEGIN = dumps_msgpack({"__begin__": {}})


class Parts:
    """The directory of the parts of one dataset."""

    def __init__(self, directory: str) -> None:
        self.directory = pathlib.Path(directory)
        self._note, self._done = self.directory / "parts.json", self.directory / "done.json"

    def contains(self, path: str) -> bool:
        """Whether a path is this directory, or in it."""
        here, there = pathlib.Path(os.path.realpath(self.directory)), pathlib.Path(os.path.realpath(path))
        return "://" not in path and here in (there, *there.parents)

    def begin(self, n: int, size: int) -> int:
        """Makes the directory for a dataset of n samples, or goes on in it. Returns how many samples a part has: size, if it is new."""
        try:
            begun = json.loads(self._note.read_bytes())
            samples, part = begun["samples"], begun["part"]
            if type(samples) is not int or type(part) is not int or part < 1:
                raise TypeError
        except FileNotFoundError:
            return self._new(n, size)
        except (KeyError, TypeError, ValueError):
            raise ValueError("%s: it is not what ffconvert.convert wrote: remove it" % self._note) from None
        if samples != n:
            raise ValueError("%s: its parts are of %d samples, the dataset has %d: remove it, or give another directory" % (self.directory, samples, n))
        for left in self.directory.glob("*.new"):  # of processes that were killed
            left.unlink()
        return part

    def _new(self, n: int, size: int) -> int:
        self.directory.mkdir(parents=True, exist_ok=True)
        if any(self.directory.iterdir()):
            raise FileExistsError("%s: it has other files: give an empty directory as parts=" % self.directory)
        self._put(self._note, {"samples": n, "part": size})
        return size

    @staticmethod
    def _put(file: pathlib.Path, value: object) -> None:
        new = file.with_name(file.name + ".new")
        new.write_text(json.dumps(value))
        new.replace(file)

    def find(self, first: int, record: Callable[[], bytes]) -> str:
        """The file of a part that was written before, "" if there is none. record returns its first record, as the dataset has it now: ValueError if it is another one."""
        for path in self.directory.glob("%012d-*.mp" % first):
            with open(path, "rb") as f:
                crc = 0
                for data in iter(functools.partial(f.read, _CHUNK), b""):
                    crc = crc32(data, crc)
                if path.stem != "%012d-%08x" % (first, crc):
                    path.unlink()
                    continue
                want = _BEGIN + record()
                f.seek(0)
                if f.read(len(want)) != want:
                    raise ValueError("%s: sample %d is another one than that of the dataset now: if that has changed, or draws at random, remove %s"
                                     % (path, first, path.parent))
            return str(path)
        return ""

    def write(self, first: int, records: Iterable[bytes], count: int) -> str:
        """Writes a part, and returns its file, which has its name when it is whole."""
        new, crc = self.directory / ("%012d.%d.new" % (first, os.getpid())), 0
        try:
            with open(new, "wb", buffering=0) as f:
                for data in _chunks(records, dumps_msgpack({"__end__": {"count": count}})):
                    crc = crc32(data, crc)
                    view = memoryview(data)
                    while len(view):  # 2 GiB are written at once at most
                        try:
                            view = view[f.write(view):]
                        except OSError as e:
                            raise OSError(e.errno, e.strerror, str(new)) from None
            return str(new.replace(self.directory / ("%012d-%08x.mp" % (first, crc))))
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                new.unlink()
            raise

    def summary(self, out: str) -> str:
        """Goes on with a removal that was stopped, and returns what the program said of the dataset; "" if there was none, or it was of another dataset."""
        try:
            done = json.loads(self._done.read_bytes())
            made, summary = done["out"], str(done["summary"])
        except (OSError, KeyError, TypeError, ValueError):
            return ""
        self.remove(made, summary)
        return summary if made == os.path.abspath(out) else ""

    def remove(self, out: str, summary: str) -> None:
        """Removes the parts of a dataset that is complete, and the directory if nothing else is in it. A removal that is stopped goes on by summary."""
        self._put(self._done, {"out": os.path.abspath(out), "summary": summary})
        for path in (*self.directory.glob("*.mp"), *self.directory.glob("*.new"), self._note, self._done):
            if path.exists():
                path.unlink()
        try:
            self.directory.rmdir()
        except OSError:  # it has files of others, or is a link
            pass


def _chunks(records: Iterable[bytes], end: bytes) -> Iterator[bytes]:
    """The bytes of a part, in pieces that are worth a call."""
    held: List[bytes] = [_BEGIN]
    size = 0
    for record in records:
        held.append(record)
        size += len(record)
        if size >= _CHUNK:
            yield b"".join(held) if len(held) > 1 else record
            held, size = [], 0
    yield b"".join([*held, end])
