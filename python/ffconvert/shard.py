"""A shard of a dataset. Opening a reader looks at its file; the first read of a sample in it opens the file and checks its header."""

from __future__ import annotations

import mmap
import os
import sys
import zlib
from array import array
from typing import Any, Dict, Iterator, List, Literal, Optional, Sequence, Tuple

from .errors import DamageError
from .files import stat_regular, with_room
from .manifest import Entry
from .recordfile import HEAD, RecordFile, fits, identity

__all__ = ["MAX_SAMPLES", "OpenShard", "Place", "Run", "Shard", "by_entry", "by_head"]

#: The most samples of a file, unless a Reader is given another limit: their header has 1.5 GiB.
MAX_SAMPLES = 1 << 27

#: Samples that are less than this apart, in bytes, are read at once: a copy of so many bytes costs what a system call does.
_GAP = 4096
#: Buffers of one read. The limit of the system is 1,024.
_BUFFERS = 512
#: Bytes of one read of several samples.
_READ = 1 << 20
#: Makes a read fail where it would wait for the device. Other systems than Linux wait.
_NOWAIT: int = getattr(os, "RWF_NOWAIT", 0)
#: Where a sample of a shard lies: its number, the bytes at which it begins and ends, and its checksum.
Place = Tuple[int, int, int, int]


class Shard:
    """A shard as it was when its reader was opened. n is the number of its samples, header the CRC-32 of its header.

    follow: whether a link may lead to its file. growing: whether the file is a copy, of the size of the shard and with its header, to which samples
    are still written: its time of change says nothing, and its last sample is first compared when it is read.
    """

    def __init__(self, path: str, n: int, header: int, found: os.stat_result, *, check_data: bool = True, follow: bool = True,
                 growing: bool = False) -> None:
        self.path, self.n, self.header, self.size = path, n, header, found.st_size
        self.check_data, self.follow, self.growing = check_data, follow, growing
        self.identity = identity(found, growing)
        self._file: Dict[str, OpenShard] = {}

    @property
    def shown(self) -> str:
        """What messages call it."""
        return self.path

    def file(self) -> "OpenShard":
        """The open file, which the first call opens and checks. Any number of threads may call it: those that are first at the same time open it
        each, and one of these files stays. No lock is held, so that a process may fork meanwhile."""
        return self._file.get("") or self._file.setdefault("", OpenShard(self, self.check_data))


def by_entry(path: str, entry: Entry, check_data: bool, max_samples: int) -> Shard:
    """A shard as a manifest describes it. Its file is there, and has that size."""
    found = stat_regular(path, follow=False)
    if found.st_size != entry.bytes or not fits(entry.samples, entry.bytes):
        raise DamageError("%s: not the shard that manifest.json describes" % path, path)
    _check_number(path, entry.samples, max_samples)
    return Shard(path, entry.samples, entry.header, found, check_data=check_data, follow=False)


def by_head(path: str, check_data: bool, max_samples: int) -> Shard:
    """A shard as the head of its file describes it. The whole header is read where it has no checksum; or no samples, so that no read would."""
    file = RecordFile(path, follow=True)
    try:
        n, checksum = file.head()
        _check_number(path, n, max_samples)
        header = checksum if n and checksum else file.header(n, checksum, check_data)
        return Shard(path, n, header, file.found, check_data=check_data)
    finally:
        file.close()


def _check_number(path: str, n: int, max_samples: int) -> None:
    if n > max_samples:
        raise DamageError("%s: it has %d samples, max_samples=%d allows no more" % (path, n, max_samples), path)


