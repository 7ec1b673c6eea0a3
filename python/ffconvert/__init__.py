"""Reads the shards that ffconvert writes, and trains on them: docs/training.md.

    from ffconvert import DataLoader, Dataset

    loader = DataLoader(Dataset("out"), batch_size=32, shuffle=True, num_workers=4)

It needs nothing but Python; it uses numpy, msgpack and cbor2 where they are. DataLoader needs torch.

DataLoader and BatchSampler are imported when they are first used, since torch takes seconds: help(ffconvert.DataLoader) and
help(ffconvert.BatchSampler) show them. FileReader is the name that ffrecord has for Reader.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .dataset import Dataset
from .decode import decoder
from .errors import DamageError, DecodeError
from .order import Order, StateError
from .packed import PackedFolder
from .reader import FileReader, Reader

if TYPE_CHECKING:
    from .info import info
    from .loader import DataLoader
    from .sampler import BatchSampler

__all__ = ["BatchSampler", "DamageError", "DataLoader", "Dataset", "DecodeError", "FileReader", "Order", "PackedFolder", "Reader",
           "StateError", "decoder", "info"]
__version__ = "0.1.0.dev0"


def __getattr__(name: str) -> Any:
    # These import torch, which takes seconds.
    if name == "DataLoader":
        from .loader import DataLoader
        return DataLoader
    if name == "BatchSampler":
        from .sampler import BatchSampler
        return BatchSampler
    if name == "info":
        from .info import info
        return info
    raise AttributeError("module %r has no attribute %r" % (__name__, name))
