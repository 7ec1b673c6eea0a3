"""Finds samples by their keys, in the indexes of all shards."""

from __future__ import annotations

import os
from typing import Iterator, List, NamedTuple, Sequence

from .errors import DamageError
from .index import Index
from .manifest import read_manifest

__all__ = ["Keys"]


class Keys:
    """The keys of the samples of files and directories. shards has the number of samples of each shard that was opened.

    A search holds 4,096 rows of an index. What indexes say of themselves is kept, some 100 bytes for 8,192 samples.
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

    def why_none(self) -> str:
        """Why no sample has a key that is looked for."""
        for group in self._groups:
            if not group.indexes[0].keyed():
                return "the samples of %s have no keys, only numbers" % group.directory
        return "no sample has this key"

    def __iter__(self) -> Iterator[str]:
        """The keys of all samples, in order."""
        for group in self._groups:
            for index in group.indexes:
                if not index.keyed():
                    raise LookupError("%s: its samples have no keys, only numbers" % group.directory)
                yield from index.keys()


class _Group(NamedTuple):
    """The shards of a directory, or one of them. Numbers of its samples begin with first."""

    directory: str
    first: int
    indexes: List[Index]

    @property
    def samples(self) -> List[int]:
        return [index.shard.samples for index in self.indexes]

    def find(self, key: str) -> List[int]:
        found, first = [], self.first
        for index in self.indexes:
            found += [first + i for i in index.find(key)]
            first += index.shard.samples
        return found


def _group(path: str, first: int) -> _Group:
    whole = os.path.isdir(path)
    directory = path if whole else os.path.dirname(path)
    manifest = read_manifest(directory)
    if manifest is None:
        raise LookupError("%s: files without a manifest.json have no keys, only numbers: \"ffconvert ffr %s OUT\" makes a dataset of them" % (path, directory))
    shards = [s for s in manifest.shards if whole or s.name == os.path.basename(path)]
    return _Group(directory, first, [Index(os.path.join(directory, "index", s.name[:-4] + ".arrow"), s) for s in shards])
