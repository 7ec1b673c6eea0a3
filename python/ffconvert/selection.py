"""Asks the program for which samples an expression holds: one grammar, that of --where, is in one place."""

from __future__ import annotations

import re
import subprocess
import tempfile
from array import array
from typing import List, Optional, Sequence, Tuple

from .errors import DamageError
from .writer import program

__all__ = ["numbers_where"]

_LINE = re.compile(rb'\{"number":([0-9]{1,18})[,}]')
#: What the program says of a name that no sample of a file has. Those of another file may have it.
_UNSEEN = "no sample that it was asked of has a"
#: Exit statuses of docs/output.md: what is wrong with the dataset, and with the system.
_DAMAGED, _SYSTEM = (2, 5), 4


def numbers_where(expression: str, files: Sequence[Tuple[str, int]], options: Sequence[str]) -> "array[int]":
    """The numbers of the samples for which an expression of docs/choosing.md holds, in order. files are the files and directories of a dataset, each with the
    number of its samples; options are flags of `ffconvert ls`."""
    if not isinstance(expression, str):
        raise TypeError("an expression is a text, not of the type %s" % type(expression).__name__)
    found = array("q")
    first, answered = 0, False
    unseen: Optional[ValueError] = None
    for path, samples in files:
        try:
            found.extend(_numbers(expression, path, samples, first, options))
            answered = True
        except ValueError as e:
            if _UNSEEN not in str(e):
                raise
            unseen = unseen or e
        first += samples
    if unseen is not None and not answered:
        raise unseen
    return found


def _numbers(expression: str, path: str, samples: int, first: int, options: Sequence[str]) -> "array[int]":
    found = array("q")
    command = [program(), "ls", "--format=json", "--where=" + expression, "--color=never", *options, "--", path]
    with tempfile.TemporaryFile() as said, subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=said) as running:
        try:
            for line in running.stdout:  # type: ignore[union-attr]
                number = _LINE.match(line)
                if number is None or int(number[1]) >= samples:
                    raise DamageError("%s: ffconvert ls has another sample than was opened: %.100r" % (path, line), path)
                found.append(first + int(number[1]))
        except BaseException:
            running.kill()
            raise
        status = running.wait()
        said.seek(0)
        lines = str(said.read(), "utf-8", "replace").strip().splitlines()
    if status:
        _fail(status, lines, path)
    return found


def _fail(status: int, lines: List[str], path: str) -> None:
    why = (lines or ["it printed nothing"])[-1]
    why = why[len("ffconvert: "):] if why.startswith("ffconvert: ") else why
    if status in _DAMAGED:
        raise DamageError(why, path)
    if status == _SYSTEM:
        raise OSError(why)
    if status < 0:
        raise RuntimeError("ffconvert was ended by signal %d: %s" % (-status, why))
    raise ValueError(why)
