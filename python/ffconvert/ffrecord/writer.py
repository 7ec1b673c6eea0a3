"""Writes an FFRecord file: docs/format.md.

>>> with FileWriter("test.ffr", 2) as writer:
...     writer.write_one(b"hello")
...     writer.write_one(b"")
"""

from __future__ import annotations

import os
import struct
import sys
import warnings
from array import array
from operator import index as _index
from typing import Any, Optional, Union

from ..native import crc32
from ..reader import Path

__all__ = ["FileWriter", "UNFINISHED"]

#: What a file begins with until it is whole: no reader takes it for a number of samples.
UNFINISHED = b"\x01\0\0\0" + 8 * b"\xff"

_HEAD = 12
#: Bytes that are collected for one write.
_COLLECTED = 1 << 20


class FileWriter:
    """Writes the n samples of a file whose name ends in .ffr; one that is there is replaced.

    Until close has returned, the file begins with UNFINISHED, and readers refuse it: that is what a stopped program, an error, or another
    number of samples than n leaves. Once something has failed, the first close fails, too. A writer belongs to one thread of one process. As a context it
    closes, unless an exception ends it: then the file is left unfinished.
    """

    def __init__(self, fname: Path, n: int) -> None:
        self._fd = -1
        #: The name of the file.
        self.fname: str = os.fsdecode(fname)
        #: Number of samples that the file will have.
        self.n: int = _index(n)
        #: Number of samples that were written.
        self.count = 0
        if os.path.splitext(self.fname)[1] != ".ffr":
            raise ValueError("%s: an FFRecord file has a name that ends in .ffr: give it one, readers of directories look for it" % self.fname)
        if self.n < 0:
            raise ValueError("%s: %d samples: give the number of samples that the file will have" % (self.fname, self.n))
        self._crcs, self._offsets = array("I"), array("q")
        self._end = _HEAD + 12 * self.n  # of what was given to write
        self._collected = bytearray()    # its last bytes, not written yet
        self._error: Optional[Exception] = None
        self._process = os.getpid()
        self._fd = os.open(self.fname, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o666)
        try:
            self._write(UNFINISHED, 0)
        except BaseException:
            self._release()
            raise

    def write_one(self, data: Any) -> None:
        """Writes a sample: bytes, bytearray, memoryview, or an array, of which all bytes are written, in C order, whatever its type and shape.

        ValueError if there are n already. An OSError may be that of an earlier sample. After a TypeError another sample can take the place.
        """
        if self._fd < 0:
            raise ValueError("%s: the writer is closed" % self.fname)
        if self._error is not None:
            raise self._error
        try:
            sample = data if type(data) is bytes else _bytes_of(data)
        except TypeError as e:
            raise TypeError("%s: sample %d is of the type %s: want bytes, bytearray, memoryview or a numpy array"
                            % (self.fname, self.count, type(data).__name__)) from e
        if self.count == self.n:
            self._error = ValueError("%s: sample %d, and the writer was made for %d: the file is left unfinished, write it again with the right number"
                                     % (self.fname, self.count, self.n))
            raise self._error
        try:
            self._append(sample)
        except BaseException as e:
            self._error = e if isinstance(e, Exception) else ValueError("%s: the write of sample %d was interrupted" % (self.fname, len(self._crcs) - 1))
            raise

    def _append(self, sample: Union[bytes, memoryview]) -> None:
        self._crcs.append(crc32(sample))
        self._offsets.append(self._end)
        self._end += len(sample)
        self.count += 1
        if len(sample) < _COLLECTED:
            self._collected += sample
            if len(self._collected) >= _COLLECTED:
                self._flush(self._end)
        else:
            self._flush(self._end - len(sample))
            self._write(sample, self._end - len(sample))

    def close(self) -> None:
        """Makes the file whole: writes the tables, waits until all is on the device, and writes the head last. ValueError if samples are missing.
        After that, and where it has failed, calls do nothing."""
        if self._fd < 0:
            return
        try:
            if self._error is not None:
                raise self._error
            if self.count != self.n:
                raise ValueError("%s: %d of %d samples were written: the file is left unfinished, and readers refuse it: write it again with all of "
                                 "them, or make the writer for %d" % (self.fname, self.count, self.n, self.count))
            self._finish()
        finally:
            self._release()

    def _finish(self) -> None:
        if sys.byteorder == "big":
            self._crcs.byteswap()
            self._offsets.byteswap()
        n, crcs, offsets = struct.pack("<q", self.n), self._crcs.tobytes(), self._offsets.tobytes()
        checksum = crc32(offsets, crc32(crcs, crc32(n)))
        self._flush(self._end)
        self._write(crcs, _HEAD)
        self._write(offsets, _HEAD + len(crcs))
        try:
            os.fsync(self._fd)
        except OSError as e:
            raise self._named(e) from None
        self._write(struct.pack("<I", checksum) + n, 0)

    def _flush(self, end: int) -> None:
        """Writes what was collected; it ends at that byte."""
        self._write(self._collected, end - len(self._collected))
        self._collected = bytearray()

    def _write(self, data: Any, at: int) -> None:
        view = memoryview(data)
        try:
            while len(view):  # 2 GiB are written at once at most
                done = os.pwrite(self._fd, view, at)
                view, at = view[done:], at + done
        except OSError as e:
            raise self._named(e) from None

    def _named(self, e: OSError) -> OSError:
        return OSError(e.errno, e.strerror, self.fname)

    def _release(self) -> None:
        fd, self._fd = self._fd, -1
        if fd >= 0:
            try:
                os.close(fd)
            except OSError as e:
                raise self._named(e) from None

    def __enter__(self) -> "FileWriter":
        return self

    def __exit__(self, kind: Any, *exception: Any) -> None:
        if kind is None:
            self.close()
        else:
            self._release()

    def __reduce__(self) -> Any:
        raise TypeError("%s: a writer cannot be copied, nor sent to another process" % self.fname)

    def __del__(self) -> None:
        if self._fd < 0:
            return
        if self._process != os.getpid():  # the file is that of the process which forked
            self._release()
        elif self._error is None and self.count == self.n:
            self.close()
        else:
            self._release()
            if self._error is None:  # else it was raised
                warnings.warn("%s: its writer was not closed, and the file is left unfinished, with %d of %d samples" % (self.fname, self.count, self.n),
                              ResourceWarning)


def _bytes_of(data: Any) -> memoryview:
    """All bytes of a buffer. TypeError if it is none."""
    view = memoryview(data)
    if not view.nbytes:
        return memoryview(b"")
    if view.c_contiguous:
        try:
            return view.cast("B")
        except TypeError:  # memoryview does not know the type of its elements
            pass
    return memoryview(view.tobytes())
