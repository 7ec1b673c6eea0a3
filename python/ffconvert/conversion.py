"""Makes a dataset of what Python can iterate.

>>> convert(train, "out", num_workers=4, shards=8)   # a dataset of torch, or any sequence
>>> convert(read_lines(), "out")                     # a generator
"""

from __future__ import annotations

import functools
import json
import os
import pathlib
import pickle
import shutil
import sys
import time
from concurrent.futures import FIRST_COMPLETED, wait
from typing import Any, Iterator, List, Optional, Tuple

from .errors import placed
from .native import crc32
from .processes import pool
from .stored import packed
from .wire import dumps_msgpack
from .writer import Program, Writer, arguments, check

__all__ = ["convert"]

#: Parts of a dataset that a worker writes, as a guide, and the most samples of one: what a stopped conversion writes again.
_PARTS, _SAMPLES = 8, 50_000
#: Bytes of a read or write of a part, at least.
_CHUNK = 1 << 16
#: What a part begins with.
_BEGIN = dumps_msgpack({"__begin__": {}})
#: Seconds between two lines of progress.
_EVERY = 0.5


def convert(dataset: Any, out: Any, *, num_workers: int = 0, parts: Any = None, progress: Optional[bool] = None, **options: Any) -> str:
    """Writes all samples of a dataset to out, with options as flags of `ffconvert cbor`: shards=8, sha256=True; and returns what the program says of it.

    dataset is anything that can be iterated, or a function that returns it; what has a length and numbered elements is read by these. A sample is what Writer.write takes,
    and its key is its __key__, or its number. If the dataset raises an error, it is raised here, and there is no dataset. TypeError or ValueError for a sample that cannot be
    stored, with its number and field; ConvertError if the program refuses.

    num_workers=0 reads it in this process, and writes nothing but what Writer does. num_workers=4 are forked processes, which call dataset[i] for parts of it, and write these to the directory
    parts, "out.parts" beside out if it is not given; it is removed in the end. TypeError if the dataset has no length and numbered samples. A conversion that was stopped goes on there when it is called again: parts that are whole are taken as
    they are, so remove the directory if the dataset has changed. progress=None shows it on a terminal and in a notebook.
    """
    dataset = _made(dataset)
    torch: Any = sys.modules.get("torch.utils.data")
    iterable = torch is not None and isinstance(dataset, torch.IterableDataset)  # has a __getitem__ that raises
    numbered = hasattr(dataset, "__len__") and hasattr(dataset, "__getitem__") and not isinstance(dataset, dict) and not iterable
    line = _Line(len(dataset) if hasattr(dataset, "__len__") else None, progress)
    if num_workers:
        if not numbered:
            raise TypeError("num_workers=%d: a %s has no length and numbered samples, which processes could share: leave num_workers out"
                            % (num_workers, type(dataset).__name__))
        where = pathlib.Path(os.fspath(parts if parts is not None else _beside(out)))
        return _in_parts(dataset, out, num_workers, where, line, options)
    with Writer(out, **options) as writer:
        for sample in (dataset[i] for i in range(len(dataset))) if numbered else dataset:
            writer.write(sample)
            line.show(writer.count)
        line.end(writer.count)
        return writer.close()


def _beside(out: Any) -> str:
    text: str = os.fspath(out)
    if "://" in text:
        raise ValueError("%s: give parts=, a directory on this machine, for what the workers write" % text)
    return text.rstrip("/") + ".parts"


