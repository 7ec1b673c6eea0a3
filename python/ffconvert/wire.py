"""MessagePack and CBOR, by the modules msgpack and cbor2 where they are, else by code of our own.

Ours is strict: a record is one value to its last byte, text is UTF-8, no key comes twice, lengths are within the record.
"""

from __future__ import annotations

import io
import struct
import threading
from typing import Any, Callable, Dict, List, Tuple

from .errors import DecodeError

try:
    import msgpack
except ImportError:
    msgpack = None
try:
    import cbor2
except ImportError:
    cbor2 = None

__all__ = ["decode_cbor", "decode_msgpack", "dumps_msgpack", "loads_cbor", "loads_msgpack"]

_DEPTH = 64  # of lists and maps in one another; ffconvert writes 32 at most


class _Input:
    """What is left of a record."""

    def __init__(self, data: Any, what: str) -> None:
        self.data, self.at, self.what = memoryview(data), 0, what

    def fail(self, why: str) -> DecodeError:
        return DecodeError("not %s: %s at byte %d" % (self.what, why, self.at))

    def take(self, n: int) -> memoryview:
        if n > len(self.data) - self.at:
            raise self.fail("it ends too early")
        self.at += n
        return self.data[self.at - n:self.at]

    def number(self, n: int) -> int:
        return int.from_bytes(self.take(n), "big")

    def unpack(self, form: str) -> Any:
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def text(self, n: int) -> str:
        try:
            return str(self.take(n), "utf-8")
        except UnicodeDecodeError:
            raise self.fail("text that is not UTF-8") from None

    def items(self, n: int, depth: int, value: Callable[["_Input", int], Any]) -> List[Any]:
        if n > len(self.data) - self.at:  # each takes a byte at least
            raise self.fail("it ends too early")
        if depth >= _DEPTH:
            raise self.fail("more than %d lists and maps in one another" % _DEPTH)
        return [value(self, depth + 1) for _ in range(n)]

    def pairs(self, n: int, depth: int, value: Callable[["_Input", int], Any]) -> Dict[Any, Any]:
        both = self.items(2 * n, depth, value)
        try:
            result = dict(zip(both[::2], both[1::2]))
        except TypeError:
            raise self.fail("a key that is a list or a map") from None
        if len(result) < n:
            raise self.fail("a key that comes twice")
        return result

    def whole(self, value: Callable[["_Input", int], Any]) -> Any:
        result = value(self, 0)
        if self.at < len(self.data):
            raise self.fail("%d bytes follow its end," % (len(self.data) - self.at))
        return result


def loads_msgpack(data: Any) -> Any:
    """Decodes one value of MessagePack. Extensions are refused."""
    return _Input(data, "MessagePack").whole(_msgpack)


# What follows the first byte of a value: numbers by their form, others by the size of their length.
_MSGPACK_NUMBERS = {0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q", 0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q"}
_MSGPACK_SIZED = {0xC4: ("bin", 1), 0xC5: ("bin", 2), 0xC6: ("bin", 4), 0xD9: ("str", 1), 0xDA: ("str", 2), 0xDB: ("str", 4),
                  0xDC: ("array", 2), 0xDD: ("array", 4), 0xDE: ("map", 2), 0xDF: ("map", 4)}
_MSGPACK_SINGLE = {0xC0: None, 0xC2: False, 0xC3: True}


def _msgpack(src: _Input, depth: int) -> Any:
    code = src.number(1)
    if code < 0x80:
        return code
    if code >= 0xE0:
        return code - 256
    if code in _MSGPACK_NUMBERS:
        return src.unpack(_MSGPACK_NUMBERS[code])
    if code in _MSGPACK_SINGLE:
        return _MSGPACK_SINGLE[code]
    kind, n = _msgpack_length(src, code)
    if kind == "str":
        return src.text(n)
    if kind == "bin":
        return bytes(src.take(n))
    return src.items(n, depth, _msgpack) if kind == "array" else src.pairs(n, depth, _msgpack)


def _msgpack_length(src: _Input, code: int) -> Tuple[str, int]:
    if code in _MSGPACK_SIZED:
        kind, size = _MSGPACK_SIZED[code]
        return kind, src.number(size)
    if code < 0x90:
        return "map", code & 15
    if code < 0xA0:
        return "array", code & 15
    if code < 0xC0:
        return "str", code & 31
    raise src.fail("an extension, or no code: 0x%02x" % code)


def loads_cbor(data: Any) -> Any:
    """Decodes one item of CBOR, of the forms that ffconvert writes. Tags and indefinite lengths are refused."""
    return _Input(data, "CBOR that is read without the module cbor2").whole(_cbor)


