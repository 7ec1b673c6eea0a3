"""Shards of a dataset in an object store, by their copies in a cache: dataset/cached/doc.go has what is there."""

from __future__ import annotations

import os
from itertools import accumulate
from typing import Any, Dict, List, Optional, Sequence, Tuple

from .files import open_regular, stat_regular
from .manifest import Entry
from .recordfile import identity
from .remote import AT_ONCE, Remote
from .shard import OpenShard, Shard

__all__ = ["CopiedShard", "enter"]


class _Descriptor:
    """A file that is closed with the last reference to it."""

    def __init__(self, fd: int) -> None:
        self.fd = fd

    def __del__(self) -> None:
        os.close(self.fd)


class CopiedShard(Shard):
    """A shard of which the copy has some samples, or all. number is its number in the dataset, first that of its first sample there."""

    def __init__(self, remote: Remote, number: int, first: int, entry: Entry, check_data: bool) -> None:
        self._url = remote.url.rstrip("/") + "/" + entry.name
        self.path, self.n, self.header, self.size = os.path.join(remote.path, entry.name + ".copy"), entry.samples, entry.header, entry.bytes
        self.check_data, self.follow, self.growing = check_data, False, True
        self.identity = (0, 0, 0, 0)  # until the copy is there
        self.remote, self.number, self.first = remote, number, first
        self._file = {}
        self._here: Dict[str, Optional[_Descriptor]] = {}  # "": the file that says which samples are here; once the header is there

    @property
    def shown(self) -> str:
        """Its URL."""
        return self._url

    def entered(self, kept: bool) -> None:
        """The header is in the copy. kept: so will be all samples."""
        if self.is_entered:
            return
        self.identity = identity(stat_regular(self.path, follow=False), True)
        # Threads that are first at the same time open it each, and one of these files stays: as Shard.file does.
        self._here.setdefault("", _Descriptor(open_regular(self.path[:-len("copy")] + "have", follow=False)) if kept else None)

    def file(self) -> OpenShard:
        """The open copy, with the header in it."""
        if not self.is_entered:
            enter([self])
        return super().file()

    @property
    def kept(self) -> bool:
        """Whether all samples will be in the copy, if the disk has room."""
        return self._here.get("") is not None

    def whole(self) -> bool:
        """Whether all samples are here."""
        here = self._here.get("")
        return here is not None and os.pread(here.fd, 1, 0) == b"\x01"

    def lacks(self, numbers: Sequence[int]) -> List[int]:
        """Those of samples that are not here."""
        here = self._here.get("")
        if here is None:
            return list(numbers)
        if self.whole():
            return []
        return [i for i in numbers if not int.from_bytes(os.pread(here.fd, 1, 1 + (i >> 3)), "little") >> (i & 7) & 1]

    @property
    def is_entered(self) -> bool:
        """Whether the header is in the copy."""
        return "" in self._here


def enter(shards: Sequence[CopiedShard]) -> None:
    """Makes the headers of shards be in their copies, all at once."""
    for remote in {shard.remote for shard in shards}:
        some = [shard for shard in shards if shard.remote is remote and not shard.is_entered]
        if some:
            for shard, kept in zip(some, remote.shards([shard.number for shard in some])):
                shard.entered(kept)


def bring(jobs: Sequence[Tuple[CopiedShard, List[int]]]) -> List[Tuple[CopiedShard, List[int]]]:
    """Makes samples be in their copies, of shards that are kept, and returns those that are not here then."""
    lacking = [(shard, shard.lacks(numbers)) for shard, numbers in jobs]
    for remote in {shard.remote for shard, some in lacking if some and shard.kept}:
        remote.here([shard.first + i for shard, some in lacking if shard.remote is remote and shard.kept for i in some])
    lacking = [(shard, shard.lacks(some) if shard.kept else some) for shard, some in lacking]
    return [(shard, some) for shard, some in lacking if some]


def fetch(jobs: Sequence[Tuple[CopiedShard, List[int]]], memory: Any) -> List[Any]:
    """Samples from the object store, whose numbers in each shard ascend, and the shards, too. memory makes memory of so many bytes."""
    samples: List[Any] = []
    for remote in dict.fromkeys(shard.remote for shard, _ in jobs):
        numbers: List[int] = []
        sizes: List[int] = []
        for shard, some in jobs:
            if shard.remote is remote:
                numbers += [shard.first + i for i in some]
                places, _ = shard.file().find(some)
                sizes += [end - start for _, start, end, _ in places]
        data = memory(sum(sizes))
        at = 0
        for k in range(0, len(numbers), AT_ONCE):
            end = at + sum(sizes[k:k + AT_ONCE])
            remote.read(numbers[k:k + AT_ONCE], data[at:end])
            at = end
        ends = list(accumulate(sizes))
        samples += [data[end - size:end] for size, end in zip(sizes, ends)]
    return samples
