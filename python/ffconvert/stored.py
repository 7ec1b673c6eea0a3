"""What samples of Python become: maps of bytes, texts, numbers, lists and maps, as MessagePack.

>>> fields({"image": picture, "label": 3})
{'image.png': b'...', 'label': 3}
"""

from __future__ import annotations

import io
from typing import Any, Dict, Tuple

from .errors import placed
from .wire import dumps_msgpack

__all__ = ["DEPTH", "fields", "packed"]

#: Lists and maps in one another that the program takes, the sample's own among them, unless its flag --max depth says otherwise.
DEPTH = 32
#: Modes of Pillow of which a PNG file has all values.
_PNG = ("1", "L", "LA", "I;16", "P", "RGB", "RGBA")
#: What values of enums, numpy.str_ and the like are, too.
_BASES: Tuple[Any, ...] = (int, float, str, bytes)
_PLAIN = frozenset((bytes, str, int, float, bool, type(None)))


def packed(sample: Any, key: str, depth: int = DEPTH) -> bytes:
    """The MessagePack map of a sample: its key, if it has no __key__, and its fields. TypeError and ValueError name what cannot be stored."""
    named = fields(sample, depth)
    if "__key__" in named and (type(named["__key__"]) is not str or not named["__key__"]):
        raise TypeError("__key__ is %r: want a text that is not empty, or leave it out" % (named["__key__"],))
    return dumps_msgpack(named if "__key__" in named else {"__key__": key, **named})


def fields(sample: Any, depth: int = DEPTH) -> Dict[str, Any]:
    """The fields of a sample: the entries of a dict; of a tuple its elements, by their names or numbers; those of a dataclass; anything else is the field "value"."""
    if isinstance(sample, tuple):
        sample = dict(zip(getattr(sample, "_fields", map(str, range(len(sample)))), sample))
    elif not isinstance(sample, dict):
        members = getattr(sample, "__dataclass_fields__", None)
        sample = {"value": sample} if members is None or isinstance(sample, type) else {name: getattr(sample, name) for name in members}
    if _PLAIN.issuperset(map(type, sample.values())) and all([type(name) is str for name in sample]):
        plain: Dict[str, Any] = sample
        return plain
    out: Dict[str, Any] = {}
    for name, value in sample.items():
        if type(name) is not str:
            raise TypeError("a field has the name %r: want a text" % (name,))
        if type(value) not in _PLAIN:
            try:
                name, value = _stored(name, value, depth - 1)
            except (TypeError, ValueError) as e:
                raise placed(e, "field %s" % name) from e
            except Exception as e:  # of a picture that was closed, and the like
                raise ValueError("field %s: a %s cannot be stored: %s: %s" % (name, type(value).__name__, type(e).__name__, e)) from e
        if name in out:
            raise ValueError("two fields are named %s" % name)
        out[name] = value
    return out


def _stored(name: str, value: Any, depth: int) -> Tuple[str, Any]:
    """The name of a field, and what is stored of its value. A picture or an array is a file, and the name says its type."""
    kind, plain = _plain(value, depth)
    return (name if not kind or name.rpartition(".")[2].lower() == kind else "%s.%s" % (name, kind)), plain


def _plain(value: Any, depth: int) -> Tuple[str, Any]:
    """A value that MessagePack has, of so many lists and dicts in one another at most, and the suffix of the file that it is, "" if it is none."""
    if type(value) in _PLAIN:
        return "", value
    if isinstance(value, (list, tuple, dict)) and depth < 1:
        raise ValueError("too many lists and dicts in one another: %d are taken, the sample's own among them, unless an argument like max={\"depth\": 64} says otherwise" % DEPTH)
    if isinstance(value, (list, tuple)):
        return "", [_inner(v, depth - 1) for v in value]
    if isinstance(value, dict):
        return "", {k: _inner(v, depth - 1) for k, v in value.items()}
    if isinstance(value, (bytearray, memoryview)):
        return "", bytes(value)
    if hasattr(value, "getbands") and hasattr(value, "save"):
        return _picture(value)
    if hasattr(value, "detach"):  # a tensor, perhaps with a gradient, on any device
        value = value.detach().cpu()
    if getattr(getattr(value, "dtype", None), "kind", "") in ("m", "M") and value.ndim == 0:
        raise TypeError("a %s cannot be stored: make a text or a number of it" % type(value).__name__)
    if getattr(value, "ndim", -1) == 0 and hasattr(value, "item"):
        if getattr(value, "mask", False):
            raise TypeError("a number that is masked cannot be stored")
        item = value.item()
        if type(item) is not type(value):
            return _plain(item, depth)
    if hasattr(value, "__array__"):
        return "npy", _npy(value)
    for plain in _BASES:
        if isinstance(value, plain):
            return "", str.__str__(value) if plain is str else plain(value)
    raise TypeError("a %s cannot be stored: make bytes, text, numbers, lists, dicts, an array or a picture of it" % type(value).__name__)


def _inner(value: Any, depth: int) -> Any:
    """A value in a list or dict. Nothing would say there that bytes are those of a file."""
    kind, plain = _plain(value, depth)
    if kind:
        raise TypeError("a %s in a list or dict: make it a field of its own, or one array" % type(value).__name__)
    return plain


def _picture(picture: Any) -> Tuple[str, Any]:
    """The file of a picture: a JPEG or PNG that was opened and not touched or changed by draft as it is, else a PNG with the same pixels. Modes that PNG does not have are arrays."""
    form = {"JPEG": "jpg", "PNG": "png"}.get(getattr(picture, "format", None) or "")
    opened = getattr(picture, "fp", None)
    if form and opened is not None and getattr(picture, "tile", None) and not picture.tell():  # its pixels were not read, and it is the first frame
        try:
            at = opened.tell()
            opened.seek(0)
            data = opened.read()
            opened.seek(at)
            if not getattr(picture, "decoderconfig", ()) or _same(picture, type(picture)(io.BytesIO(data))):
                return form, data
        except (OSError, ValueError):  # what it was read from is closed
            pass
    if picture.mode not in _PNG:
        return "npy", _npy(picture)
    file = io.BytesIO()
    picture.save(file, "PNG")
    return "png", file.getvalue()


def _same(picture: Any, file: Any) -> bool:
    """Whether draft, which makes a JPEG smaller or grey before it is decoded, has left a picture as its file has it."""
    return bool((picture.size, picture.mode) == (file.size, file.mode))


def _npy(value: Any) -> bytes:
    import numpy as np
    array, file = np.asarray(value), io.BytesIO()
    if getattr(value, "mask", None) is not None and np.any(value.mask):
        raise TypeError("an array with a mask cannot be stored: give the mask as a field of its own")
    if array.dtype.hasobject:
        raise TypeError("an array of objects cannot be stored: give it a type")
    np.save(file, array, allow_pickle=False)
    return file.getvalue()
