"""Finds samples by their keys: in the table of keys that ffconvert makes, or else in the indexes of all shards.

The table, .ffconvert/keys, is described in dataset/lookup/table.go; nothing of it is believed before the index has the key.
"""

from __future__ import annotations

import os
import struct
import sys
import zlib
from array import array
from bisect import bisect_left, bisect_right
from hashlib import sha256
from itertools import accumulate
from typing import Iterator, List, NamedTuple, Optional, Sequence

from .errors import DamageError
from .files import open_regular
from .index import Index
from .manifest import Entry, read_manifest

__all__ = ["Keys"]

_MAGIC = b"FFKEYS\0\2"
_PAGE = 4096
_ENTRIES = 511  # of a page: 8 bytes each; then its number and its CRC-32
_MASK = (1 << 64) - 1


class Keys:
    """The keys of the samples of files and directories. shards has the number of samples of each shard that was opened.

    A search holds one page of a table, or 4,096 rows of an index. What indexes say of themselves is kept, some 100 bytes for 8,192 samples.
    """

    def __init__(self, files: Sequence[str], shards: Sequence[int]) -> None:
        self._groups: List[_Group] = []
        first = 0
        for path in files:
            group = _group(path, first)
            self._groups.append(group)
            first += sum(group.samples)
        if [n for group in self._groups for n in group.samples] != list(shards):
            raise DamageError("%s: the manifests have other shards than were opened" % ", ".join(files[:3]))

    def find(self, key: str) -> List[int]:
        """The numbers of the samples that have a key, in order."""
        return [n for group in self._groups for n in group.find(key)]

    def number(self, key: str) -> int:
        """The number of the sample that has a key. It is a KeyError if there is none, or more than one."""
        found = self.find(key)
        if len(found) == 1:
            return found[0]
        if found:
            raise KeyError("%r is the key of %d samples: %s%s; choose one by its number"
                           % (key, len(found), ", ".join(map(str, found[:5])), " …" if len(found) > 5 else ""))
        for group in self._groups:
            if not group.indexes[0].keyed():
                raise KeyError("%r: the samples of %s have no keys, only numbers" % (key, group.directory))
        raise KeyError("%r: no sample has this key" % key)

    def __iter__(self) -> Iterator[str]:
        """The keys of all samples, in order."""
        for group in self._groups:
            for index in group.indexes:
                if not index.keyed():
                    raise LookupError("%s: its samples have no keys, only numbers" % group.directory)
                yield from index.keys()


class _Group(NamedTuple):
    """The shards of a directory, if it is whole, or one of them. Numbers of its samples begin with first."""

    directory: str
    whole: bool
    first: int
    indexes: List[Index]

    @property
    def samples(self) -> List[int]:
        return [index.shard.samples for index in self.indexes]

    def find(self, key: str) -> List[int]:
        if self.whole:
            try:
                return self._look_up(key)
            except (OSError, ValueError, DamageError):
                pass  # there is no table, or it is not that of this dataset: indexes have the keys, too
        found, first = [], self.first
        for index in self.indexes:
            found += [first + i for i in index.find(key)]
            first += index.shard.samples
        return found

    def _look_up(self, key: str) -> List[int]:
        starts = [0, *accumulate(self.samples)]
        found = []
        for n in _candidates(os.path.join(self.directory, ".ffconvert", "keys"), _identity([i.shard for i in self.indexes]), starts[-1], key):
            k = bisect_right(starts, n) - 1
            if self.indexes[k].key(n - starts[k]) == key:
                found.append(self.first + n)
        return found


def _group(path: str, first: int) -> _Group:
    whole = os.path.isdir(path)
    directory = path if whole else os.path.dirname(path)
    manifest = read_manifest(directory)
    if manifest is None:
        raise LookupError("%s: files without a manifest.json have no keys, only numbers: \"ffconvert ffr %s OUT\" makes a dataset of them" % (path, directory))
    shards = [s for s in manifest.shards if whole or s.name == os.path.basename(path)]
    return _Group(directory, whole, first, [Index(os.path.join(directory, "index", s.name[:-4] + ".arrow"), s) for s in shards])


