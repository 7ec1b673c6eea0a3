"""The names of a packed folder: a pickle of nested dicts, which is read and never executed."""

from __future__ import annotations

from typing import Any, Dict, List, Tuple, Union

from .errors import DecodeError

__all__ = ["Tree", "read_names"]

#: A name leads to the number of a sample, or to the tree of a directory.
Tree = Dict[str, Any]

_PREFIX = b"piouhjgbr"
_KEY = 1024  # bytes of a name; file systems have 255 characters
_PATH = 4095  # bytes of the longest path that Linux accepts

_MARK, _CLASS = object(), object()  # on the stack: a mark, and collections.OrderedDict
_CLASS_NAME = (b"collections", b"OrderedDict")

# Opcodes, as Lib/pickletools.py of CPython has them, with the bytes of their number or length.
_TEXTS = {0x8C: 1, 0x58: 4, 0x8D: 8}
_INTS = {0x4B: 1, 0x4D: 2, 0x4A: 4}
_PUTS = {0x71: 1, 0x72: 4}
_GETS = {0x68: 1, 0x6A: 4}


def read_names(sample: bytes, files: int) -> Tree:
    """Returns the tree that the last sample of a packed folder has. It names each of the samples 0 to files-1 once, or it is refused."""
    if not sample.startswith(_PREFIX):
        raise DecodeError("not a packed folder: its last sample does not begin with %s" % _PREFIX.decode())
    tree = _Machine(sample[len(_PREFIX):]).run()
    seen = bytearray(files)
    left: List[Tuple[Tree, int]] = [(tree, 0)]
    while left:
        directory, length = left.pop()
        for name, value in directory.items():
            if name in ("", ".", "..") or "/" in name or "\0" in name:
                raise DecodeError("%r is not the name of a file" % name)
            size = length + len(name.encode())
            if size > _PATH:
                raise DecodeError("the path of %.60r has more than %d bytes" % (name, _PATH))
            if isinstance(value, dict):
                left.append((value, size + 1))
            elif not 0 <= value < files or seen[value]:
                raise DecodeError("%r is sample %d of %d, or another file is that, too" % (name, value, files))
            else:
                seen[value] = 1
    if 0 in seen:
        raise DecodeError("sample %d has no name" % seen.index(0))
    return tree


class _Machine:
    """Interprets the opcodes that nested dicts of names and numbers need, in pickles of protocol 2 to 5. All others are refused."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0
        self.stack: List[Any] = []
        self.marks: List[int] = []
        self.memo: List[Any] = []

    def fail(self, why: str) -> DecodeError:
        return DecodeError("the names are damaged: %s before byte %d of the pickle" % (why, self.at))

    def take(self, n: int) -> bytes:
        if n > len(self.data) - self.at:
            raise self.fail("too few bytes")
        self.at += n
        return self.data[self.at - n:self.at]

    def number(self, n: int, signed: bool = False) -> int:
        return int.from_bytes(self.take(n), "little", signed=signed)

    def pop(self, kind: Any) -> Any:
        """Takes the value on top, which is kind or of that type."""
        if not self.stack or not (self.stack[-1] is kind or type(self.stack[-1]) is kind):
            raise self.fail("an opcode that finds no value of its kind")
        return self.stack.pop()

    def run(self) -> Tree:
        if self.number(1) != 0x80 or not 2 <= self.number(1) <= 5:
            raise self.fail("no pickle of protocol 2 to 5")
        while True:
            code = self.number(1)
            if code == 0x2E:  # STOP
                tree: Tree = self.pop(dict)
                if self.stack or self.at < len(self.data):
                    raise self.fail("more than one value")
                return tree
            self.step(code)

    def step(self, code: int) -> None:
        if code in _TEXTS:
            self.stack.append(self.text(self.number(_TEXTS[code])))
        elif code in _INTS:
            self.stack.append(self.number(_INTS[code], signed=code == 0x4A))
        elif code == 0x8A:  # LONG1
            self.stack.append(self.number(min(self.number(1), 9), signed=True))
        elif code == 0x28:  # MARK
            self.marks.append(len(self.stack))
            self.stack.append(_MARK)
        elif code in (0x73, 0x75):  # SETITEM, SETITEMS
            self.items(code == 0x75)
        elif code in _PUTS or code == 0x94:  # MEMOIZE
            self.put(self.number(_PUTS[code]) if code in _PUTS else len(self.memo))
        elif code in _GETS:
            self.get(self.number(_GETS[code]))
        elif code == 0x95:  # FRAME
            self.number(8)
        else:
            self.objects(code)

    def objects(self, code: int) -> None:
        if code == 0x7D:  # EMPTY_DICT
            self.stack.append({})
        elif code == 0x29:  # EMPTY_TUPLE
            self.stack.append(())
        elif code == 0x52:  # REDUCE
            self.pop(tuple)
            self.pop(_CLASS)
            self.stack.append({})
        elif code == 0x93:  # STACK_GLOBAL
            name, module = self.pop(str), self.pop(str)
            self.import_class(module.encode(), name.encode())
        elif code == 0x63:  # GLOBAL
            module_and_name = self.data[self.at:self.at + 100].split(b"\n", 2)
            self.take(sum(map(len, module_and_name[:2])) + 2)
            self.import_class(*module_and_name[:2])
        else:
            raise self.fail("opcode 0x%02x, which no tree of names needs," % code)

    def import_class(self, *name: bytes) -> None:
        if name != _CLASS_NAME:
            raise self.fail("an import of %s" % b".".join(name).decode(errors="replace")[:60])
        self.stack.append(_CLASS)

    def text(self, n: int) -> str:
        if n > _KEY:
            raise self.fail("a name of %d bytes" % n)
        try:
            return self.take(n).decode()
        except UnicodeDecodeError:
            raise self.fail("a name that is not UTF-8") from None

    def put(self, n: int) -> None:
        if n != len(self.memo) or not self.stack:
            raise self.fail("a value remembered out of order")
        self.memo.append(self.stack[-1])

    def get(self, n: int) -> None:
        value: Union[str, object] = self.memo[n] if n < len(self.memo) else None
        if value is not _CLASS and not isinstance(value, str):
            raise self.fail("a value in two places, or none")
        self.stack.append(value)

    def items(self, marked: bool) -> None:
        """Puts keys and values into the dict below them: one of each, or those above the last mark."""
        if marked and not self.marks:
            raise self.fail("items without a mark")
        first = self.marks.pop() + 1 if marked else len(self.stack) - 2
        into = first - 2 if marked else first - 1
        if into < 0 or type(self.stack[into]) is not dict or (len(self.stack) - first) % 2:
            raise self.fail("items without a dict")
        target, values = self.stack[into], self.stack[first:]
        for key, value in zip(values[::2], values[1::2]):
            if type(key) is not str or type(value) not in (int, dict) or key in target:
                raise self.fail("a key that is not a name, comes twice, or leads to neither a number nor a dict")
            target[key] = value
        del self.stack[into + 1:]