class OpenShard(RecordFile):
    """The open file of a shard, whose header was checked. Reads in Python map that: its pages are those of the page cache, which processes share."""

    def __init__(self, shard: Shard, check_data: bool) -> None:
        try:
            super().__init__(shard.path, shard.follow)
        except FileNotFoundError:
            raise self._gone() from None
        self.n, self.check_data = shard.n, check_data
        self._identity, self._growing = shard.identity, shard.growing
        self._tables: Optional[Tuple[Sequence[int], Sequence[int]]] = None
        try:
            if identity(self.found, shard.growing) != shard.identity:
                raise self._changed()
            n, checksum = self.head()
            if n != shard.n or self.header(n, checksum, check_data) != shard.header:
                raise self._changed() if shard.follow else self.damage("not the shard that manifest.json describes")
            if n and check_data and not shard.growing:  # its CRC alone says where the file ends
                start, crc = self.last(n)
                if self.crc(start, self.size - start) != crc:
                    raise self.damage("its checksum differs", n - 1, start)
        except BaseException:
            self.close()
            raise

    def _header(self) -> Tuple[Sequence[int], Sequence[int]]:
        """The checksums and the offsets of all samples, for use at once: the size of the file was just compared. A process that uses a map beyond
        the end of its file is killed."""
        if os.lseek(self.fd, 0, os.SEEK_END) != self.size:  # costs a third of fstat, and no read is at the file's position
            raise self._changed()
        if self._tables is None:
            end = HEAD + 12 * self.n
            try:
                header = memoryview(with_room(lambda: mmap.mmap(self.fd, end, mmap.MAP_SHARED, mmap.PROT_READ)))
            except OSError as e:
                raise self.named(e) from None
            except ValueError:  # it was cut in this moment
                raise self._changed() from None
            self._tables = _numbers("I", header[HEAD:HEAD + 4 * self.n]), _numbers("q", header[HEAD + 4 * self.n:])
        return self._tables

    def find(self, numbers: List[int]) -> Tuple[List[Place], int]:
        """Where samples lie, whose numbers ascend, and how many bytes they have. It alone uses the header in a read."""
        crcs, offsets = self._header()
        before, last, whole, places, size = HEAD + 12 * self.n, self.n - 1, self.size, [], 0
        for i in numbers:
            start, end = offsets[i], offsets[i + 1] if i < last else whole
            if not before <= start <= end <= whole:  # they were right when the header was checked
                self.unchanged()
                raise self.damage("the offsets of the header are out of order, or the file is cut")
            places.append((i, start, end, crcs[i]))
            before = end
            size += end - start
        return places, size

    def offsets(self) -> "array[int]":
        """A copy of the offsets of all samples, and the size of the file."""
        return array("q", [*self._header()[1], self.size])

    def checksums(self) -> "array[int]":
        """A copy of the CRC-32 of all samples."""
        return array("I", self._header()[0])

    def runs(self, places: Sequence[Place], memory: Any, samples: List[Any]) -> Iterator["Run"]:
        """Yields the reads of samples, as find returns them. Each has a piece of memory, which has the size of all; the pieces are appended to samples."""
        between = memoryview(bytearray(_GAP))
        run, at = None, 0
        for i, lo, hi, crc in places:
            data = memory[at:at + hi - lo]
            at += hi - lo
            samples.append(data)
            if run is None or lo - run.end > _GAP or hi - run.start > _READ or len(run.pieces) > _BUFFERS:
                if run is not None:
                    yield run
                run = Run(self, lo, hi, [data], [(i, lo, crc, data)])
                continue
            if lo > run.end:
                run.pieces.append(between[:lo - run.end])
            run.pieces.append(data)
            run.samples.append((i, lo, crc, data))
            run.end = hi
        if run is not None:
            yield run

    def check(self, samples: Sequence[Tuple[int, int, int, Any]]) -> None:
        """Compares the checksums of samples: of each its number, the byte at which it begins, its checksum and its bytes."""
        if not self.check_data:
            return
        for number, start, crc, data in samples:
            if zlib.crc32(data) != crc:
                self.unchanged()  # else that is the error
                raise self.damage("its checksum differs", number, start)

    def unchanged(self) -> None:
        """Checks that the name still leads to the file that was opened, with its size and time."""
        try:
            now = identity(os.stat(self.path), self._growing)
        except FileNotFoundError:
            raise self._gone() from None
        except OSError as e:
            raise self.named(e) from None
        if now != self._identity:
            raise self._changed()

    def _gone(self) -> DamageError:
        return self.damage("the file is gone")

    def _changed(self) -> DamageError:
        return self.damage("the file was replaced or changed since it was opened")


class Run:
    """Samples of a shard that are read at once, with what lies between them."""

    __slots__ = ("shard", "start", "end", "pieces", "samples")

    def __init__(self, shard: OpenShard, start: int, end: int, pieces: List[Any], samples: List[Tuple[int, int, int, Any]]) -> None:
        self.shard, self.start, self.end, self.pieces, self.samples = shard, start, end, pieces, samples

    def cached(self) -> bool:
        """Reads and checks the samples without waiting for the device, and returns whether that was possible.

        An error is left to read: a file system may be unable to read so, and an error of the device comes again there.
        """
        try:
            got = os.preadv(self.shard.fd, self.pieces, self.start, _NOWAIT)
        except OSError:
            return False
        if got == self.end - self.start:
            self.shard.check(self.samples)
            return True
        return False

    def ask(self) -> None:
        """Makes the device begin to read. Where it does not, read is slower, and right: so an error does not matter."""
        if _NOWAIT:
            try:
                os.posix_fadvise(self.shard.fd, self.start, self.end - self.start, os.POSIX_FADV_WILLNEED)
            except OSError:
                pass

    def read(self) -> None:
        """Reads and checks the samples."""
        self.shard.fill(self.pieces, self.start, self.end - self.start)
        self.shard.check(self.samples)


def _numbers(kind: Literal["I", "q"], numbers: memoryview) -> Sequence[int]:
    """Numbers of a header. They are not copied, unless the machine is big-endian."""
    if sys.byteorder == "little":
        return numbers.cast(kind)
    swapped: "array[int]" = array(kind)
    swapped.frombytes(numbers)
    swapped.byteswap()
    return swapped
