"""FFRecord's reader of files, which is Reader with a few methods more, and its writer, which is in writer.py."""

from __future__ import annotations

import struct
from typing import Any, Iterable, List, Union, cast

from ..reader import Path, Reader
from ..shard import MAX_SAMPLES, OpenShard, Shard
from .writer import FileWriter

try:
    import fcntl
except ImportError:  # not a Unix
    fcntl = cast(Any, None)
try:
    import numpy as np
except ImportError:
    np = cast(Any, None)

__all__ = ["FileReader", "FileWriter", "checkFsAlign"]

#: The request of 3FS that asks whether a file wants aligned reads: _IOR('f', 100, int).
_ALIGNED = 0x80046664


class FileReader(Reader):
    """Reads samples by their numbers, as Reader does: fname is a file, a directory, or a list of files."""

    def __init__(self, fname: Union[Path, Iterable[Path]], check_data: bool = True, *, max_samples: int = MAX_SAMPLES) -> None:
        super().__init__(fname, check_data, max_samples=max_samples)

    @property
    def fnames(self) -> List[str]:
        """The files, those of directories by their names. Empty when the reader is closed."""
        return [shard.path for shard in self._shards]

    @property
    def nfiles(self) -> int:
        """Number of files."""
        return len(self.shards)

    def validate(self) -> None:
        """Reads the headers once more. DamageError if one differs from its checksum, has none, or is not the one that was opened; samples are
        checked when they are read."""
        for i in range(self.nfiles):
            OpenShard(self._shard(i), True).close()

    def get_offsets(self, file_index: int) -> Any:
        """The bytes at which the samples of a file begin, and the size of the file: n+1 int64 in an array, of numpy where it is."""
        offsets = self._shard(file_index).file().offsets()
        return offsets if np is None else np.frombuffer(offsets, np.int64)

    def get_checksums(self, file_index: int) -> Any:
        """The CRC-32 of the samples of a file: n uint32 in an array, of numpy where it is."""
        checksums = self._shard(file_index).file().checksums()
        return checksums if np is None else np.frombuffer(checksums, np.uint32)

    def _shard(self, file_index: int) -> Shard:
        shards = self._shards
        if not shards:
            raise self._without
        if not 0 <= file_index < len(shards):
            raise IndexError("file %d of %d" % (file_index, len(shards)))
        return shards[file_index]


def checkFsAlign(fd: int) -> bool:
    """Whether a descriptor is that of a file of 3FS which wants aligned reads. Nothing here needs to know."""
    if fcntl is None:
        return False
    answer = bytearray(4)
    try:
        fcntl.ioctl(fd, _ALIGNED, answer)
    except (OSError, ValueError):
        return False
    return struct.unpack("=i", answer) == (1,)
