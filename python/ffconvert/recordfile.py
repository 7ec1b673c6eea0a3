"""An FFRecord file that is open: docs/format.md.

    checksum u32 · N i64 · checksums u32 × N · offsets i64 × N · samples      (little-endian)
"""

from __future__ import annotations

import os
import struct
import zlib
from itertools import islice
from operator import gt
from typing import Any, Iterator, List, Tuple, cast

from .errors import DamageError
from .files import open_regular

try:
    import numpy as np
except ImportError:
    np = cast(Any, None)

__all__ = ["HEAD", "RecordFile", "fits", "identity"]

#: Bytes of the head: the checksum of the header and N.
HEAD = 12
_BLOCK = 1 << 20


class RecordFile:
    """An open file. Threads and forked processes may share it: a positioned read changes nothing."""

    def __init__(self, path: str, follow: bool) -> None:
        self.path, self.fd = path, -1
        self.fd = open_regular(path, follow)
        #: What the system said of the file when it was opened.
        self.found = os.fstat(self.fd)
        self.size: int = self.found.st_size

    def head(self) -> Tuple[int, int]:
        """Returns N, and the checksum of the header as it is stored. DamageError if the file cannot have such a header: N is compared with its
        size, and with the first offset. So a sparse file, which may claim any N, fails before its header is read."""
        if self.size < HEAD:
            raise self.damage("not an FFRecord file, or cut: it has %d bytes" % self.size)
        head = bytearray(HEAD)
        self.fill([head], 0, HEAD)
        checksum, n = struct.unpack("<Iq", head)
        if head == b"\x01\0\0\0" + 8 * b"\xff" or head == HEAD * b"\0":
            raise self.damage("not finished: its writer was stopped")
        if not fits(n, self.size):
            raise self.damage("not an FFRecord file, or cut: its head says %d samples" % n)
        if n:
            first = bytearray(8)
            self.fill([first], HEAD + 4 * n, 8)
            if struct.unpack("<q", first)[0] != HEAD + 12 * n:
                raise self.damage("the checksum of the header differs, or the file is cut: its first sample is not behind a header of %d samples" % n)
        return n, checksum

    def header(self, n: int, checksum: int, checked: bool) -> int:
        """Reads the header of n samples, and returns its CRC-32, which must be checksum; one that is 0 was not written, which is an error if checked.
        The offsets must be in order and in the file."""
        crc, before, ordered = self.crc(4, 8 + 4 * n), HEAD + 12 * n, True
        for block in self._blocks(HEAD + 4 * n, 8 * n):
            crc = zlib.crc32(block, crc)
            offsets = np.frombuffer(block, "<i8") if np is not None else struct.unpack("<%dq" % (len(block) // 8), block)
            ordered = ordered and before <= offsets[0] and _ascending(offsets)
            before = int(offsets[-1])
        if crc != checksum and (checksum or checked):
            raise self.damage("the checksum of the header differs" if checksum else "the header was written without a checksum, "
                              "check_data=False accepts it")
        if not ordered or before > self.size:
            raise self.damage("the offsets of the header are out of order, or the file is cut")
        return crc

    def last(self, n: int) -> Tuple[int, int]:
        """Where the last of n samples begins, and its checksum."""
        crc, offset = bytearray(4), bytearray(8)
        self.fill([crc], HEAD + 4 * n - 4, 4)
        self.fill([offset], HEAD + 12 * n - 8, 8)
        return struct.unpack("<q", offset)[0], struct.unpack("<I", crc)[0]

    def crc(self, off: int, size: int) -> int:
        """The CRC-32 of a part of the file."""
        crc = 0
        for block in self._blocks(off, size):
            crc = zlib.crc32(block, crc)
        return crc

    def _blocks(self, off: int, size: int) -> Iterator[memoryview]:
        """Reads a part of the file into memory that each block shares with the one before."""
        memory = memoryview(bytearray(min(size, _BLOCK)))
        for at in range(0, size, _BLOCK):
            block = memory[:size - at]
            self.fill([block], off + at, len(block))
            yield block

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
                        raise self.damage("the file ends at byte %d: it was cut since it was opened" % off)
                    view, off = view[got:], off + got
        except OSError as e:
            raise self.named(e) from None

    def damage(self, what: str, sample: int = -1, off: int = 0) -> DamageError:
        """The error of a file, or of a sample that begins at byte off."""
        if sample < 0:
            return DamageError("%s: %s" % (self.path, what), self.path)
        return DamageError("%s: sample %d at byte %d: %s" % (self.path, sample, off, what), self.path, sample, off)

    def named(self, e: OSError) -> OSError:
        """The same error with the name of the file."""
        return OSError(e.errno, e.strerror, self.path)

    def close(self) -> None:
        """Closes the file, once."""
        fd, self.fd = self.fd, -1
        if fd >= 0:
            os.close(fd)

    def __del__(self) -> None:
        self.close()


def fits(n: int, size: int) -> bool:
    """Whether a file of so many bytes may have n samples."""
    return 0 <= n <= (size - HEAD) // 12 and (n > 0 or size == HEAD)


def identity(found: os.stat_result, growing: bool) -> Tuple[int, int, int, int]:
    """What says that a file is the same one: device, inode, size, and time of change in ns, -1 for one that is growing."""
    return found.st_dev, found.st_ino, found.st_size, -1 if growing else found.st_mtime_ns


def _ascending(numbers: Any) -> bool:
    return not any(map(gt, numbers, islice(numbers, 1, None))) if np is None else bool((numbers[:-1] <= numbers[1:]).all())