_CBOR_SIMPLE = {20: False, 21: True, 22: None}
_CBOR_FLOATS = {25: ">e", 26: ">f", 27: ">d"}


def _cbor(src: _Input, depth: int) -> Any:
    first = src.number(1)
    major, info = first >> 5, first & 31
    if major == 7:
        if info in _CBOR_SIMPLE:
            return _CBOR_SIMPLE[info]
        if info in _CBOR_FLOATS:
            return src.unpack(_CBOR_FLOATS[info])
    if major > 5 or info > 27:
        raise src.fail("a tag, an indefinite length or no item: 0x%02x" % first)
    n = info if info < 24 else src.number(1 << (info - 24))
    if major < 2:
        return n if major == 0 else -1 - n
    if major == 2:
        return bytes(src.take(n))
    if major == 3:
        return src.text(n)
    return src.items(n, depth, _cbor) if major == 4 else src.pairs(n, depth, _cbor)


def decode_msgpack(record: Any) -> Any:
    """The value of a MessagePack record."""
    if msgpack is None:
        return loads_msgpack(record)
    return msgpack.unpackb(record, strict_map_key=False)


def decode_cbor(record: Any) -> Any:
    """The value of a CBOR record."""
    if cbor2 is None:
        return loads_cbor(record)
    source = io.BytesIO(record)
    value = cbor2.CBORDecoder(source).decode()
    if source.read(1):  # loads of cbor2 leaves them out
        raise DecodeError("not CBOR: bytes follow its end, %d in all" % len(record))
    return value


_packers = threading.local()


def dumps_msgpack(value: Any) -> bytes:
    """The MessagePack record of a value: None, bool, int of 64 bits, float, str, bytes, lists and dicts of these. TypeError and ValueError for others."""
    if msgpack is not None:
        packer = getattr(_packers, "packer", None)
        if packer is None:  # one serves all values of a thread
            packer = _packers.packer = msgpack.Packer(strict_types=True)
        try:
            packed: bytes = packer.pack(value)
            return packed
        except OverflowError as e:
            raise ValueError("a number that 64 bits do not hold: %s" % e) from None
    out = bytearray()
    _dump(value, out, 0)
    return bytes(out)


#: Of lengths: the first byte of a short form, and its most; then the first bytes of forms of 1, 2 and 4 bytes, 0 for none.
_LENGTHS: Dict[type, Tuple[int, int, Tuple[int, int, int]]] = {str: (0xA0, 31, (0xD9, 0xDA, 0xDB)), bytes: (0, -1, (0xC4, 0xC5, 0xC6)), list: (0x90, 15, (0, 0xDC, 0xDD)), dict: (0x80, 15, (0, 0xDE, 0xDF))}


def _dump(value: Any, out: bytearray, depth: int) -> None:
    if depth > _DEPTH:
        raise ValueError("lists and dicts are more than %d deep in one another" % _DEPTH)
    kind = type(value)
    if value is None or kind is bool:
        out.append(0xC0 if value is None else 0xC2 + value)
    elif kind is int:
        _dump_int(value, out)
    elif kind is float:
        out += struct.pack(">Bd", 0xCB, value)
    elif kind in (str, bytes):
        data = value.encode() if kind is str else value
        _dump_length(kind, len(data), out)
        out += data
    elif kind in (list, dict):
        _dump_length(kind, len(value), out)
        for item in value if kind is list else (x for pair in value.items() for x in pair):
            _dump(item, out, depth + 1)
    else:
        raise TypeError("MessagePack has no %s" % kind.__name__)


def _dump_int(n: int, out: bytearray) -> None:
    if -32 <= n < 128:
        out.append(n & 0xFF)
        return
    for code, form, low, high in ((0xCC, "B", 0, 8), (0xCD, "H", 0, 16), (0xCE, "I", 0, 32), (0xCF, "Q", 0, 64),
                                  (0xD0, "b", -1 << 7, 7), (0xD1, "h", -1 << 15, 15), (0xD2, "i", -1 << 31, 31), (0xD3, "q", -1 << 63, 63)):
        if low <= n < 1 << high:
            out += struct.pack(">B" + form, code, n)
            return
    raise ValueError("a number that 64 bits do not hold: %d" % n)


def _dump_length(kind: type, n: int, out: bytearray) -> None:
    short, most, codes = _LENGTHS[kind]
    if n <= most:
        out.append(short | n)
        return
    for code, form, limit in zip(codes, "BHI", (1 << 8, 1 << 16, 1 << 32)):
        if code and n < limit:
            out += struct.pack(">B" + form, code, n)
            return
    raise ValueError("a %s of the length %d: MessagePack has less than 4 Gi" % (kind.__name__, n))
