"""Opens files of datasets. A directory may be hostile: a FIFO would be waited for, /dev/zero has no end, a link leads anywhere."""

from __future__ import annotations

import errno
import os
import stat
from typing import Callable, TypeVar

from .errors import DamageError

try:
    import resource
except ImportError:  # not a Unix
    resource = None  # type: ignore[assignment]

__all__ = ["open_regular", "stat_regular", "with_room"]

_T = TypeVar("_T")
_FLAGS: int = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def stat_regular(path: str, follow: bool) -> os.stat_result:
    """What the system says of a regular file. With follow=False a link in its place is an error, wherever it leads."""
    found = os.stat(path) if follow else os.lstat(path)
    if stat.S_ISLNK(found.st_mode):
        raise DamageError("%s: a link, where a dataset has a file: copy it there, or give the name of the file it leads to" % path, path)
    if not stat.S_ISREG(found.st_mode):
        raise _not_regular(path)
    return found


def open_regular(path: str, follow: bool) -> int:
    """Opens a regular file and returns its descriptor. follow is as stat_regular has it."""
    stat_regular(path, follow)  # before it is opened: that may wait, or move a tape
    fd = with_room(lambda: os.open(path, _FLAGS if follow else _FLAGS | getattr(os, "O_NOFOLLOW", 0)))
    if stat.S_ISREG(os.fstat(fd).st_mode):
        return fd
    os.close(fd)
    raise _not_regular(path)


def _not_regular(path: str) -> DamageError:
    return DamageError("%s: not a regular file" % path, path)


def with_room(opens: Callable[[], _T]) -> _T:
    """What a function returns that opens a file. Where the soft limit of open files is reached, it raises that to the hard limit."""
    try:
        return opens()
    except OSError as e:
        if e.errno != errno.EMFILE or resource is None:
            raise
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return opens()
