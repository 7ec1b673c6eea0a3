"""One FFRecord file: docs/format.md.

    checksum u32 · N i64 · checksums u32 × N · offsets i64 × N · samples      (little-endian)
"""

from __future__ import annotations

import os
import struct
import sys
import zlib
from array import array
from itertools import islice
from operator import gt
from typing import Any, Iterator, List, Sequence, Tuple, Union, cast

from .errors import DamageError
from .files import open_regular

try:
    import numpy as np
except ImportError:
    np = cast(Any, None)

__all__ = ["MAX_SAMPLES", "Run", "Shard"]

#: The most samples of a file, unless a Reader is given another limit: their header has 1.5 GiB.
MAX_SAMPLES = 1 << 27

_HEAD = 12
#: Samples that are less than this apart, in bytes, are read at once: a copy of so many bytes costs what a system call does.
_GAP = 4096
#: Buffers of one read. The limit of the system is 1,024.
_BUFFERS = 512
#: Bytes of one read of several samples.
_READ = 1 << 20
#: Makes a read fail where it would wait for the device. Other systems than Linux wait.
_NOWAIT: int = getattr(os, "RWF_NOWAIT", 0)


class Shard:
    """An open file. Threads and forked processes may share it: a positioned read changes nothing."""

    def __init__(self, path: str, check_data: bool = True, max_samples: int = MAX_SAMPLES, follow: bool = True) -> None:
        self.path, self.check_data, self.fd = path, check_data, -1
        self.fd = open_regular(path, follow)
        try:
            #: What says that a file is this one: device, inode, size, time of change in ns.
            self.identity = _identity(os.fstat(self.fd))
            self.size: int = self.identity[2]
            self._read_header(max_samples)
            if self.n and check_data:  # its CRC alone says where the file ends
                off, last = self.offsets[-2], self.n - 1
                if self._crc(off, self.size - off) != self.crcs[last]:
                    raise self._damage("its checksum differs", last)
        except BaseException:
            self.close()
            raise

    def _read_header(self, max_samples: int) -> None:
        if self.size < _HEAD:
            raise self._damage("not an FFRecord file, or cut: it has %d bytes" % self.size)
        head = bytearray(_HEAD)
        self.fill([head], 0, _HEAD)
        checksum, n = struct.unpack("<Iq", head)
        if head == b"\x01\0\0\0" + 8 * b"\xff" or head == _HEAD * b"\0":
            raise self._damage("not finished: its writer was stopped")
        if n < 0 or n > (self.size - _HEAD) // 12:
            raise self._damage("not an FFRecord file, or cut: its head says %d samples" % n)
        if n > max_samples:
            raise self._damage("its head says %d samples, max_samples=%d allows no more" % (n, max_samples))
        #: Number of samples.
        self.n: int = n
        self._check_first()
        #: CRC-32 of the header.
        self.header: int = self._crc(_HEAD, 12 * n, zlib.crc32(head[4:]))
        if self.header != checksum and (checksum or self.check_data):
            raise self._damage("the checksum of the header differs" if checksum else "the header was written without a checksum, "
                               "check_data=False accepts it")
        self._load(head)

    def _check_first(self) -> None:
        """Checks the first offset, which follows from n: a file of zeros fails here, before the header is read."""
        if self.n:
            first = bytearray(8)
            self.fill([first], _HEAD + 4 * self.n, 8)
            if struct.unpack("<q", first)[0] != _HEAD + 12 * self.n:
                raise self._damage("the checksum of the header differs, or the file is cut: its first sample is not behind a header of %d samples" % self.n)

    def _load(self, head: Union[bytes, bytearray]) -> None:
        """Reads the tables into memory. Their checksum was compared before: a sparse file may claim any n."""
        n = self.n
        try:
            self.crcs, self.offsets = array("I", bytes(4)) * n, array("q", bytes(8)) * (n + 1)
        except MemoryError:
            raise MemoryError("%s: the header of %d samples takes %d bytes, for which there is no memory" % (self.path, n, 12 * n)) from None
        if n:
            crcs, offsets = memoryview(self.crcs).cast("B"), memoryview(self.offsets).cast("B")[:8 * n]
            self.fill([crcs, offsets], _HEAD, 12 * n)
            if zlib.crc32(offsets, zlib.crc32(crcs, zlib.crc32(head[4:]))) != self.header:
                raise self._damage("the file was changed while it was opened")
        if sys.byteorder == "big":
            self.crcs.byteswap()
            self.offsets.byteswap()
        self.offsets[n] = self.size
        if self.offsets[0] != _HEAD + 12 * n or not _ascending(self.offsets):
            raise self._damage("the offsets of the header are out of order, or the file is cut")

    def _crc(self, off: int, size: int, crc: int = 0) -> int:
        """The CRC-32 of a part of the file, which is read a block at a time."""
        block = memoryview(bytearray(min(size, _READ)))
        for at in range(0, size, _READ):
            part = block[:size - at]
            self.fill([part], off + at, len(part))
            crc = zlib.crc32(part, crc)
        return crc

    def bytes_of(self, numbers: Sequence[int]) -> int:
        """The size of samples in bytes."""
        offsets = self.offsets
        return sum([offsets[i + 1] - offsets[i] for i in numbers])

    def runs(self, numbers: Sequence[int], memory: Any, samples: List[Any]) -> Iterator["Run"]:
        """Yields the reads of samples, whose numbers ascend. Each sample has a piece of memory, of bytes_of(numbers) in all; they are appended to samples."""
        offsets = self.offsets
        between = memoryview(bytearray(_GAP))
        run, at = None, 0
        for i in numbers:
            lo, hi = offsets[i], offsets[i + 1]
            data = memory[at:at + hi - lo]
            at += hi - lo
            samples.append(data)
            if run is None or lo - run.end > _GAP or hi - run.start > _READ or len(run.pieces) > _BUFFERS:
                if run is not None:
                    yield run
                run = Run(self, lo, hi, [data], [(i, data)])
                continue
            if lo > run.end:
                run.pieces.append(between[:lo - run.end])
            run.pieces.append(data)
            run.samples.append((i, data))
            run.end = hi
        if run is not None:
            yield run

    def check(self, samples: Sequence[Tuple[int, Any]]) -> None:
        """Compares the checksums of samples: their numbers and bytes."""
        if not self.check_data:
            return
        for i, data in samples:
            if zlib.crc32(data) != self.crcs[i]:
                self.unchanged()  # else that is the error
                raise self._damage("its checksum differs", i)

    def fill(self, pieces: List[Any], off: int, size: int) -> None:
        """Reads size bytes from byte off on into buffers, which have that size together."""
        try:
            got = os.preadv(self.fd, pieces, off)
            if got == size:
                return
            for piece in pieces:  # 2 GiB come with one read at most
                view = memoryview(piece)
                while len(view):
                    got = os.preadv(self.fd, [view], off)
                    if not got:
                        raise self._damage("the file ends at byte %d: it was cut since it was opened" % off)
                    view, off = view[got:], off + got
        except OSError as e:
            raise self._named(e) from None

    def unchanged(self) -> None:
        """Checks that the name still leads to the file that was opened, with its size and time."""
        try:
            now = _identity(os.stat(self.path))
        except FileNotFoundError:
            raise self._damage("the file is gone") from None
        except OSError as e:
            raise self._named(e) from None
        if now != self.identity:
            raise self._damage("the file was replaced or changed since it was opened")

    def _damage(self, what: str, sample: int = -1) -> DamageError:
        if sample < 0:
            return DamageError("%s: %s" % (self.path, what), self.path)
        off = self.offsets[sample]
        return DamageError("%s: sample %d at byte %d: %s" % (self.path, sample, off, what), self.path, sample, off)

    def _named(self, e: OSError) -> OSError:
        return OSError(e.errno, e.strerror, self.path)

    def close(self) -> None:
        """Closes the file, once."""
        fd, self.fd = self.fd, -1
        if fd >= 0:
            os.close(fd)

    def __del__(self) -> None:
        self.close()


class Run:
    """Samples of a shard that are read at once, with what lies between them."""

    __slots__ = ("shard", "start", "end", "pieces", "samples")

    def __init__(self, shard: Shard, start: int, end: int, pieces: List[Any], samples: List[Tuple[int, Any]]) -> None:
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


def _ascending(offsets: "array[int]") -> bool:
    if np is None:
        return not any(map(gt, offsets, islice(offsets, 1, None)))
    numbers, block = np.frombuffer(offsets, np.int64), _READ
    return all((numbers[at:at + block][:-1] <= numbers[at + 1:at + block]).all() for at in range(0, len(numbers), block - 1))


def _identity(s: os.stat_result) -> Tuple[int, int, int, int]:
    return s.st_dev, s.st_ino, s.st_size, s.st_mtime_ns
