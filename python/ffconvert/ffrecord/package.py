"""Packs a folder into one FFRecord file: docs/packed.md.

>>> pack_folder("images", "images.ffr")
>>> PackedFolder("images.ffr").read_one("train/cats/1.jpg")
"""

from __future__ import annotations

import os
import pickle
import stat
from collections import OrderedDict
from typing import Any, List, Tuple

from ..files import open_regular
from ..packed import PackedFolder
from ..reader import Path
from .writer import FileWriter

__all__ = ["PackedFolder", "pack_folder"]

_PREFIX = b"piouhjgbr"


def pack_folder(folder: Path, out_file: Path, verbose: bool = False) -> None:
    """Writes the files of a folder, in all directories below it, to out_file, of which FileWriter makes the same demands; PackedFolder reads it.

    verbose prints each file. Links are followed. What is neither a file nor a directory, a name that is not UTF-8, a directory that a link leads back to,
    and out_file in the folder are errors, before out_file is touched. `ffconvert pack` does the same, several files at once, and checks what it wrote.
    """
    root = os.path.abspath(os.fsdecode(folder))
    if not os.path.isdir(root):
        raise NotADirectoryError("%s: not a directory: give the folder that is to be packed" % root)
    paths: List[str] = []
    names = _PREFIX + pickle.dumps(_names_of(root, _identity(os.stat(out_file)) if os.path.exists(out_file) else None, paths, ()), 4)
    width = len(str(len(paths)))
    with FileWriter(out_file, len(paths) + 1) as writer:
        for i, path in enumerate(paths):
            with open(open_regular(path, True), "rb") as f:
                writer.write_one(f.read())
            if verbose:
                print("%0*d/%d %s" % (width, i, len(paths), path), flush=True)
        writer.write_one(names)


def _names_of(directory: str, output: Any, paths: List[str], above: Tuple[Any, ...]) -> Any:
    """The names in a directory, in the order of their code points, with the number of a file or the names in a directory. Appends the files to paths.
    output is the identity of the file that is to be written, above those of the directories that this one is in."""
    identity = _identity(os.stat(directory))
    if identity in above:
        raise ValueError("%s: a link to a directory that it lies in: remove it" % directory)
    names: Any = OrderedDict()
    for name in sorted(os.listdir(directory)):
        path = os.path.join(directory, name)
        try:
            name.encode()
        except UnicodeEncodeError:
            raise ValueError("%r: its name is not UTF-8: rename it" % path) from None
        found = os.stat(path)
        if stat.S_ISDIR(found.st_mode):
            names[name] = _names_of(path, output, paths, (*above, identity))
        elif not stat.S_ISREG(found.st_mode):
            raise ValueError("%s: neither a file nor a directory: remove it" % path)
        elif _identity(found) == output:
            raise ValueError("%s: the output lies in the folder that is packed: give another name" % path)
        else:
            names[name] = len(paths)
            paths.append(path)
    return names


def _identity(found: os.stat_result) -> Tuple[int, int]:
    return found.st_dev, found.st_ino
