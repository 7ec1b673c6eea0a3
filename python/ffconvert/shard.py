"""One FFRecord file: docs/format.md.

    checksum u32 · N i64 · checksums u32 × N · offsets i64 × N · samples      (little-endian)
"""

from __future__ import annotations

import errno
import os
import struct
import sys
import zlib
from array import array
from itertools import islice
from operator import gt
from typing import Any, Callable, List, Sequence, Tuple

from .errors import DamageError

try:
    import numpy as np
except ImportError:
    np = None  # type: ignore[assignment]

try:
    import resource
except ImportError:  # not a Unix
    resource = None  # type: ignore[assignment]

__all__ = ["Shard", "Wanted"]

#: Pairs of a sample and the place in a list where its bytes are put.
Wanted = Sequence[Tuple[int, int]]

_HEAD = 12
#: Samples that are less than this apart, in bytes, are read at once: a copy of so many bytes costs what a system call does.
_GAP = 4096
#: Buffers of one read. The limit of the system is 1,024.
_BUFFERS = 512
#: Bytes of one read of several samples.
_READ = 1 << 20


class Shard:
    """An open file. Threads and forked processes may share it: a positioned read changes nothing."""

    def __init__(self, path: str, check_data: bool = True) -> None:
        self.path, self.check_data, self.fd = path, check_data, -1
        self.fd = _open(path)
        try:
            self._identity = _identity(os.fstat(self.fd))
            self.size: int = self._identity[2]
            self._read_header()
            if self.n and check_data:  # its CRC alone says where the file ends
                self.read([(self.n - 1, 0)], [None], bytearray)
        except BaseException:
            self.close()
            raise

    def _read_header(self) -> None:
        if self.size < _HEAD:
            raise self._damage("not an FFRecord file, or cut: it has %d bytes" % self.size)
        head = self._bytes(_HEAD, 0)
        checksum, n = struct.unpack("<Iq", head)
        if head == b"\x01\0\0\0" + 8 * b"\xff" or head == _HEAD * b"\0":
            raise self._damage("not finished: its writer was stopped")
        if n < 0 or n > (self.size - _HEAD) // 12:
            raise self._damage("not an FFRecord file, or cut: its head says %d samples" % n)
        table = self._bytes(12 * n, _HEAD)
        #: Number of samples.
        self.n: int = n
        #: CRC-32 of the header.
        self.header: int = zlib.crc32(table, zlib.crc32(head[4:]))
        if self.header != checksum and (checksum or self.check_data):
            raise self._damage("the checksum of the header differs" if checksum else "the header was written without a checksum, "
                               "check_data=False accepts it")
        self.crcs, self.offsets = array("I"), array("q")
        self.crcs.frombytes(table[:4 * n])
        self.offsets.frombytes(table[4 * n:])
        if sys.byteorder == "big":
            self.crcs.byteswap()
            self.offsets.byteswap()
        self.offsets.append(self.size)
        if self.offsets[0] != _HEAD + 12 * n or not _ascending(self.offsets):
            raise self._damage("the offsets of the header are out of order, or the file is cut")

    def bytes_of(self, wanted: Wanted) -> int:
        """The bytes of samples."""
        offsets = self.offsets
        return sum([offsets[i + 1] - offsets[i] for i, _ in wanted])

    def read(self, wanted: Wanted, out: List[Any], take: Callable[[int], Any]) -> None:
        """Reads samples into memory of so many bytes, each a piece that take returns. wanted is sorted; see Wanted."""
        offsets = self.offsets
        pieces: List[Any] = []
        group: List[Tuple[int, Any]] = []  # whose pieces are read next, from start to end
        start = end = 0
        last, first = -1, None
        for i, place in wanted:
            lo, hi = offsets[i], offsets[i + 1]
            if i == last:  # its bytes are copied below: arrays can be written to
                out[place] = first
                continue
            if pieces and (lo - end > _GAP or hi - start > _READ or len(pieces) > _BUFFERS):
                self._fill(pieces, start, end - start)
                self._check(group)
                pieces, group = [], []
            if not pieces:
                start = lo
            elif lo > end:
                pieces.append(bytearray(lo - end))
            out[place] = data = take(hi - lo)
            pieces.append(data)
            group.append((i, data))
            last, first, end = i, data, hi
        if pieces:
            self._fill(pieces, start, end - start)
            self._check(group)
        self._unchanged()
        last = -1
        for i, place in wanted:
            if i == last:
                data = take(len(out[place]))
                data[:] = out[place]
                out[place] = data
            last = i

    def _check(self, group: Sequence[Tuple[int, Any]]) -> None:
        """Compares checksums right after a read, while the processor's cache has the bytes."""
        if not self.check_data:
            return
        for i, data in group:
            if zlib.crc32(data) != self.crcs[i]:
                self._unchanged()  # else that is the error
                raise self._damage("its checksum differs", i)

    def _fill(self, pieces: List[Any], off: int, size: int) -> None:
        """Reads so many bytes at off into buffers, one behind the other."""
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

    def _bytes(self, n: int, off: int) -> memoryview:
        data = bytearray(n)
        self._fill([data], off, n)
        return memoryview(data)

    def _unchanged(self) -> None:
        """Checks that the name still leads to the file that was opened, with its size and time."""
        try:
            now = _identity(os.stat(self.path))
        except FileNotFoundError:
            raise self._damage("the file is gone") from None
        except OSError as e:
            raise self._named(e) from None
        if now != self._identity:
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


def _ascending(offsets: "array[int]") -> bool:
    if np is None:
        return not any(map(gt, offsets, islice(offsets, 1, None)))
    numbers = np.frombuffer(offsets, np.int64)
    return bool((numbers[:-1] <= numbers[1:]).all())


def _identity(s: os.stat_result) -> Tuple[int, int, int, int]:
    return s.st_dev, s.st_ino, s.st_size, s.st_mtime_ns


def _open(path: str) -> int:
    """Opens a file; where the soft limit of open files is reached, raises it to the hard one."""
    try:
        return os.open(path, os.O_RDONLY)
    except OSError as e:
        if e.errno != errno.EMFILE or resource is None:
            raise
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return os.open(path, os.O_RDONLY)
