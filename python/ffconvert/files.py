"""Opens files of datasets. A directory may be hostile: a FIFO would be waited for, /dev/zero has no end, a link leads anywhere."""

from __future__ import annotations

import errno
import os
import stat

from .errors import DamageError

try:
    import resource
except ImportError:  # not a Unix
    resource = None  # type: ignore[assignment]

__all__ = ["open_regular"]

_FLAGS: int = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def open_regular(path: str, follow: bool) -> int:
    """Opens a regular file and returns its descriptor. With follow=False a link in its place is an error, wherever it leads."""
    found = os.stat(path) if follow else os.lstat(path)  # before it is opened: that may wait, or move a tape
    if stat.S_ISLNK(found.st_mode):
        raise DamageError("%s: a link, where a dataset has a file: copy it there, or give the name of the file it leads to" % path, path)
    if stat.S_ISREG(found.st_mode):
        fd = _open(path, _FLAGS if follow else _FLAGS | getattr(os, "O_NOFOLLOW", 0))
        if stat.S_ISREG(os.fstat(fd).st_mode):
            return fd
        os.close(fd)
    raise DamageError("%s: not a regular file" % path, path)


def _open(path: str, flags: int) -> int:
    """Opens a file. Where the soft limit of open files is reached, it raises that to the hard limit."""
    try:
        return os.open(path, flags)
    except OSError as e:
        if e.errno != errno.EMFILE or resource is None:
            raise
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return os.open(path, flags)
