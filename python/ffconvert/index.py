"""The keys in index/PART_00000.arrow, an Arrow IPC file that lies beside each shard: docs/reading.md.

The file may be hostile. Its CRC-32 is compared with the manifest; then no offset or length in it is believed.
"""

from __future__ import annotations

import os
import struct
import sys
import zlib
from array import array
from bisect import bisect_left, bisect_right
from contextlib import contextmanager
from itertools import accumulate
from typing import Any, BinaryIO, Iterator, List, NamedTuple, Optional, Tuple

from .errors import DamageError
from .files import open_regular
from .manifest import Entry

__all__ = ["Index"]

_BLOCK = 1 << 20
_ROWS = 4096  # rows that are read at once, fewer if their keys have more than a block
_META = 16 << 20  # bytes of the metadata of a message
_COLUMNS = 1000
#: Buffers of a column by the kind of its type in Schema.fbs: null, integer, float, bytes, text, bool.
_BUFFERS = {1: 0, 2: 2, 3: 2, 4: 3, 5: 3, 6: 2}
_TEXT = 5
_SCHEMA, _BATCH = 1, 3  # kinds of messages


class _Rows(NamedTuple):
    """Consecutive rows of a shard, from row number first on. Key i is text from ends[i] - base to ends[i + 1] - base."""

    first: int
    ends: "array[int]"
    base: int
    text: bytes

    def key(self, i: int) -> bytes:
        return self.text[self.ends[i] - self.base:self.ends[i + 1] - self.base]


class _Batch(NamedTuple):
    """Where the keys of a batch lie in the file: their ends, each 4 bytes, and their text."""

    rows: int
    ends: int
    text: int
    size: int


class _Checked(NamedTuple):
    """What was read of a file whose checksum was right."""

    identity: Tuple[int, ...]
    keyed: bool
    batches: List[_Batch]
    starts: List[int]  # the first row of each batch, and the number of rows


class Index:
    """Where the keys of a shard are. It holds no file, and may be used by any number of threads."""

    def __init__(self, path: str, shard: Entry) -> None:
        self.path, self.shard = path, shard
        self._checked: Optional[_Checked] = None  # set whole, since threads share it

    def keyed(self) -> bool:
        """Whether samples have keys."""
        with self._open() as (_, checked):
            return checked.keyed

    def keys(self) -> Iterator[str]:
        """The keys of all samples, in order; none if they have none."""
        with self._open() as (f, checked):
            for rows in self._rows(f, checked):
                for i in range(len(rows.ends) - 1):
                    yield str(rows.key(i), "utf-8")

    def find(self, key: str) -> List[int]:
        """The samples that have a key. All keys are read."""
        want, found = key.encode(), []
        with self._open() as (f, checked):
            for rows in self._rows(f, checked):
                at = rows.text.find(want)
                while at >= 0:
                    i = bisect_left(rows.ends, at + rows.base)
                    while i < len(rows.ends) - 1 and rows.ends[i] == at + rows.base:  # empty keys begin there, too
                        if rows.ends[i + 1] - rows.ends[i] == len(want):
                            found.append(rows.first + i)
                        i += 1
                    at = rows.text.find(want, at + 1)
        return found

    @contextmanager
    def _open(self) -> Iterator[Tuple[BinaryIO, _Checked]]:
        """Opens the file, and checks it unless it is the one that was checked last. What is wrong with it is a DamageError."""
        with os.fdopen(open_regular(self.path, follow=False), "rb", buffering=0) as f:
            found = os.fstat(f.fileno())
            identity = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
            try:
                checked = self._checked
                if checked is None or checked.identity != identity:
                    checked = self._checked = self._check(f, identity)
                yield f, checked
            except (ValueError, LookupError, struct.error) as e:
                raise DamageError("%s: not the index of a shard, or damaged: %s" % (self.path, e), self.path) from None

    def _check(self, f: Any, identity: Tuple[int, ...]) -> _Checked:
        size = identity[2]
        if size != self.shard.index_bytes:
            raise ValueError("it has %d bytes, %d by manifest.json" % (size, self.shard.index_bytes))
        crc, block = 0, bytearray(min(size, _BLOCK))
        while n := f.readinto(block):
            crc = zlib.crc32(memoryview(block)[:n], crc)
        if crc != self.shard.index_crc:
            raise ValueError("its checksum differs from that in manifest.json")
        if _read(f, 0, 8) != b"ARROW1\0\0":
            raise ValueError("it is not an Arrow file")
        at, schema, keyed = 8, None, False
        batches: List[_Batch] = []
        rows = 0
        while rows < self.shard.samples:
            message, body, length = _message(f, at, size)
            if schema is None:
                schema = _key_column(message)
                keyed = schema[1] >= 0
                if not keyed:
                    break
            else:
                batches.append(_batch(message, schema, body, length))
                rows += batches[-1].rows
            at = body + length
        return _Checked(identity, keyed, batches, [0, *accumulate(b.rows for b in batches)])

    def _rows(self, f: Any, checked: _Checked) -> Iterator[_Rows]:
        """Reads all rows that have keys, some at a time."""
        first, end = 0, self.shard.samples if checked.keyed else 0
        while first < end:
            k = bisect_right(checked.starts, first) - 1
            batch, at = checked.batches[k], first - checked.starts[k]
            n = min(_ROWS, batch.rows - at, end - first)
            ends = array("i", _read(f, batch.ends + 4 * at, 4 * (n + 1)))
            if sys.byteorder == "big":
                ends.byteswap()
            while n > 1 and ends[n] - ends[0] > _BLOCK:
                n //= 2
            ends = ends[:n + 1]
            if ends[0] < 0 or ends[n] > batch.size or sorted(ends) != list(ends):
                raise ValueError("the keys of row %d lie outside of their batch" % first)
            yield _Rows(first, ends, ends[0], _read(f, batch.text + ends[0], ends[n] - ends[0]))
            first += n


