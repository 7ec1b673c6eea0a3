"""Decodes records, as manifest.json says that they are encoded.

>>> decode = decoder("msgpack")
>>> decode(record)
{'__key__': '000017', 'jpg': b'...', 'cls': b'7'}
"""

from __future__ import annotations

import os
import struct
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, cast

from .errors import DamageError, DecodeError
from .manifest import Manifest, read_manifest, read_meta
from .wire import decode_cbor, decode_msgpack

try:
    import numpy as np
except ImportError:
    np = cast(Any, None)

__all__ = ["Decoder", "decoder", "directories_of", "encoding_of", "is_map"]

#: Makes a value, mostly a dict, of the bytes of a record.
Decoder = Callable[[Any], Any]

_CODES = {"uint8": "B", "bool": "?", "float32": "f", "float64": "d", "int64": "q"}


def decoder(encoding: str) -> Decoder:
    """Returns the decoder of an encoding: "msgpack", "cbor", "arrow", "raw", "raw:FIELD", "pickle", "pickle:FIELD,FIELD".

    A record of "raw" is a dict of one field, whose name is "data" if none is given. "arrow" needs pyarrow. "pickle" calls pickle.loads, which
    executes what a record says: ask for it only where you know the origin of every sample. Of tuples it gives tuples, with names of fields dicts.

    The decoder takes the bytes of a record (a uint8 array, or bytes), and raises an error, mostly a DecodeError, if they are not of this encoding. Any number of threads
    may call it. ValueError if there is no such encoding.
    """
    name, _, field = encoding.partition(":")
    if encoding in _DECODERS:
        return _DECODERS[encoding]
    if name == "raw":
        return _Raw(field.split(";")[0] or "data")
    if name == "pickle" and field:
        return _Tuple([choice.split(";")[0] for choice in field.split(",")])
    raise ValueError("encoding %r: want msgpack, cbor, arrow, raw, raw:FIELD, pickle or pickle:FIELD,FIELD" % encoding)


def directories_of(files: Sequence[str]) -> List[str]:
    """The directories whose manifests describe files and directories, sorted."""
    return sorted({f if os.path.isdir(f) else os.path.dirname(f) for f in files})


def encoding_of(files: Sequence[str]) -> Decoder:
    """Returns the decoder that the manifests of files and directories name."""
    found: List[Tuple[str, Optional[_Numbers]]] = []
    directory = ""
    for directory in directories_of(files):
        manifest = read_manifest(directory)
        if manifest is None:
            raise ValueError("%s: no manifest.json says how records are encoded: give encoding=\"msgpack\", another encoding, or None for bytes"
                             % (directory or "."))
        for name in sorted(manifest.encodings):
            numbers = _numbers(directory, manifest, name)
            if (name, numbers) not in found:
                found.append((name, numbers))
    if len(found) > 1:
        raise ValueError("records are encoded in several ways: %s; give encoding=None and decode them yourself" % ", ".join(n for n, _ in found))
    name, numbers = found[0]
    if name.partition(":")[0] == "pickle":
        raise ValueError("records are pickles, which execute code where they are decoded: give encoding=\"%s\" if you trust every sample" % name)
    if numbers:
        return _Raw(*numbers)
    try:
        return decoder(name)
    except ValueError as e:
        raise ValueError("%s: by its manifest.json records are of an %s" % (directory, e)) from None


#: The field, the type and the shape of raw records that are rows of numbers or pixels.
_Numbers = Tuple[str, str, Tuple[int, ...]]


def _numbers(directory: str, manifest: Manifest, encoding: str) -> Optional[_Numbers]:
    """What meta.json says of raw records, None for records that are not numbers."""
    name, _, field = encoding.partition(":")
    if name != "raw":
        return None
    meta = read_meta(directory, manifest, "dtype", "columns", "shape", "fields")
    try:
        types = {meta["dtype"]} if "dtype" in meta else {c["dtype"] for c in meta.get("columns", []) if not field}
        if len(types) != 1 or "shape" not in meta:
            return None
        dtype, shape = types.pop(), meta["shape"]
        if dtype not in _CODES or not isinstance(shape, list) or not 0 < len(shape) <= 32 or not all(type(n) is int and n >= 0 for n in shape):
            raise ValueError("its numbers have the type %.20r and the shape %.60r" % (dtype, shape))
        return field.split(";")[0] or next(iter(meta["fields"])), dtype, tuple(shape)
    except (ValueError, TypeError, LookupError, AttributeError, StopIteration) as e:
        path = os.path.join(directory, "meta.json")
        raise DamageError("%s: not a description of ffconvert, or damaged: %s" % (path, e), path) from None


class _Raw:
    """Decodes records that are the bytes of one field, or numbers of one type."""

    def __init__(self, field: str, dtype: str = "", shape: Tuple[int, ...] = ()) -> None:
        self.field, self.dtype, self.shape = field, dtype, shape

    def __call__(self, record: Any) -> Any:
        if not self.dtype:
            return {self.field: bytes(record)}
        if np is None:
            return {self.field: [x for x, in struct.iter_unpack("<" + _CODES[self.dtype], record)]}
        rows = np.frombuffer(record, np.dtype(self.dtype).newbyteorder("<"))
        return {self.field: rows.reshape(self.shape) if rows.size == np.prod(self.shape) else rows.reshape(-1, *self.shape[1:])}


def _pickle(record: Any) -> Any:
    import pickle
    return pickle.loads(record)


class _Tuple:
    """Decodes records that are pickled tuples of the values of fields."""

    def __init__(self, fields: Sequence[str]) -> None:
        self.fields = fields

    def __call__(self, record: Any) -> Any:
        values = _pickle(record)
        if type(values) is not tuple or len(values) != len(self.fields):
            raise DecodeError("a pickle that is no tuple of %s" % ", ".join(self.fields))
        return dict(zip(self.fields, values))


def _arrow(record: Any) -> Any:
    """A record of one row is a dict of its values, of several a dict of lists."""
    try:
        import pyarrow.ipc
    except ImportError:
        raise DecodeError("records of Arrow need the module pyarrow") from None
    table = pyarrow.ipc.open_stream(bytes(record)).read_all()
    names = table.column_names
    if len(set(names)) < len(names):  # a dict has the last of them
        raise DecodeError("Arrow with two columns of one name: %s" % ", ".join(sorted({repr(name) for name in names if names.count(name) > 1})))
    columns = table.to_pydict()  # maps are lists of pairs, with keys that come twice
    single = all(len(values) == 1 for values in columns.values())
    return {name: values[0] for name, values in columns.items()} if single else columns


_DECODERS: Dict[str, Decoder] = {"msgpack": decode_msgpack, "cbor": decode_cbor, "pickle": _pickle, "arrow": _arrow}


def is_map(decode: Optional[Decoder]) -> bool:
    """Whether records are decoded to dicts of all fields of their samples."""
    return decode in _DECODERS.values()
