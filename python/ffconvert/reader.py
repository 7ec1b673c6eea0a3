"""Reads samples of FFRecord files by their numbers.

>>> with Reader("out") as reader:      # a directory, a file, or a list of these
...     a, b = reader.read([7, 3])

Reader has the methods of ffrecord.FileReader. The native helper reads where the package has it, else Python does, with the same results.
"""

from __future__ import annotations

import bisect
import itertools
import os
import re
import shlex
from operator import index as _index
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Optional, Sequence, Tuple, Union, cast

from . import native
from .errors import DamageError
from .manifest import read_manifest
from .order import digest
from .shard import MAX_SAMPLES, Run, Shard, by_entry, by_head

if TYPE_CHECKING:
    from .remote import Remote

try:
    import numpy as np
except ImportError:
    np = cast(Any, None)

__all__ = ["Reader", "FileReader"]

#: The path of a file or directory.
Path = Union[str, "os.PathLike[str]"]

#: Bytes that a call asks the device for before it waits for them: deep queues need less, and the page cache has room for it.
_ASK = 64 << 20


class Reader:
    """Reads samples of one or more files. They are numbered from 0 through all files, in the order of these.

    files is a file, a directory, the URL of a dataset in an object store (s3, gs, ais, https, http), or a list of these. What is read of a URL is kept in the
    directory cache of this machine, up to cache_size bytes of shards of all datasets in it, a number or a text as "200GB"; None is as many as there is room for. The
    program `ffconvert` fetches: docs/training-from-buckets.md.
    A directory stands for its files *.ffr, sorted by name. If it has a manifest.json, they must be the shards that it names, of the sizes that it has, and no links. Without one the head of each file is read.
    The first read of a sample of a file opens that and checks its header, which is mapped then: the processes of a machine share it. The file stays open. check_data=False leaves out the CRC of samples,
    not that of headers. A file of more than max_samples samples is refused: a sparse file may claim any number, and a header is read whole.

    DamageError if a file is missing, or is not the one of manifest.json; OSError if one cannot be opened; ValueError for a URL without cache, or an empty list. A read of a file that is damaged, or was deleted, replaced
    or cut since the Reader was made, is a DamageError.

    Any number of threads may read at once. A Reader goes to other processes by fork, or pickled: it is opened there again, and each read is an
    error if the files differ.
    """

    def __init__(self, files: Union[Path, Iterable[Path]], check_data: bool = True, *, max_samples: int = MAX_SAMPLES, cache: Optional[Path] = None,
                 cache_size: Union[int, str, None] = None) -> None:
        self._shards: List[Shard] = []
        self._remotes: List[Optional[Remote]] = []  # of each of the files
        self._partial = False  # not all samples of object stores are here
        self._counts: List[int] = []  # samples of each of the files
        self._table: Optional[native.Table] = None
        self._without: Exception = ValueError("the reader is closed")  # what a read without shards raises
        #: The files and directories, by paths that hold wherever the process goes, and URLs.
        self.files: List[str] = [_absolute(f) for f in ([files] if isinstance(files, (str, os.PathLike)) else files)]
        self.check_data, self.max_samples = check_data, max_samples
        #: Where samples of object stores are kept, and most bytes of shards there.
        self.cache: Optional[str] = None if cache is None else os.path.abspath(os.fsdecode(cache))
        self.cache_size = cache_size
        if not self.files:
            raise ValueError("no files")
        if cache is not None and not os.fspath(cache):  # else the current directory
            raise ValueError("the name of the cache is empty")
        try:
            for path in self.files:
                before = len(self._shards)
                url = url_of(path)
                self._remotes.append(self._open_remote(url) if url else None)
                if url:
                    self._shards += copies(self._remotes[-1], check_data, max_samples)
                    self._partial = True
                elif os.path.isdir(path):
                    self._shards += _open_directory(path, check_data, max_samples)
                else:
                    self._shards.append(by_head(path, check_data, max_samples))
                self._counts.append(sum(shard.n for shard in self._shards[before:]))
        except BaseException:
            self.close()
            raise
        self._starts = [0]
        for shard in self._shards:
            self._starts.append(self._starts[-1] + shard.n)
        #: Number of samples.
        self.n: int = self._starts[-1]
        #: Number of samples of each file.
        self.shards: List[int] = [shard.n for shard in self._shards]
        #: The digest of the dataset, as docs/order.md defines it.
        self.digest: str = digest((s.n, s.header, s.size) for s in self._shards)
        if native.library is not None:
            self._table = native.Table(self._shards, check_data)

    def __len__(self) -> int:
        """Number of samples."""
        return self.n

    def read(self, indices: Iterable[int]) -> List[Any]:
        """Returns samples in the order that is asked, as uint8 arrays of one dimension, or as bytes without numpy. A number may come twice.

        Before it waits for the device, it has asked it for all of them, or for 64 MiB. The arrays of one call lie in one piece of memory,
        which is free when none of them is used any more: of a sample that is kept alone keep a copy(). IndexError for a number that is
        negative or too large, ValueError after close, DamageError with the file, the sample and its byte, OSError of the device, or of a file that cannot be opened.
        """
        indices = list(indices.tolist() if hasattr(indices, "tolist") else indices)  # pyright: ignore[reportAttributeAccessIssue]
        types = set(map(type, indices))
        if bool in types:
            raise TypeError("a bool is not the number of a sample: give numbers in place of a mask")
        if types != {int}:
            indices = list(map(_index, indices))
        wanted = sorted(set(indices))
        if not wanted:
            return []
        if wanted[0] < 0 or wanted[-1] >= self.n:
            raise IndexError("sample %d of %d" % (wanted[0 if wanted[0] < 0 else -1], self.n))
        shards, table = self._shards, self._table
        if not shards:
            raise self._without
        try:
            samples = self._apart(shards, table, wanted) if self._partial else self._here(shards, table, wanted)
        except DamageError:
            if self._partial or not self.apart:
                raise
            samples = self._apart(shards, table, wanted)  # a copy may be damaged, and not what it is of
        out = list(map(samples.__getitem__, indices))
        if len(out) > len(wanted) and np is not None:  # arrays can be written to, so none is in two places
            out = [samples.pop(i) if i in samples else data.copy() for i, data in zip(indices, out)]
        return out

    def _here(self, shards: List[Shard], table: Optional[native.Table], wanted: List[int]) -> Dict[int, Any]:
        """Reads samples from files."""
        found = None if table is None or not wanted else table.read(wanted)
        return dict(zip(wanted, self._read(self._by_shard(shards, wanted)) if found is None and wanted else found or ()))

    def _apart(self, shards: List[Shard], table: Optional[native.Table], wanted: List[int]) -> Dict[int, Any]:
        """Reads samples of which some may be in object stores alone."""
        from .copied import CopiedShard, bring, enter, fetch
        jobs = self._by_shard(shards, wanted)
        copied = [(shard, numbers) for shard, numbers in jobs if isinstance(shard, CopiedShard)]
        enter([shard for shard, _ in copied])
        lacking = bring(copied)
        if not lacking:
            self._partial = not all(shard.whole() for shard in shards if isinstance(shard, CopiedShard))
        first = dict(zip(map(id, shards), self._starts))
        far = [first[id(shard)] + i for shard, some in lacking for i in some]
        samples = dict(zip(far, fetch(lacking, _memory)))
        near = [i for i in wanted if i not in samples]
        try:
            samples.update(self._here(shards, table, near))
        except DamageError:  # perhaps of a copy; what the object store has is compared with its manifest
            asked = set(near)
            again = [(shard, [i for i in numbers if first[id(shard)] + i in asked]) for shard, numbers in copied]
            again = [(shard, some) for shard, some in again if some]
            more = [first[id(shard)] + i for shard, some in again for i in some]
            samples.update(zip(more, fetch(again, _memory)))
            samples.update(self._here(shards, table, [i for i in near if i not in samples]))
            far += more
        if np is None:
            samples.update((i, bytes(samples[i])) for i in far)
        return samples

    def _open_remote(self, url: str) -> "Remote":
        if self.cache is None:
            raise ValueError("%s: a dataset in an object store is read through a cache on this machine: give cache=\"/nvme/cache\", or copy it first: ffconvert copy %s out/"
                             % (url, shlex.quote(url)))
        from .remote import Remote
        return Remote(url, self.cache, self.cache_size)

    def places(self, bring: str = "") -> List[str]:
        """The files and directories, of datasets in object stores their directories in the cache; bring says what is to be there: "meta", meta.json; "indexes", all of these."""
        places = list(self.files)
        for k, remote in enumerate(self._remotes):
            if remote is not None:
                places[k] = remote.path
                if bring:
                    remote.bring([-1] if bring == "meta" else range(sum(isinstance(s, Shard) and getattr(s, "remote", None) is remote for s in self._shards)))
        return places

    @property
    def apart(self) -> bool:
        """Whether one of the files is the URL of a dataset in an object store."""
        return any(self._remotes)

    def coming(self, indices: Optional[Sequence[int]]) -> None:
        """Says which samples will be read, in this order, after those that were said before; None: that these will not. It is for samples in object stores."""
        if not self._partial:
            return
        first = 0
        for remote, count in zip(self._remotes, self._counts):
            if remote is not None:
                remote.coming(None if indices is None else [i - first for i in indices if first <= i < first + count])
            first += count

    def _by_shard(self, shards: List[Shard], wanted: List[int]) -> List[Tuple[Shard, List[int]]]:
        jobs: List[Tuple[Shard, List[int]]] = []
        at = 0
        while at < len(wanted):
            k = bisect.bisect_right(self._starts, wanted[at]) - 1
            first, to = self._starts[k], bisect.bisect_left(wanted, self._starts[k + 1], at)
            jobs.append((shards[k], [i - first for i in wanted[at:to]]))
            at = to
        return jobs

    def _read(self, jobs: List[Tuple[Shard, List[int]]]) -> List[Any]:
        files = [shard.file() for shard, _ in jobs]
        found = [file.find(numbers) for file, (_, numbers) in zip(files, jobs)]
        total = sum([size for _, size in found])
        # Asking the system for memory once is faster than once a sample.
        try:
            memory = memoryview(bytearray(total)) if np is None else np.empty(total, np.uint8)
        except MemoryError:
            raise MemoryError("%s: the samples of one read have %d bytes, for which there is no memory" % (files[0].path, total)) from None
        samples: List[Any] = []
        waiting: List[Run] = []
        at = asked = 0
        for file, (places, size) in zip(files, found):
            for run in file.runs(places, memory[at:at + size], samples):
                if not waiting and run.cached():  # a try that fails makes the kernel read more than it is asked for: one a call
                    continue
                run.ask()
                waiting.append(run)
                asked += run.end - run.start
                if asked > _ASK:
                    _finish(waiting)
                    asked = 0
            at += size
        _finish(waiting)
        for file in files:
            file.unchanged()
        return samples if np is not None else list(map(bytes, samples))

    def read_one(self, index: int) -> Any:
        """Returns one sample, as read does."""
        return self.read([index])[0]

    def where(self, index: int) -> Tuple[str, int]:
        """The path or URL of the file of a sample, and the number of the sample in it, from 0. IndexError if there is no such sample."""
        shards = self._shards
        if not 0 <= index < self.n:
            raise IndexError("sample %d of %d" % (index, self.n))
        if not shards:
            raise self._without
        k = bisect.bisect_right(self._starts, index) - 1
        return shards[k].shown, index - self._starts[k]

    def counted(self) -> List[Tuple[str, int]]:
        """Each of the files and directories, with the number of its samples."""
        if not self._shards:
            raise self._without
        return list(zip(self.files, self._counts))

    def close(self) -> None:
        """Closes the files, or lets the reads that are under way in other threads do it when they end. Later reads are a ValueError."""
        self._shards, self._table, self._remotes = [], None, []

    def __enter__(self) -> "Reader":
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

    def __reduce__(self) -> Any:
        return _reopen, (type(self), self.files, self.check_data, self.max_samples, self.digest, self.shards, self.cache, self.cache_size)