def _read(f: Any, off: int, size: int) -> bytes:
    f.seek(off)
    data: bytes = f.read(size)
    if len(data) != size:
        raise ValueError("it ends at byte %d" % (off + len(data)))
    return data


class _Table:
    """A table of a flatbuffer, https://flatbuffers.dev/internals: a vtable says where the member of each slot lies."""

    def __init__(self, data: bytes, at: int) -> None:
        self.data, self.pos = data, at
        self.vtable = at - self.get("<i", at)
        self.size = self.get("<H", self.vtable)

    def get(self, form: str, at: int) -> int:
        if at < 0:  # struct would count from the end
            raise ValueError("an offset leads out of its metadata")
        number: int = struct.unpack_from(form, self.data, at)[0]
        return number

    def at(self, slot: int) -> int:
        """Where a member lies, 0 if there is none."""
        offset = self.get("<H", self.vtable + slot) if slot < self.size else 0
        return self.pos + offset if offset else 0

    def number(self, form: str, slot: int) -> int:
        at = self.at(slot)
        return self.get(form, at) if at else 0

    def to(self, at: int) -> int:
        """Where an offset leads."""
        return at + self.get("<I", at)

    def vector(self, slot: int) -> Tuple[int, int]:
        """Where the elements of a list begin, and how many there are."""
        at = self.at(slot)
        if not at:
            return 0, 0
        at = self.to(at)
        n = self.get("<I", at)
        if n > 3 * _COLUMNS:
            raise ValueError("a list of %d elements" % n)
        return at + 4, n


def _message(f: Any, at: int, size: int) -> Tuple[_Table, int, int]:
    """Reads the message at a byte of the file: its metadata, the byte where its body begins, and the size of the body."""
    mark, length = struct.unpack("<II", _read(f, at, 8))
    if mark != 0xFFFFFFFF or not 0 < length <= min(_META, size - at):
        raise ValueError("no message at byte %d" % at)
    data = _read(f, at + 8, length)
    message = _Table(data, struct.unpack_from("<I", data)[0])
    body = message.number("<q", 10)
    if not 0 <= body <= size - at - 8 - length:
        raise ValueError("a body of %d bytes at byte %d" % (body, at))
    return message, at + 8 + length, body


def _key_column(message: _Table) -> Tuple[int, int]:
    """From a schema: the number of buffers of a batch, and which of them has the ends of keys, -1 if there are no keys."""
    if message.number("<B", 6) != _SCHEMA:
        raise ValueError("it does not begin with a schema")
    schema = _Table(message.data, message.to(message.at(8)))
    if schema.number("<h", 4):
        raise ValueError("its numbers are big-endian")
    first, columns = schema.vector(6)
    buffers, key = 0, -1
    for i in range(columns):
        field = _Table(message.data, schema.to(first + 4 * i))
        kind = field.number("<B", 8)
        name, length = field.vector(4)
        if kind not in _BUFFERS or field.at(12):
            raise ValueError("a column of the type %d, or with a dictionary" % kind)
        if message.data[name:name + length] == b"key":
            if kind != _TEXT or key >= 0:
                raise ValueError("its keys are not texts, or there twice")
            key = buffers + 1
        buffers += _BUFFERS[kind]
    return buffers, key


def _batch(message: _Table, schema: Tuple[int, int], body: int, size: int) -> _Batch:
    buffers, key = schema
    if message.number("<B", 6) != _BATCH:
        raise ValueError("it has too few rows")
    batch = _Table(message.data, message.to(message.at(8)))
    rows = batch.number("<q", 4)
    first, n = batch.vector(8)
    if rows < 1 or n != buffers or batch.at(10):
        raise ValueError("a batch of %d rows in %d buffers, or compressed" % (rows, n))
    places = []
    for i in (key, key + 1):
        off, length = batch.get("<q", first + 16 * i), batch.get("<q", first + 16 * i + 8)
        if off < 0 or length < 0 or off > size or length > size - off:
            raise ValueError("a buffer lies outside of its batch")
        places.append((body + off, length))
    (ends, ends_size), (text, text_size) = places
    if ends_size // 4 <= rows:
        raise ValueError("a batch of %d rows has too few ends of keys" % rows)
    return _Batch(rows, ends, text, text_size)