def _identity(shards: Sequence[Entry]) -> bytes:
    """The SHA-256 by which a table of keys says which dataset it is of."""
    return sha256("".join("\"/index/%s.arrow\" %d %d %08x\n" % (s.name[:-4], s.samples, s.index_bytes, s.index_crc) for s in shards).encode()).digest()


def _candidates(path: str, identity: bytes, samples: int, key: str) -> Iterator[int]:
    """Yields the numbers of samples that may have a key, in order. A table that is damaged, or of another dataset, is a ValueError."""
    pages, shift = (samples + _ENTRIES - 1) // _ENTRIES, (samples - 1).bit_length()
    fd = open_regular(path, follow=False)
    try:
        head = os.pread(fd, 52, 0)
        if head[:48] != _MAGIC + identity + struct.pack("<Q", samples) or head[48:] != struct.pack("<I", zlib.crc32(head[:48])) \
                or os.fstat(fd).st_size != _PAGE * (1 + pages):
            raise ValueError("not the table of keys of this dataset")
        least = xxh64(key.encode()) >> shift << shift
        low, high = 0, pages  # pages before low end with entries that are less, pages from high on do not
        while low < high:
            middle = (low + high) // 2
            if _page(fd, middle)[-1] < least:
                low = middle + 1
            else:
                high = middle
        for p in range(low, pages):
            entries = _page(fd, p)[:samples - p * _ENTRIES]
            for entry in entries[bisect_left(entries, least):]:
                if entry >> shift << shift != least:
                    return
                if (n := entry - least) >= samples:
                    raise ValueError("the table of keys is damaged")
                yield n
    finally:
        os.close(fd)


def _page(fd: int, number: int) -> "array[int]":
    data = os.pread(fd, _PAGE, _PAGE * (1 + number))
    if data[8 * _ENTRIES:] != struct.pack("<II", number, zlib.crc32(data[:-4])):
        raise ValueError("the table of keys is damaged")
    entries = array("Q", data[:8 * _ENTRIES])
    if sys.byteorder == "big":
        entries.byteswap()
    return entries


_P1, _P2, _P3, _P4, _P5 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5


def _rotate(x: int, n: int) -> int:
    return (x << n | x >> (64 - n)) & _MASK


def _round(acc: int, lane: int) -> int:
    return _rotate(acc + lane * _P2 & _MASK, 31) * _P1 & _MASK


def xxh64(data: bytes) -> int:
    """The XXH64 of bytes, with the seed 0: https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md."""
    at = 0
    if len(data) >= 32:
        accs = [(_P1 + _P2) & _MASK, _P2, 0, -_P1 & _MASK]
        while at + 32 <= len(data):
            accs = [_round(acc, lane) for acc, lane in zip(accs, struct.unpack_from("<4Q", data, at))]
            at += 32
        h = sum(_rotate(acc, n) for acc, n in zip(accs, (1, 7, 12, 18))) & _MASK
        for acc in accs:
            h = ((h ^ _round(0, acc)) * _P1 + _P4) & _MASK
    else:
        h = _P5
    h = (h + len(data)) & _MASK
    while at + 8 <= len(data):
        h = (_rotate(h ^ _round(0, struct.unpack_from("<Q", data, at)[0]), 27) * _P1 + _P4) & _MASK
        at += 8
    if at + 4 <= len(data):
        h = (_rotate(h ^ struct.unpack_from("<I", data, at)[0] * _P1 & _MASK, 23) * _P2 + _P3) & _MASK
        at += 4
    for byte in data[at:]:
        h = _rotate(h ^ byte * _P5 & _MASK, 11) * _P1 & _MASK
    h = (h ^ h >> 33) * _P2 & _MASK
    h = (h ^ h >> 29) * _P3 & _MASK
    return h ^ h >> 32