#: The name that ffrecord has for it.
FileReader = Reader


def _finish(runs: List[Run]) -> None:
    for run in runs:
        run.read()
    runs.clear()


def _memory(size: int) -> Any:
    return memoryview(bytearray(size)) if np is None else np.empty(size, np.uint8)


def _absolute(path: Path) -> str:
    if not os.fspath(path):  # else the current directory: an empty variable of a script
        raise ValueError("the name of a file or directory is empty")
    return url_of(os.fsdecode(path)) or os.path.abspath(path)


def url_of(path: str) -> str:
    """The URL of a dataset in an object store, "" for a path of a file system. ValueError for another URL."""
    stored = re.match("(s3|gs|ais|https?):/{1,2}(?!/)", path, re.I)  # a pathlib.Path has lost a slash
    if os.path.exists(path) or stored is None and not re.match("[A-Za-z][A-Za-z0-9+.-]+://", path):
        return ""
    if stored is None:
        raise ValueError("%s: files are read from a file system, or from s3, gs, ais, http and https: fetch it first" % path)
    return "%s://%s" % (stored[1].lower(), path[stored.end():])


def copies(remote: Any, check_data: bool, max_samples: int) -> List[Shard]:
    """The shards of a dataset in an object store."""
    from .copied import CopiedShard
    shards: List[Shard] = []
    first = 0
    manifest = read_manifest(remote.path)
    for number, entry in enumerate(manifest.shards if manifest else ()):
        if entry.samples > max_samples:
            raise DamageError("%s: it has %d samples, max_samples=%d allows no more" % (remote.url + entry.name, entry.samples, max_samples), remote.url)
        shards.append(CopiedShard(remote, number, first, entry, check_data))
        first += entry.samples
    return shards


