"""A folder in one FFRecord file: docs/packed.md.

>>> folder = PackedFolder("images.ffr")
>>> folder.list("train")
['cats', 'dogs']
>>> data = folder.read_one("train/cats/1.jpg")
"""

from __future__ import annotations

import os
from pathlib import PurePosixPath
from typing import Any, Iterable, Iterator, List, Optional, Tuple, Union

from .errors import DecodeError
from .names import Tree, read_names
from .reader import Path, Reader

__all__ = ["PackedFolder"]


class PackedFolder:
    """The files of a packed folder, by their paths. It has the methods of ffrecord.PackedFolder, and goes to other processes as a Reader does.

    Paths have slashes; "", "/" and "." are the folder itself. The pickle of the names is not executed. DecodeError if the file is no packed folder; errors of
    reading are those of Reader. Any number of threads may read at once.
    """

    def __init__(self, file: Path, check_data: bool = True) -> None:
        self.reader = Reader(file, check_data)
        try:
            if not self.reader.n:
                raise DecodeError("not a packed folder: it has no samples")
            self._root = read_names(bytes(self.reader.read_one(self.reader.n - 1)), self.reader.n - 1)
        except DecodeError as e:
            self.reader.close()
            raise DecodeError("%s: %s" % (os.fspath(file), e)) from None

    def num_files(self) -> int:
        """Number of files, in all directories."""
        return self.reader.n - 1

    def exists(self, path: Path) -> bool:
        """Whether there is such a file or directory."""
        return self._find(path) is not None

    def is_file(self, path: Path) -> bool:
        """Whether there is such a file."""
        return isinstance(self._find(path), int)

    def is_dir(self, path: Path) -> bool:
        """Whether there is such a directory."""
        return isinstance(self._find(path), dict)

    def list(self, path: Optional[Path] = None, list_file: bool = True, list_dir: bool = True, recursive: bool = False) -> List[str]:
        """The names in a directory, in the order in which they are stored; with recursive the paths below it, from there. list_file and list_dir say whether files and directories
        are among them. FileNotFoundError or NotADirectoryError if it is none."""
        found = self._find("" if path is None else path)
        if found is None:
            raise FileNotFoundError("%s: not in the packed folder" % path)
        if isinstance(found, int):
            raise NotADirectoryError("%s: a file of the packed folder" % path)
        return [name for name, is_file in _walk(found, recursive) if (list_file if is_file else list_dir)]

    def read(self, paths: Iterable[Path]) -> List[Any]:
        """The bytes of files, as Reader.read returns samples. FileNotFoundError or IsADirectoryError if a path is none of a file."""
        return self.reader.read([self._file(path) for path in paths])

    def read_one(self, path: Path) -> Any:
        """The bytes of one file."""
        return self.read([path])[0]

    def close(self) -> None:
        """Closes the file."""
        self.reader.close()

    def __enter__(self) -> "PackedFolder":
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

    def _file(self, path: Path) -> int:
        found = self._find(path)
        if found is None:
            raise FileNotFoundError("%s: not in the packed folder" % path)
        if isinstance(found, dict):
            raise IsADirectoryError("%s: a directory of the packed folder" % path)
        return found

    def _find(self, path: Path) -> Union[Tree, int, None]:
        found: Any = self._root
        for name in PurePosixPath(path).parts:
            if name != "/":
                found = found.get(name) if isinstance(found, dict) else None
        return found  # type: ignore[no-any-return]


def _walk(tree: Tree, recursive: bool) -> Iterator[Tuple[str, bool]]:
    """Paths below a directory, in stored order, and whether each is a file."""
    left: List[Tuple[str, Iterator[Tuple[str, Any]]]] = [("", iter(tree.items()))]
    while left:
        prefix, items = left[-1]
        for name, value in items:
            yield prefix + name, isinstance(value, int)
            if recursive and isinstance(value, dict):
                left.append((prefix + name + "/", iter(value.items())))
                break
        else:
            left.pop()
