"""manifest.json and meta.json of a dataset: what its shards are, how their records are encoded, which fields and classes they have.

Both may be hostile, and JSON can take twenty times its bytes in memory. So both are taken apart by their lines, as ffconvert writes them, and
no more than what is wanted is decoded. The last line of a manifest has the SHA-256 of those before it; it has the checksum of meta.json.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import zlib
from itertools import islice
from typing import Any, BinaryIO, Dict, Iterator, List, NamedTuple, NoReturn, Optional, Sequence, Set, Tuple

from .errors import DamageError
from .files import open_regular

__all__ = ["Entry", "Manifest", "read_manifest", "read_meta"]

_VERSIONS = range(2, 6)
_SIZE = 1 << 30  # bytes of a manifest; one of a million sources has 300 MB
_META_SIZE = 256 << 20  # bytes of a meta.json; one of a million classes has 60 MB
_MEMBER_SIZE = 8 << 20  # bytes of what is decoded at once
_MEMBER_VALUES = 1 << 18  # of which each takes up to 72 bytes of memory
_MEMBERS = 100  # of meta.json
_TYPES = {"fields": dict, "columns": list, "shape": list, "dtype": str}  # of these
_ENTRY_SIZE = range(100, 1 << 16)  # bytes of a shard in it
_LAST = b'  "sha256": "%s"\n}\n'
_LAST_SIZE = len(_LAST) - 2 + 64
_BLOCK = 1 << 20
_MAX = (1 << 63) - 1


class Entry(NamedTuple):
    """A shard. Sizes are in bytes; header is the CRC-32 of its header, index_crc that of the whole index."""

    name: str
    samples: int
    bytes: int
    header: int
    index_bytes: int
    index_crc: int


class Manifest(NamedTuple):
    """What readers need of a manifest."""

    shards: List[Entry]
    encodings: Set[str]
    meta_bytes: int
    meta_crc: int


def read_manifest(directory: str) -> Optional[Manifest]:
    """Reads the manifest of a directory, None if there is none. One that is damaged is a DamageError."""
    path = os.path.join(directory, "manifest.json")
    try:
        fd = open_regular(path, follow=False)
    except FileNotFoundError:
        return None
    with os.fdopen(fd, "rb") as f:
        try:
            return _Lines(path, f).manifest()
        except (ValueError, LookupError, TypeError, RecursionError) as e:
            raise DamageError("%s: not a manifest of ffconvert, or damaged: %s" % (path, e), path) from None


def read_meta(directory: str, manifest: Manifest, *names: str) -> Dict[str, Any]:
    """Compares the meta.json of a dataset with its manifest, and returns members of it, those that it has; all of them without names. The members
    "classes", a list of texts, and "class_to_idx" may be as large as the file allows."""
    path = os.path.join(directory, "meta.json")
    with os.fdopen(open_regular(path, follow=False), "rb") as f:
        size = os.fstat(f.fileno()).st_size
        if size > _META_SIZE:
            raise DamageError("%s: it has %d bytes, more than %d" % (path, size, _META_SIZE), path)
        if size != manifest.meta_bytes:
            raise DamageError("%s: it has %d bytes, %d by manifest.json" % (path, size, manifest.meta_bytes), path)
        data = f.read(size)
    if zlib.crc32(data) != manifest.meta_crc:
        raise DamageError("%s: its checksum differs from that in manifest.json" % path, path)
    try:
        return _members_of(data, names)
    except (ValueError, RecursionError) as e:
        raise DamageError("%s: not a description of ffconvert, or damaged: %s" % (path, e), path) from None


def _members_of(data: bytes, names: Sequence[str]) -> Dict[str, Any]:
    starts = [m.start() for m in islice(re.finditer(rb'^  "', data, re.M), _MEMBERS)]
    if data[:2] != b"{\n" or data[-3:] != b"\n}\n" or starts[:1] != [2] or len(starts) == _MEMBERS:
        raise ValueError("it is not laid out in lines, or has too many members")
    found: Dict[str, Any] = {}
    size = values = 0
    for start, end in zip(starts, [*(n - 2 for n in starts[1:]), len(data) - 3]):
        name = data[start + 3:start + 100].partition(b'"')[0].decode()
        if names and name not in names:
            continue
        if name in found:
            raise ValueError("%s is there twice" % name)
        if name == "classes":
            found[name] = list(_texts(data[start:end]))
        elif name == "class_to_idx":
            found[name] = _members(list(_pairs(data[start:end])))
        else:
            size, values = size + end - start, values + sum(map(data[start:end].count, b",[{"))
            _check_size(size, values)
            found[name] = _object(b"{" + data[start:end] + b"}")[name]
            if type(found[name]) is not _TYPES.get(name, type(found[name])):
                raise ValueError("its %s are %.30r" % (name, found[name]))
    return found


def _texts(member: bytes) -> Iterator[str]:
    """The texts of a list, one a line."""
    lines = io.BytesIO(member)
    next(lines)
    for line in lines:
        if line == b"  ]":
            return
        text = json.loads(line.rstrip(b",\n"))
        if not isinstance(text, str):
            raise ValueError("a class is %.30r" % (text,))
        yield text
    raise ValueError("its list of classes is cut")


def _pairs(member: bytes) -> Iterator[Tuple[str, int]]:
    """The numbers of an object by their names, one a line."""
    lines = io.BytesIO(member)
    next(lines)
    for line in lines:
        if line == b"  }":
            return
        (name, number), = _object(b"{" + line.rstrip(b",\n") + b"}").items()
        if type(number) is not int:
            raise ValueError("the number of a class is %.30r" % (number,))
        yield name, number
    raise ValueError("its numbers of classes are cut")


def _check_size(size: int, values: int) -> None:
    if size > _MEMBER_SIZE or values > _MEMBER_VALUES:
        raise ValueError("%d values in %d bytes, more than %d in %d" % (values, size, _MEMBER_VALUES, _MEMBER_SIZE))


class _Lines:
    """Reads a manifest. left is the number of bytes before its last line that were not read yet."""

    def __init__(self, path: str, f: BinaryIO) -> None:
        self.path, self.f, self.sum = path, f, hashlib.sha256()
        size = os.fstat(f.fileno()).st_size
        self.left = size - _LAST_SIZE
        if size > _SIZE:
            self.fail("it has %d bytes, more than %d" % (size, _SIZE))

    def fail(self, why: str) -> NoReturn:
        raise DamageError("%s: %s" % (self.path, why), self.path)

    def manifest(self) -> Manifest:
        head = self.head()
        shards: List[Entry] = []
        while True:
            line = self.line()
            if line != b"    {\n":
                break
            shards.append(self.entry())
            if shards[-1].name <= (shards[-2].name if len(shards) > 1 else ""):
                raise ValueError("its shards are not sorted by name")
        if line != b"  ],\n" or not shards:
            raise ValueError("its list of shards is cut")
        self.rest()
        encodings = {e["encoding"] for e in [head["encode"], *head.get("encodes", [])]}
        if not all(isinstance(e, str) for e in encodings):
            raise ValueError("an encoding is not a text")
        return Manifest(shards, encodings, _number(head["meta"], "bytes"), _number(head["meta"], "crc32"))

    def line(self) -> bytes:
        line = self.f.readline(min(_BLOCK, max(0, self.left)))
        self.left -= len(line)
        self.sum.update(line)
        return line

    def head(self) -> Dict[str, Any]:
        """Reads the members before the list of shards, and the line that begins it."""
        lines: List[bytes] = []
        size = values = 0
        while True:
            line = self.line()
            if line == b'  "shards": [\n':
                break
            size += len(line)
            values += sum(map(line.count, b",[{"))
            _check_size(size, values)
            if not line:
                raise ValueError("it has no list of shards")
            lines.append(line)
            if len(lines) == 2:
                self.version(line)
        return _object(b"".join(lines).rstrip(b",\n") + b"\n}")

    def version(self, line: bytes) -> None:
        found = re.fullmatch(rb'  "ffconvert_manifest": ([0-9]{1,9}),\n', line)
        if not found:
            raise ValueError("it does not begin with its version")
        if int(found[1]) not in _VERSIONS:
            self.fail("it is of version %d, and this package reads %d to %d: install the package of the ffconvert that wrote it"
                      % (int(found[1]), _VERSIONS[0], _VERSIONS[-1]))

    def entry(self) -> Entry:
        text = b"{"
        while True:
            line = self.line()
            text += line
            if line in (b"    },\n", b"    }\n"):
                break
            if not line or len(text) > _ENTRY_SIZE[-1]:
                raise ValueError("a shard is cut")
        if len(text) not in _ENTRY_SIZE:
            raise ValueError("a shard is described by %d bytes" % len(text))
        shard = _object(text.rstrip(b",\n"))
        name, index = shard["name"], shard["index"]
        if not isinstance(name, str) or not name.endswith(".ffr") or os.path.basename(name) != name or "\0" in name:
            raise ValueError("a shard is named %.60r" % (name,))
        return Entry(name, _number(shard, "samples"), _number(shard, "bytes"), _number(shard, "header_crc32"), _number(index, "bytes"), _number(index, "crc32"))

    def rest(self) -> None:
        """Reads what follows the shards, and compares the SHA-256 in the last line."""
        while self.left > 0:
            block = self.f.read(min(_BLOCK, self.left))
            if not block:
                break
            self.left -= len(block)
            self.sum.update(block)
        if self.left or self.f.read(_LAST_SIZE) != _LAST % self.sum.hexdigest().encode():
            self.fail("it differs from its checksum, or is cut")


def _object(text: bytes) -> Dict[str, Any]:
    found = json.loads(text, object_pairs_hook=_members)
    if not isinstance(found, dict):
        raise ValueError("not an object")
    return found


def _members(pairs: List[Any]) -> Dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a member is there twice")
    return members


def _number(members: Dict[str, Any], name: str) -> int:
    number = members[name]
    if type(number) is not int or not 0 <= number <= _MAX:
        raise ValueError("%s is %.30r" % (name, number))
    return number
