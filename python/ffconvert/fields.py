"""What the fields of a sample mean: pictures, numbers, texts and arrays in place of bytes.

>>> decode = Fields({"seg.png": "stored", "*.wav": my_decoder, "*": "tensor"})
>>> decode({"__key__": "000017", "jpg": b"...", "cls": b"7"})
{'__key__': '000017', 'jpg': <tensor of 3 × height × width>, 'cls': 7}
"""

from __future__ import annotations

import fnmatch
import io
import json
import math
import re
import struct
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple, Union, cast

from .errors import DecodeError
from .pictures import FORMS, PICTURES, pillow
from .wire import decode_cbor, decode_msgpack

try:
    import numpy as np
except ImportError:
    np = cast(Any, None)

__all__ = ["Choice", "Fields"]

Field = Callable[[bytes], Any]
#: How a field is decoded: a name, or a function of its bytes.
Choice = Union[str, Field]

#: Bytes that a compressed field may become.
_MOST = 1 << 30
#: Names of fields that are remembered.
_NAMES = 4096

_WORDS = "want auto, raw, pil, uint8, tensor or stored, a function of bytes, or a dict of these by patterns of names"


class Fields:
    """Decodes the fields of samples that are bytes. Any number of threads may call it.

    choice is for all fields, or a dict of choices by patterns of names, of which the first that fits counts; a field that none fits is decoded by "auto". The suffix of a name after its last dot,
    in upper or lower case, says what a field is; before .gz it is compressed by gzip:

    jpg jpeg jpe jfif png gif webp  a picture, as "pil" where Pillow is installed, else bytes: see pictures.FORMS
    cls cls2 index inx id           a decimal number, as int
    txt text transcript             text, as str
    json jsn, mp msg msgpack, cbor  a value
    npy, npz, ten tb                an array, a dict of arrays, a list of arrays of numpy; bytes without numpy

    All others stay bytes, and so do all that are "raw". "pil", "uint8", "tensor" and "stored" are forms of pictures; fields that are none are then as by "auto".
    A pickle is never decoded, nor is an array of objects.
    """

    def __init__(self, choice: Union[Choice, Mapping[str, Choice]] = "auto") -> None:
        self._choices: List[Tuple[str, Choice]] = list(choice.items()) if isinstance(choice, Mapping) else [("*", choice)]
        for pattern, one in self._choices:
            if not isinstance(pattern, str) or not (callable(one) or isinstance(one, str) and one in ("auto", "raw", *FORMS)):
                raise ValueError("decode=%r: %s" % (choice, _WORDS))
            if isinstance(one, str) and one in FORMS:
                FORMS[one]()  # an error here rather than at the first sample
        self._known: Dict[str, Optional[Field]] = {}

    def __reduce__(self) -> Any:
        return Fields, (dict(self._choices),)

    def __call__(self, sample: Any) -> Any:
        """The sample with decoded fields, a dict; samples that are no dicts as they are. DecodeError names the field."""
        if not isinstance(sample, dict):
            return sample
        return {name: self._value(name, value) if isinstance(value, (bytes, bytearray, memoryview)) else value for name, value in sample.items()}

    def _value(self, name: Any, data: Any) -> Any:
        try:
            decode = self._known[name]
        except KeyError:
            if len(self._known) > _NAMES:
                self._known.clear()
            decode = self._known[name] = self._field(name) if isinstance(name, str) else None
        if decode is None:
            return data
        try:
            return decode(data)
        except MemoryError:
            raise
        except Exception as e:
            raise DecodeError("field %s: %s" % (name, e if isinstance(e, DecodeError) else "%s: %s" % (type(e).__name__, e))) from e

    def _field(self, name: str) -> Optional[Field]:
        choice = next((choice for pattern, choice in self._choices if fnmatch.fnmatchcase(name, pattern)), "auto")
        if not isinstance(choice, str):
            return choice
        return None if choice == "raw" else _of_suffix(name.lower(), choice)


def _of_suffix(name: str, choice: str) -> Optional[Field]:
    plain, compressed = (name[:-3], True) if name.endswith(".gz") else (name, False)
    suffix = plain[plain.rfind(".") + 1:]
    if suffix in PICTURES:
        form = "pil" if choice == "auto" and pillow() is not None else choice
        decode = FORMS[form]() if form in FORMS else None
    else:
        decode = _SUFFIXES.get(suffix)
    return _Gzip(decode) if compressed and decode is not None else decode


