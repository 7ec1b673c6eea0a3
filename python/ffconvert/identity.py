"""What a state says of the dataset that it is of: docs/order.md."""

from __future__ import annotations

import array
import hashlib
import sys
from operator import index as _index
from typing import Any

__all__ = ["digest_of", "digest_of_some"]


def digest_of(dataset: Any, n: int) -> str:
    """The digest of a dataset of n samples. Of one that is not known, the number of its samples."""
    known = getattr(dataset, "digest", None)
    if isinstance(known, str):
        return known
    inner, indices, parts = getattr(dataset, "dataset", None), getattr(dataset, "indices", None), getattr(dataset, "datasets", None)
    if hasattr(inner, "__len__") and hasattr(indices, "__len__"):  # torch's Subset
        return digest_of_some(inner, indices)
    elif isinstance(parts, (list, tuple)) and all(hasattr(part, "__len__") for part in parts):  # torch's ConcatDataset
        text = b"ffconvert concatenation 1\n" + b"".join(b"%d %s\n" % (len(part), digest_of(part, len(part)).encode()) for part in parts)
    else:
        return "samples:%d" % n
    return hashlib.sha256(text).hexdigest()[:32]


def digest_of_some(dataset: Any, indices: Any) -> str:
    """The digest of the samples of a dataset that have these numbers, or keys."""
    return hashlib.sha256(b"ffconvert subset 1\n%s\n" % digest_of(dataset, len(dataset)).encode() + _bytes_of(indices)).hexdigest()[:32]


def _bytes_of(indices: Any) -> bytes:
    """Numbers as int64, little-endian; else, as keys, what repr gives of them, a line each."""
    indices = indices.tolist() if hasattr(indices, "tolist") else indices
    try:
        numbers = array.array("q", map(_index, indices))
    except TypeError:
        return "\n".join(map(repr, indices)).encode()
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()
