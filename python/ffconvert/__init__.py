"""Reads the shards that ffconvert writes, and trains on them: docs/training.md.

    from ffconvert import DataLoader, Dataset

    loader = DataLoader(Dataset("out"), batch_size=32, shuffle=True, num_workers=4)

Makes them, too, of what Python can iterate:

    ffconvert.convert(samples, "out")

It needs nothing but Python; it uses numpy, msgpack and cbor2 where they are. DataLoader needs torch; convert, Writer and Dataset.where need the program. Some names are
imported when they are first used: help(ffconvert.DataLoader) shows one. FileReader is the name that ffrecord has for Reader.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .dataset import Dataset
from .decode import decoder
from .errors import DamageError, DecodeError
from .order import Order, StateError
from .packed import PackedFolder
from .reader import FileReader, Reader

if TYPE_CHECKING:
    from .conversion import convert
    from .info import info
    from .loader import DataLoader
    from .mixture import Mixture
    from .sampler import BatchSampler
    from .subset import Subset
    from .writer import ConvertError, Writer

__all__ = ["BatchSampler", "ConvertError", "DamageError", "DataLoader", "Dataset", "DecodeError", "FileReader", "Mixture", "Order", "PackedFolder", "Reader",
           "StateError", "Subset", "Writer", "convert", "decoder", "info"]
__version__ = "0.1.0.dev0"


#: Names that are imported when they are first used: some import torch, which takes seconds.
_LATER = {"BatchSampler": "sampler", "ConvertError": "writer", "DataLoader": "loader", "Mixture": "mixture", "Subset": "subset", "Writer": "writer", "convert": "conversion", "info": "info"}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError("module %r has no attribute %r" % (__name__, name))
    value = getattr(importlib.import_module("." + _LATER[name], __name__), name)
    globals()[name] = value  # in place of the module of this name
    return value