def _in_parts(dataset: Any, out: Any, num_workers: int, where: pathlib.Path, line: "_Line", options: Any) -> str:
    n = len(dataset)
    flags = arguments(options)
    if n:
        sample, shards = dataset[0], str(options.get("shards", 1))
        least = min(n, int(shards)) if shards.isdecimal() else 1  # more shards than samples are refused
        check([*flags, "--", "-", os.fspath(out)], [packed(sample, "%08d" % i) for i in range(least)])
    size = _begun(where, n, max(1, min(_SAMPLES, -(-n // (num_workers * _PARTS)))))
    paths, done = [], 0
    with pool(num_workers, _Worker.begin, dataset, where) as workers:
        running = {workers.submit(_Worker.part, first, min(n, first + size)) for first in range(0, n, size)}
        try:
            while running:
                ended, running = wait(running, timeout=_EVERY, return_when=FIRST_COMPLETED)
                for future in ended:
                    path, samples = future.result()
                    paths.append(path)
                    done += samples
                line.show(done)
        except BaseException:
            for future in running:
                future.cancel()
            raise
    line.end(done)
    summary = Program(["--require-end", *flags, "--", *sorted(paths), os.fspath(out)]).end()
    shutil.rmtree(where)
    return summary


def _begun(where: pathlib.Path, n: int, size: int) -> int:
    """Makes the directory of the parts, or goes on in it, and returns how many samples a part has."""
    note = where / "parts.json"
    try:
        begun = json.loads(note.read_text())
        if begun["samples"] != n:
            raise ValueError("%s: its parts are of %s samples, the dataset has %d: remove it, or give another directory" % (where, begun["samples"], n))
        return int(begun["part"])
    except FileNotFoundError:
        pass
    except (KeyError, TypeError, json.JSONDecodeError):
        raise ValueError("%s: it is not what ffconvert.convert wrote: remove it" % note) from None
    where.mkdir(parents=True, exist_ok=True)
    if any(where.iterdir()):
        raise FileExistsError("%s: it has other files: give an empty directory as parts=" % where)
    new = where / "parts.json.new"
    new.write_text(json.dumps({"samples": n, "part": size}))
    new.replace(note)
    return size


def _made(dataset: Any) -> Any:
    """What can be iterated: a dataset, or what a function returns."""
    return dataset() if callable(dataset) and not hasattr(dataset, "__getitem__") and not hasattr(dataset, "__iter__") else dataset


class _Worker:
    """A process that writes parts. It is forked with the dataset, so that nothing of that is pickled.

    The file of a part is named by its first sample and the CRC-32 of its bytes: what a power cut has left of it is not taken for the part.
    """

    dataset: Any
    where: pathlib.Path

    @classmethod
    def begin(cls, dataset: Any, where: pathlib.Path) -> None:
        cls.dataset, cls.where = dataset, where

    @classmethod
    def part(cls, first: int, to: int) -> Tuple[str, int]:
        """The file of the samples from first to before to, which is written if it is not there; and their number."""
        try:
            return str(cls._found(first) or cls._write(first, to)), to - first
        except Exception as e:
            try:
                pickle.loads(pickle.dumps(e))
            except Exception:
                raise RuntimeError("%s: %s" % (type(e).__name__, e)) from None
            raise

    @classmethod
    def _found(cls, first: int) -> Optional[pathlib.Path]:
        """The file of a part that an earlier call has written. Its first sample must be that of the dataset."""
        for path in cls.where.glob("%012d-*.mp" % first):
            want = _BEGIN + packed(cls.dataset[first], "%08d" % first)
            with open(path, "rb") as f:
                crc = 0
                for data in iter(functools.partial(f.read, _CHUNK), b""):
                    crc = crc32(data, crc)
                if path.stem != "%012d-%08x" % (first, crc):
                    path.unlink()
                    continue
                f.seek(0)
                if f.read(len(want)) != want:
                    raise ValueError("%s: sample %d is another one than that of the dataset now: if that has changed, or draws at random, remove %s"
                                     % (path, first, path.parent))
            return path
        return None

    @classmethod
    def _write(cls, first: int, to: int) -> pathlib.Path:
        new, crc = cls.where / ("%012d.%d.new" % (first, os.getpid())), 0
        with open(new, "wb", buffering=0) as f:
            for data in _chunks(cls._records(first, to)):
                crc = crc32(data, crc)
                view = memoryview(data)
                while len(view):  # 2 GiB are written at once at most
                    view = view[f.write(view):]
        return new.replace(cls.where / ("%012d-%08x.mp" % (first, crc)))  # whole, or not there

    @classmethod
    def _records(cls, first: int, to: int) -> Iterator[bytes]:
        yield _BEGIN
        for i in range(first, to):
            sample = cls.dataset[i]
            try:
                yield packed(sample, "%08d" % i)
            except (TypeError, ValueError) as e:
                raise placed(e, "sample %d" % i) from e
        yield dumps_msgpack({"__end__": {"count": to - first}})


def _chunks(records: Iterator[bytes]) -> Iterator[bytes]:
    """The bytes of records, in pieces that are worth a call."""
    held: List[bytes] = []
    size = 0
    for record in records:
        held.append(record)
        size += len(record)
        if size >= _CHUNK:
            yield b"".join(held) if len(held) > 1 else record
            held, size = [], 0
    yield b"".join(held)


class _Line:
    """A line of progress, on a terminal and in a notebook."""

    def __init__(self, total: Optional[int], shown: Optional[bool]) -> None:
        self._total, self._begin, self._next = total, time.monotonic(), 0.0
        self._shown = shown if shown is not None else sys.stderr.isatty() or "ipykernel" in sys.modules
        self._width = 0

    def show(self, done: int) -> None:
        now = time.monotonic()
        if self._shown and now >= self._next:
            self._next = now + _EVERY
            self._print(done, now)

    def end(self, done: int) -> None:
        if self._shown:
            self._print(done, time.monotonic())
            print(file=sys.stderr, flush=True)

    def _print(self, done: int, now: float) -> None:
        text = "%d%s samples, %.0f a second" % (done, "" if self._total is None else " of %d" % self._total, done / max(now - self._begin, 1e-9))
        print("\r" + text.ljust(self._width), end="", file=sys.stderr, flush=True)
        self._width = len(text)
