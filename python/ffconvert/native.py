"""The native helper, python/native/read.c: reads samples and compares their checksums in one call, without Python's lock. It sums what is written, too.

A wheel for Linux carries it as libffconvert.so, and nothing of Python's or of a C library is in it. Where it is not, everything works without it,
more slowly; `missing` says why. FFCONVERT_NATIVE=0 leaves it out, FFCONVERT_NATIVE=FILE takes another one.
"""

from __future__ import annotations

import os
import sys
import zlib
from array import array
from bisect import bisect_right
from itertools import accumulate
from typing import Any, List, Optional, Sequence, cast

from .shard import Shard

# pyright: reportOptionalMemberAccess=false
# A Table is made where there is a library, which takes ctypes.
try:
    import ctypes
except ImportError:  # a Python without libffi
    ctypes = None  # type: ignore[assignment]
try:
    import numpy as np
except ImportError:
    np = cast(Any, None)

__all__ = ["Table", "crc32", "library", "missing"]

_VERSION = 3
#: Bytes from which the helper's checksum is faster than zlib's: a call takes 0.3 µs.
_WORTH = 4096
_OK = 0


if ctypes is not None:
    class _Shard(ctypes.Structure):
        _fields_ = [("n", ctypes.c_int64), ("header", ctypes.c_void_p), ("path", ctypes.c_char_p), ("identity", ctypes.c_int64 * 4),
                    ("fd", ctypes.c_int64)]

    class _Table(ctypes.Structure):
        _fields_ = [("shards", ctypes.c_int64), ("shard", ctypes.c_void_p), ("starts", ctypes.c_void_p)]


#: The helper, a ctypes.CDLL, None where there is none.
library: Any = None
#: Why there is none, as "libffconvert.so: …"; "" where there is one.
missing = ""


def _load() -> Any:
    if ctypes is None:
        raise OSError("this Python has no module ctypes")
    given = os.environ.get("FFCONVERT_NATIVE", "")
    if given == "0":
        raise OSError("FFCONVERT_NATIVE=0 leaves it out")
    path = given or os.path.join(os.path.dirname(os.path.abspath(__file__)), "libffconvert.so")
    if not os.path.exists(path):
        raise OSError("%s: it is not there; the wheels for Linux on x86_64 and aarch64 have it" % path)
    if sys.byteorder != "little":
        raise OSError("%s: it is for little-endian machines" % path)
    lib = ctypes.CDLL(path)  # a call of it releases Python's lock
    pointer, number = ctypes.c_void_p, ctypes.c_int64
    for name, arguments in (("version", []), ("crc32", [ctypes.c_char_p, number, number]), ("open", [pointer, number]), ("close", [pointer]),
                            ("find", [pointer, pointer, number, number, pointer]), ("read", [pointer, pointer, number, pointer, number])):
        function = getattr(lib, "ffconvert_" + name)
        function.restype, function.argtypes = number, arguments
    if lib.ffconvert_version() != _VERSION:
        raise OSError("%s: its version is %d, this package wants %d" % (path, lib.ffconvert_version(), _VERSION))
    return lib


try:
    library = _load()
except (OSError, AttributeError) as e:
    missing = str(e)


def crc32(data: Any, before: int = 0) -> int:
    """As zlib.crc32: the checksum of bytes that follow others. The helper sums only what is of the type bytes, and worth a call of it."""
    if library is None or type(data) is not bytes or len(data) < _WORTH:
        return zlib.crc32(data, before)
    return library.ffconvert_crc32(data, len(data), before)  # type: ignore[no-any-return]


class Table:
    """Shards, as the helper has them. Any number of threads may read at once; files stay open and mapped until the last of them has.

    It maps headers by itself: the map of an OpenShard has no address for it, and takes a second descriptor.
    """

    def __init__(self, shards: Sequence[Shard], check_data: bool) -> None:
        self._shards, self._check = list(shards), check_data
        self._starts = array("q", [0, *accumulate(s.n for s in shards)])
        self._rows = (_Shard * len(self._shards))()
        for row, s in zip(self._rows, self._shards):
            row.n, row.path, row.identity[:], row.fd = s.n, os.fsencode(s.path), s.identity, -1
        self._table = _Table(len(self._shards), ctypes.addressof(self._rows), self._starts.buffer_info()[0])
        self._address, self._close = ctypes.addressof(self._table), library.ffconvert_close

    def __del__(self) -> None:
        self._close(self._address)

    def read(self, wanted: List[int]) -> Optional[List[Any]]:
        """Returns the samples of one or more ascending numbers, as Reader.read does. None if something is wrong: a read without the helper names it."""
        if library is None:
            return None
        n, done = len(wanted), 0
        numbers, found = array("q", wanted), array("q", bytes(24 * n))  # of each sample where it lies in its file and ends in memory, checksum and shard
        places = found.buffer_info()[0]
        while done < n:
            done = library.ffconvert_find(self._address, numbers.buffer_info()[0], n, done, places)
            if done < 0 or done < n and not self._open(wanted[done]):
                return None
        ends = found[1::3].tolist()
        size, starts = ends[-1], [0, *ends[:-1]]
        try:
            memory: Any = bytearray(size) if np is None else np.empty(size, np.uint8)
        except MemoryError:
            return None
        address = memory.ctypes.data if np is not None else ctypes.addressof((ctypes.c_char * size).from_buffer(memory)) if size else 0
        if library.ffconvert_read(self._address, places, n, address, self._check) != _OK:
            return None
        if np is None:
            view = memoryview(memory)
            return [bytes(view[a:b]) for a, b in zip(starts, ends)]
        return [memory[a:b] for a, b in zip(starts, ends)]

    def _open(self, number: int) -> bool:
        """Opens the shard of a sample."""
        k = bisect_right(self._starts, number) - 1
        fd = self._shards[k].file().fd
        self._rows[k].identity[:] = self._shards[k].identity  # of a copy it was not known
        return library.ffconvert_open(ctypes.addressof(self._rows[k]), fd) == _OK  # type: ignore[no-any-return]
