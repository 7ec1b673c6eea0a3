"""Writes what can be indexed to FFRecord files.

>>> dump([b"a", b"b", b"c"], "out", nfiles=2)  # out/PART_00000.ffr, out/PART_00001.ffr
"""

from __future__ import annotations

import os
import pathlib
import warnings
from typing import Any, Callable, List, Optional, Tuple

from ..processes import pool
from ..reader import Path
from .writer import UNFINISHED, FileWriter

__all__ = ["dump"]

#: Processes that write at the same time.
_PROCESSES = 16


def dump(dataset: Any, fname: Path, nfiles: int, verbose: bool = False, *, serializer: Optional[Callable[[Any], Any]] = None) -> None:
    """Writes dataset[0] to dataset[len(dataset) - 1], which FileWriter.write_one must accept, or the bytes that serializer makes of them.

    nfiles=1 writes the file fname. With more, fname is a directory, which is made, and each file PART_00000.ffr, PART_00001.ffr, … of it has as many
    consecutive samples, the last one fewer; a warning says so if they are fewer than nfiles. Forked processes write them. If one fails its error
    is raised, and the files that are not whole are left unfinished, so that readers refuse the directory. Other *.ffr files in it are an error.
    verbose prints each file that is whole.
    """
    n = len(dataset)
    if nfiles < 1:
        raise ValueError("nfiles=%d: want 1 or more" % nfiles)
    if nfiles == 1:
        _write(dataset, serializer, (0, n, os.fsdecode(fname)), verbose)
        return
    parts = _parts(n, pathlib.Path(os.fsdecode(fname)), nfiles)
    if len(parts) != nfiles:
        warnings.warn("%s: %d samples make %d files of %d each, not %d" % (os.fsdecode(fname), n, len(parts), parts[0][1], nfiles), stacklevel=2)
    workers = min(_PROCESSES, len(parts), os.cpu_count() or 1)
    with pool(workers, _Worker.begin, dataset, serializer, verbose) as processes:
        futures = [processes.submit(_Worker.write, part) for part in parts]
        try:
            for future in futures:
                future.result()
        except BaseException:
            for future in futures:
                future.cancel()
            raise


def _parts(n: int, directory: pathlib.Path, nfiles: int) -> List[Tuple[int, int, str]]:
    """The first sample, the number of samples, and the path of each file. All files are there after it, unfinished."""
    size = max(1, -(-n // nfiles))
    parts = [(first, min(size, n - first), str(directory / ("PART_%05d.ffr" % i))) for i, first in enumerate(range(0, max(1, n), size))]
    directory.mkdir(parents=True, exist_ok=True)
    for path in sorted(directory.glob("*.ffr")):
        if str(path) not in (part[2] for part in parts):
            raise FileExistsError("%s: not one of the %d files that are to be written: remove it, or give another directory" % (path, len(parts)))
    for _, _, name in parts:
        pathlib.Path(name).write_bytes(UNFINISHED)
    return parts


class _Worker:
    """What a process that writes was given: it is forked with it, so that nothing of it needs to be pickled."""

    given: Tuple[Any, Any, bool]

    @classmethod
    def begin(cls, *given: Any) -> None:
        cls.given = given  # type: ignore[assignment]

    @classmethod
    def write(cls, part: Tuple[int, int, str]) -> None:
        dataset, serializer, verbose = cls.given
        _write(dataset, serializer, part, verbose)


def _write(dataset: Any, serializer: Optional[Callable[[Any], Any]], part: Tuple[int, int, str], verbose: bool) -> None:
    first, n, path = part
    with FileWriter(path, n) as writer:
        for i in range(first, first + n):
            writer.write_one(dataset[i] if serializer is None else serializer(dataset[i]))
    if verbose:
        print("%s: %d samples" % (path, n), flush=True)