def _reopen(cls: Any, files: Sequence[str], check_data: bool, max_samples: int, want: str, shards: List[int], cache: Optional[str],
            cache_size: Union[int, str, None]) -> Reader:
    more = {} if cache is None else {"cache": cache, "cache_size": cache_size}
    try:
        reader: Reader = cls(files, check_data, max_samples=max_samples, **more)
        if reader.digest == want:
            return reader
        reader.close()
        why: Exception = DamageError("%s: not the dataset that was opened: its digest is %s, not %s" % (", ".join(files[:3]), reader.digest, want))
    except (OSError, DamageError) as e:
        why = e
    # Reads fail, not the unpickling: an error of that ends a worker of a DataLoader before it can tell why.
    reader = cls.__new__(cls)
    reader.files, reader.check_data, reader.max_samples = list(files), check_data, max_samples
    reader.digest, reader.shards, reader.n = want, shards, sum(shards)
    reader._shards, reader._table, reader._starts, reader._without = [], None, [0, *itertools.accumulate(shards)], why
    reader._remotes, reader._partial, reader.cache, reader.cache_size = [], False, cache, cache_size
    return reader


def _open_directory(path: str, check_data: bool, max_samples: int) -> List[Shard]:
    names = sorted(name for name in os.listdir(path) if name.endswith(".ffr"))
    manifest = read_manifest(path)
    if manifest is None:
        if os.path.isdir(os.path.join(path, ".ffconvert")):
            raise DamageError("%s: it has no manifest.json, so its conversion has not finished" % path, path)
        if not names:
            raise FileNotFoundError("%s: no *.ffr files" % path)
        return [by_head(os.path.join(path, name), check_data, max_samples) for name in names]
    wanted = {shard.name: shard for shard in manifest.shards}
    for name in sorted(wanted.keys() ^ set(names)):
        file = os.path.join(path, name)
        raise DamageError(file + (": missing, manifest.json names it" if name in wanted else ": manifest.json does not name it"), file)
    return [by_entry(os.path.join(path, name), wanted[name], check_data, max_samples) for name in names]
