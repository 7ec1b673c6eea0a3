"""Makes a dataset of what Python can iterate.

>>> convert(train, "out", num_workers=4, shards=8)   # a dataset of torch, or any sequence
>>> convert(read_lines(), "out")                     # a generator
"""

from __future__ import annotations

import itertools
import os
import sys
import time
from concurrent.futures import FIRST_COMPLETED, wait
from typing import Any, Iterator, List, Optional, Tuple

from .errors import placed
from .parts import Parts
from .processes import pool
from .stored import packed
from .writer import Program, Writer, arguments, check, deepest

__all__ = ["convert"]

#: Parts of a dataset that a worker writes, as a guide, and the most samples of one: what a stopped conversion writes again.
_PARTS, _SAMPLES = 8, 50_000
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
    if isinstance(dataset, (str, bytes, os.PathLike, dict)):
        raise TypeError("a %s is not a dataset: of a path make one by ffconvert.Dataset, of a dict of datasets convert each" % type(dataset).__name__)
    if num_workers < 0:
        raise ValueError("num_workers=%d: want 0 or more" % num_workers)
    dataset, where = _made(dataset), os.fsdecode(out)
    torch: Any = sys.modules.get("torch.utils.data")
    iterable = torch is not None and isinstance(dataset, torch.IterableDataset)  # has a __getitem__ that raises
    numbered = hasattr(dataset, "__len__") and hasattr(dataset, "__getitem__") and not iterable
    line = _Line(len(dataset) if hasattr(dataset, "__len__") else None, progress)
    if num_workers and not numbered:
        raise TypeError("num_workers=%d: a %s has no length and numbered samples, which processes could share: leave num_workers out"
                        % (num_workers, type(dataset).__name__))
    if num_workers and len(dataset):
        return _in_parts(dataset, where, num_workers, Parts(_beside(where) if parts is None else os.fsdecode(parts)), line, options)
    with Writer(where, **options) as writer:
        for sample in (dataset[i] for i in range(len(dataset))) if numbered else dataset:
            writer.write(sample)
            line.show(writer.count)
        line.end(writer.count)
        return writer.close()


def _made(dataset: Any) -> Any:
    """What can be iterated: a dataset, or what a function returns."""
    return dataset() if callable(dataset) and not hasattr(dataset, "__getitem__") and not hasattr(dataset, "__iter__") else dataset


def _beside(out: str) -> str:
    if "://" in out:
        raise ValueError("%s: give parts=, a directory on this machine, for what the workers write" % out)
    return os.path.normpath(out) + ".parts"


def _in_parts(dataset: Any, out: str, num_workers: int, parts: Parts, line: "_Line", options: Any) -> str:
    if parts.contains(out):
        raise ValueError("%s: it is in %s, the directory of the parts, which is removed in the end" % (out, parts.directory))
    done, there = parts.summary(out), "://" not in out and os.path.exists(os.path.join(out, "manifest.json"))
    if there and not options.get("overwrite"):
        if done:
            return done
        raise FileExistsError("%s: a dataset is there: overwrite=True converts anew" % out)
    n, flags = len(dataset), arguments(options)
    shards = str(options.get("shards", 1))
    least = min(n, int(shards)) if shards.isdecimal() else 1  # more shards than samples are refused
    paths: List[str] = []
    samples = 0
    with pool(num_workers, _Worker.begin, dataset, parts, deepest(flags)) as workers:
        workers.submit(_Worker.check, [*flags, "--", "-", out], least).result()
        size = parts.begin(n, max(1, min(_SAMPLES, -(-n // (num_workers * _PARTS)))))
        running = {workers.submit(_Worker.part, first, min(n, first + size)) for first in range(0, n, size)}
        while running:
            ended, running = wait(running, timeout=_EVERY, return_when=FIRST_COMPLETED)
            for future in ended:
                path, count = future.result()
                paths.append(path)
                samples += count
            line.show(samples)
    line.end(samples)
    summary = Program(["--require-end", *flags, "--", *sorted(paths), out]).end()
    parts.remove(out, summary)
    return summary


class _Worker:
    """A process that writes parts. It is forked with the dataset, so that nothing of that is pickled."""

    dataset: Any
    parts: Parts
    depth: int

    @classmethod
    def begin(cls, dataset: Any, parts: Parts, depth: int) -> None:
        cls.dataset, cls.parts, cls.depth = dataset, parts, depth

    @classmethod
    def check(cls, args: List[str], least: int) -> None:
        check(args, itertools.chain(cls._records(0, 1), (packed({}, "%08d" % i) for i in range(1, least))))

    @classmethod
    def part(cls, first: int, to: int) -> Tuple[str, int]:
        """The file of the samples from first to before to, which is written if it is not there; and their number."""
        path = cls.parts.find(first, lambda: packed(cls.dataset[first], "%08d" % first, cls.depth))
        return path or cls.parts.write(first, cls._records(first, to), to - first), to - first

    @classmethod
    def _records(cls, first: int, to: int) -> Iterator[bytes]:
        for i in range(first, to):
            sample = cls.dataset[i]
            try:
                yield packed(sample, "%08d" % i, cls.depth)
            except (TypeError, ValueError) as e:
                raise placed(e, "sample %d" % i) from e


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