class _Gzip:
    """Decodes what is compressed by gzip."""

    def __init__(self, decode: Field) -> None:
        self.decode = decode

    def __call__(self, data: Any) -> Any:
        import gzip
        import zlib
        try:
            plain = gzip.GzipFile(fileobj=io.BytesIO(data)).read(_MOST + 1)
        except (OSError, EOFError, zlib.error) as e:
            raise DecodeError("not gzip, or damaged: %s" % e) from None
        if len(plain) > _MOST:
            raise DecodeError("more than %d bytes when it is not compressed" % _MOST)
        return self.decode(plain)


def _integer(data: Any) -> int:
    text = bytes(data).strip(b" \t\n\v\f\r")
    if not re.fullmatch(rb"[+-]?[0-9]+", text):
        raise DecodeError("%.40r is not an integer" % text)
    number = int(text)
    if not -1 << 63 <= number < 1 << 63:
        raise DecodeError("%.40r does not fit into 64 bits" % text)
    return number


def _text(data: Any) -> str:
    return str(data, "utf-8")


def _json(data: Any) -> Any:
    return json.loads(bytes(data))


def _npy(data: Any) -> Any:
    f = io.BytesIO(data)
    numpy: Any = np.lib.format
    version = numpy.read_magic(f)
    if version not in ((1, 0), (2, 0)):
        raise DecodeError("an array file of version %d.%d" % version)
    shape, fortran, dtype = (numpy.read_array_header_1_0 if version == (1, 0) else numpy.read_array_header_2_0)(f)
    if dtype.hasobject:
        raise DecodeError("an array of objects, which are pickles")
    n = math.prod(shape)
    if n * dtype.itemsize != len(data) - f.tell():
        raise DecodeError("%d bytes for an array of %s %s" % (len(data) - f.tell(), "×".join(map(str, shape)) or "one", dtype))
    items = np.frombuffer(data, dtype, n, f.tell()) if n else np.empty(0, dtype)
    return items.reshape(shape[::-1]).T.copy("K") if fortran else items.reshape(shape).copy()


def _npz(data: Any) -> Any:
    import zipfile
    with zipfile.ZipFile(io.BytesIO(data)) as z:
        size = sum(member.file_size for member in z.infolist())
        if size > _MOST:
            raise DecodeError("%d bytes when it is not compressed, %d are the most" % (size, _MOST))
        out = {}
        for member in z.infolist():
            if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):  # others take memory without a limit
                raise DecodeError("%s is compressed by the method %d, which numpy does not write" % (member.filename, member.compress_type))
            with z.open(member) as f:
                out[member.filename[:-4] if member.filename.endswith(".npy") else member.filename] = _npy(f.read(member.file_size + 1))
        return out


_TENBIN = b"~TenBin~"
_TENBIN_TYPES = ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")


def _ten(data: Any) -> List[Any]:
    """A list of arrays as webdataset's tenbin.py writes it: of each a head and its items, in chunks that are padded to 64 bytes."""
    rest = memoryview(data)
    arrays: List[Any] = []
    while len(rest):
        head, rest = _chunk(rest)
        items, rest = _chunk(rest)
        if len(head) < 24 or len(head) % 8:
            raise DecodeError("array %d: a head of %d bytes" % (len(arrays), len(head)))
        dtype, axes = str(head[:8], "latin-1").rstrip("\0"), struct.unpack_from("<%dq" % (len(head) // 8 - 2), head, 16)
        if dtype not in _TENBIN_TYPES or axes[0] != len(axes) - 1 or min(axes) < 0 or bytes(head[8:16]).strip(b"\0"):
            raise DecodeError("array %d: the type %.8r, with %d axes and the name %r" % (len(arrays), dtype, axes[0], bytes(head[8:16]).strip(b"\0")))
        arrays.append(np.frombuffer(items, "<" + dtype).reshape(axes[1:]).copy())
    return arrays


def _chunk(data: memoryview) -> Tuple[memoryview, memoryview]:
    if data[:8] != _TENBIN or len(data) < 16:
        raise DecodeError("a chunk begins with %r, not with %r and a length" % (bytes(data[:8]), _TENBIN))
    n = struct.unpack_from("<q", data, 8)[0]
    padded = n + -n % 64
    if not 0 <= n <= padded <= len(data) - 16:
        raise DecodeError("a chunk of %d bytes, and %d follow" % (n, len(data) - 16))
    return data[16:16 + n], data[16 + padded:]


_SUFFIXES: Dict[str, Field] = {
    **dict.fromkeys(("cls", "cls2", "index", "inx", "id"), _integer),
    **dict.fromkeys(("txt", "text", "transcript"), _text),
    **dict.fromkeys(("json", "jsn"), _json),
    **dict.fromkeys(("mp", "msg", "msgpack"), decode_msgpack),
    "cbor": decode_cbor,
}
if np is not None:
    _SUFFIXES.update({"npy": _npy, "npz": _npz, "ten": _ten, "tb": _ten})
