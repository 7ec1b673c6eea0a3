"""The Python package of FFRecord by another name: what was written for `import ffrecord` runs with this line changed.

    import ffconvert.ffrecord as ffrecord

    with ffrecord.FileWriter("test.ffr", 2) as writer:
        writer.write_one(b"hello")
        writer.write_one(b"")
    with ffrecord.FileReader("test.ffr") as reader:
        hello, empty = reader.read([0, 1])

Files have the same bytes. What it would write damaged, or read wrong, is an error here. The modules are those of FFRecord, too: fileio, package,
utils, and torch, which needs torch, and is imported when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .fileio import FileReader, FileWriter, checkFsAlign
from .package import PackedFolder, pack_folder

if TYPE_CHECKING:
    from . import torch, utils

__all__ = ["FileReader", "FileWriter", "PackedFolder", "checkFsAlign", "pack_folder", "torch", "utils"]
#: The version of FFRecord that has these names.
__version__ = "1.4.0"


def __getattr__(name: str) -> Any:
    if name in ("torch", "utils"):
        return importlib.import_module("." + name, __name__)
    raise AttributeError("module %r has no attribute %r" % (__name__, name))
