"""Writes a dataset from Python: samples go to the program as they are made, which makes the shards.

>>> with Writer("out", shards=8) as writer:
...     for picture, label in pairs:
...         writer.write({"image": picture, "cls": label})
>>> print(writer.summary)
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import tempfile
import warnings
import weakref
from typing import Any, Dict, Iterable, List, Optional

from .__main__ import find_program
from .errors import placed
from .stored import DEPTH, packed
from .wire import dumps_msgpack

__all__ = ["ConvertError", "Program", "Writer", "arguments", "check", "deepest", "program"]

#: Bytes that are collected for one write into the pipe, and what the pipe holds.
_COLLECTED = 1 << 20


class ConvertError(Exception):
    """The program has refused a conversion, with its message. status is its exit status (3: input refused, 4: I/O error; README.md has all), negative if a signal has ended it,
    None if it ended before the last sample."""

    def __init__(self, message: str, status: Optional[int] = None) -> None:
        super().__init__(message)
        self.status = status

    def __reduce__(self) -> Any:
        return type(self), (str(self), self.status)


def program() -> str:
    """The path of the program: FFCONVERT of the environment, or the one that pip has installed with the package."""
    path = os.environ.get("FFCONVERT") or find_program()
    if path is None:
        raise FileNotFoundError("there is no program ffconvert beside this package: install a wheel, which has it, or set FFCONVERT to its path")
    return path


def arguments(options: Dict[str, Any]) -> List[str]:
    """The flags of docs/flags.md: shards=8 is --shards 8, sha256=True is --sha256, a list is the flag as often, max={"item-size": "2GiB"} is --max
    item-size=2GiB. None and False leave a flag out. Records are MessagePack, unless encode says otherwise."""
    options = {"encode": "msgpack", **options}
    out: List[str] = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        values = ["%s=%s" % pair for pair in value.items()] if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else [value]
        for one in values:
            if one is True:
                out.append(flag)
            elif one is not None and one is not False:
                out.append("%s=%s" % (flag, os.fspath(one) if isinstance(one, os.PathLike) else one))
    return out


def deepest(args: List[str]) -> int:
    """How many lists and maps in one another the program takes with these flags."""
    found = re.findall(r"^--max(?:=(?:.*,)?|-)depth=(\d+)", "\n".join(args), re.MULTILINE)
    return int(found[-1]) if found else DEPTH


def check(args: List[str], records: Iterable[bytes]) -> None:
    """ConvertError if the program refuses these flags and names, tried with a few records: before all samples are made, which may take days."""
    tried = Program(["--dry-run", *args], subprocess.PIPE)
    stdin: Any = tried.process.stdin
    count = 0
    try:
        with contextlib.suppress(BrokenPipeError), stdin:
            stdin.write(dumps_msgpack({"__begin__": {}}))
            for record in records:
                stdin.write(record)
                count += 1
            stdin.write(dumps_msgpack({"__end__": {"count": count}}))
        tried.end()
    except ConvertError as e:
        if e.status == 1:  # others are of these records
            raise
    except BaseException:
        tried.stop()
        raise


class Program:
    """`ffconvert cbor` of MessagePack, while it runs. What it prints goes to a file, so that it never waits for a reader."""

    def __init__(self, args: List[str], stdin: Any = subprocess.DEVNULL) -> None:
        path = program()
        self._said = tempfile.TemporaryFile()
        self.process = subprocess.Popen([path, "cbor", "--format=msgpack", *([] if "--quiet" in args else ["--progress=plain"]), *args], stdin=stdin, stdout=self._said, stderr=subprocess.STDOUT)

    def end(self) -> str:
        """Waits for its end, and returns its closing line. ConvertError has its message, if it failed."""
        try:
            status = self.process.wait()
        except BaseException:  # of a signal: it would make the dataset behind the caller's back
            self.stop()
            raise
        with self._said:
            self._said.seek(0)
            lines = str(self._said.read(), "utf-8", "replace").strip().splitlines() or ["it printed nothing" if status else ""]
        if status:
            raise ConvertError(lines[-1] if status > 0 else "ffconvert was ended by signal %d: %s" % (-status, lines[-1]), status)
        return lines[-1]

    def stop(self) -> None:
        """Ends it, if it runs, and waits for that."""
        self.process.terminate()
        self.process.wait()
        self._said.close()


#: The writers that are open. A forked process must not hold their pipes: the program would wait for its end, too.
_open: "weakref.WeakSet[Writer]" = weakref.WeakSet()


def _forked() -> None:
    for writer in list(_open):
        if writer._program is not None:
            writer._close_pipe(writer._program)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


class Writer:
    """Writes samples to a dataset, out, with options as flags of `ffconvert cbor`: shards=8, encode="cbor", sha256=True.

    There is a dataset when close has returned, which the end of a with block calls; none if the block raises, or if this process dies before close has told the program the end. Once the program has
    failed, each call raises that ConvertError. A sample is a dict of fields, a tuple, a dataclass, or one value; docs/training.md has what values become. Its key is its __key__, or its number, of eight digits or more. One thread of one process may
    write; memory does not grow. The program keeps the samples in its cache until the end, and needs room for as many bytes there. FileNotFoundError if there is no program.
    """

    def __init__(self, out: Any, **options: Any) -> None:
        #: Number of samples that were written.
        self.count: int = 0
        #: What the program said at its end.
        self.summary: str = ""
        self._process, self._collected = os.getpid(), bytearray()
        self._failed: Optional[ConvertError] = None
        flags = arguments(options)
        self._depth = deepest(flags)
        self._program: Optional[Program] = Program([*flags, "--", "-", os.fspath(out)], subprocess.PIPE)
        pipe = self._pipe()
        try:  # fewer turns between both
            import fcntl
            fcntl.fcntl(pipe, getattr(fcntl, "F_SETPIPE_SZ", 1031), _COLLECTED)
        except (ImportError, OSError):
            pass
        _open.add(self)
        self._put(dumps_msgpack({"__begin__": {}}))  # promises an end: without it nothing is converted

    def write(self, sample: Any) -> None:
        """Writes a sample. TypeError or ValueError if it cannot be stored, which names its field: another sample can take the place. ConvertError if the program has ended."""
        self._check()
        try:
            data = packed(sample, "%08d" % self.count, self._depth)
        except (TypeError, ValueError) as e:
            raise placed(e, "sample %d" % self.count) from e
        self._put(data)
        self.count += 1

    def close(self) -> str:
        """Waits until the dataset is complete, and returns what the program says of it. ConvertError if there is none."""
        if self._program is None and self._failed is None:
            return self.summary
        self._check()
        self._put(dumps_msgpack({"__end__": {"count": self.count}}))
        self._flush()
        self._end()
        return self.summary

    def _end(self) -> None:
        running: Any = self._program
        self._program = None
        self._close_pipe(running)
        try:
            self.summary = running.end()
        except ConvertError as e:
            self._failed = e
            raise

    def abort(self) -> None:
        """Ends without a dataset. It does nothing after close."""
        running, self._program = self._program, None
        if running is not None and self._process == os.getpid():
            running.stop()
            self._close_pipe(running)

    @staticmethod
    def _close_pipe(running: Program) -> None:
        try:
            running.process.stdin.close()  # type: ignore[union-attr]
        except OSError:
            pass

    def _check(self) -> None:
        if self._failed is not None:
            raise self._failed
        if self._program is None:
            raise ValueError("the writer is closed")
        if self._process != os.getpid():
            raise ValueError("the writer is of another process, which alone can use it")

    def _pipe(self) -> int:
        return self._program.process.stdin.fileno()  # type: ignore[union-attr]

    def _put(self, data: bytes) -> None:
        self._collected += data
        if len(self._collected) >= _COLLECTED:
            self._flush()

    def _flush(self) -> None:
        view = memoryview(self._collected)
        try:
            while len(view):
                view = view[os.write(self._pipe(), view):]
        except BrokenPipeError:
            self._end()  # raises what it said
            self._failed = ConvertError("ffconvert ended before the last sample")
            raise self._failed from None
        self._collected = bytearray()

    def __enter__(self) -> "Writer":
        return self

    def __exit__(self, kind: Any, *exception: Any) -> None:
        if kind is None:
            self.close()
        else:
            self.abort()

    def __del__(self) -> None:
        if getattr(self, "_program", None) is not None and self._process == os.getpid():
            warnings.warn("a Writer of %d samples was not closed: there is no dataset" % self.count, ResourceWarning)
            self.abort()
