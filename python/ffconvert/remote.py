"""A dataset in an object store: asks the process of this machine that fetches its samples and keeps them in a cache.

That process is `ffconvert cache serve`. It begins with the first process that has the dataset open, and ends with the last. This module is imported for a URL alone.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from array import array
from typing import Any, Iterable, List, Optional, Sequence, Union

from .errors import DamageError

__all__ = ["AT_ONCE", "Remote"]

# What is said: dataset/cached/wire.go has it.
_READ, _SHARDS, _FILE, _COMING, _FORGET, _COUNTS = range(1, 7)
_HERE = 8
_REQUEST, _REPLY = struct.Struct("<qq"), struct.Struct("<q")
_LONGEST = 1 << 20  # bytes of an error
#: Numbers of one request.
AT_ONCE = 1 << 16
#: Indexes that are asked for at once.
_INDEXES = 16
#: The longest path of a socket.
_PATH = 100
#: How often a request is sent to a process that ends before it replies.
_ATTEMPTS = 10
#: Seconds that the process may take to hear what comes. It does nothing but hear it, unless it is stopped.
_HEARING = 1
_DAMAGED, _SYSTEM = (2, 5), 4


#: Held by the threads of a process that was forked, before they have a Remote of their own; so no fork finds it held.
_FORKED = threading.Lock()


class Remote:
    """A dataset at a URL, by its directory in a cache. Any number of threads may use it, and processes that were forked.

    size is the most bytes of shards that the cache keeps, a number or a text as "200GB"; None: as many as there is room for.
    """

    def __init__(self, url: str, cache: str, size: Union[int, str, None]) -> None:
        self.url, self.cache, self.size = url, cache, size
        self._lock = threading.Lock()
        self._start_lock = threading.Lock()
        self._pid = os.getpid()
        self._free: List[socket.socket] = []  # connections that are not in use
        #: The directory of the dataset in the cache.
        self.path: str = self._start()
        self._users: Optional[int] = None
        self._ahead: Optional[socket.socket] = self._connect()  # open as long as this is, and the process that fetches with it
        self._users = _shared(os.path.join(self.path, "users"))

    def _start(self) -> str:
        """Starts the process that fetches, if there is none, and returns the directory."""
        command = [_program(self.url), "cache", "serve", "--color=never", "--cache-dir=" + self.cache]
        command += [] if self.size is None else ["--cache-size=%s" % self.size]
        with tempfile.TemporaryFile() as said:
            # The URL may have a password, which the list of processes is not to show.
            done = subprocess.run([*command, "-"], input=os.fsencode(self.url) + b"\n", stdout=subprocess.PIPE, stderr=said, check=False)
            said.seek(0)
            lines = str(said.read(), "utf-8", "replace").strip().splitlines()
        if done.returncode:
            why = (lines or ["it printed nothing"])[-1]
            why = why[len("ffconvert: "):] if why.startswith("ffconvert: ") else why
            if done.returncode in _DAMAGED:
                raise DamageError(why, self.url)
            raise OSError(why) if done.returncode == _SYSTEM else ValueError(why)
        return os.fsdecode(done.stdout.strip())

    def _connect(self) -> socket.socket:
        for attempt in range(_ATTEMPTS):
            with contextlib.suppress(OSError):
                return _dial(self.path)
            with self._start_lock:
                path = self._start()
            if path != self.path:
                raise DamageError("%s: another dataset is there now" % self.url, self.url)
            if attempt:
                time.sleep(0.05 * attempt)
        raise OSError("%s: the process that fetches does not answer; %s says why" % (self.url, os.path.join(self.path, "log")))

    def _own(self) -> None:
        """Forgets the connections of the process that this one was forked from."""
        if self._pid != os.getpid():
            with _FORKED:
                if self._pid != os.getpid():
                    self._lock, self._start_lock = threading.Lock(), threading.Lock()  # others may have held them
                    self._drop()
                    self._pid = os.getpid()  # last: from here on other threads go on

    def _ask(self, memory: Any, kind: int, numbers: Iterable[int]) -> int:
        """Sends a request, fills memory with its reply, and returns how many bytes that had."""
        self._own()
        text = _request(kind, numbers)
        why: Exception = OSError("no attempt was made")
        for _ in range(_ATTEMPTS):
            with self._lock:
                connection = self._free.pop() if self._free else None
            connection = connection or self._connect()
            try:
                connection.sendall(text)
                size = _REPLY.unpack(_receive(connection, bytearray(_REPLY.size)))[0]
                if size > len(memory) or size < -_LONGEST:
                    raise OSError("a reply has %d bytes" % size)
                data = _receive(connection, memory[:size] if size >= 0 else bytearray(-size))
            except OSError as e:
                connection.close()
                why = e
                continue
            except BaseException:  # the reply would be taken for that of the next request
                connection.close()
                raise
            with self._lock:
                self._free.append(connection)
            if size < 0:
                said = str(data[1:], "utf-8", "replace")
                raise DamageError(said, self.url) if data[:1] == b"d" else OSError(said)
            return int(size)
        raise OSError("%s: the process that fetches has ended %d times: %s" % (self.url, _ATTEMPTS, why))

    def read(self, numbers: List[int], memory: Any) -> None:
        """Fills memory with samples, which are given by their numbers in the dataset and ascend. It has the size that they have together."""
        view = memoryview(memory).cast("B") if len(memory) else memoryview(b"")
        if self._ask(view, _READ, numbers) != len(view):
            raise OSError("%s: the process that fetches sent less than was asked for" % self.url)

    def here(self, numbers: Sequence[int]) -> None:
        """Makes samples be in their copies, of shards that are kept, and as far as the disk has room. Their numbers ascend."""
        for k in range(0, len(numbers), AT_ONCE):
            self._ask(memoryview(b""), _HERE, numbers[k:k + AT_ONCE])

    def shards(self, numbers: List[int]) -> List[bool]:
        """Makes the headers of shards be in their copies, and says of each whether all its samples will be."""
        said = bytearray(len(numbers))
        self._ask(memoryview(said), _SHARDS, numbers)
        return [one == 1 for one in said]

    def bring(self, numbers: Sequence[int]) -> None:
        """Makes the indexes of shards be in the directory, or meta.json, which is -1."""
        if len(numbers) == 1:
            return self._bring(numbers[0])
        from concurrent.futures import ThreadPoolExecutor
        with ThreadPoolExecutor(_INDEXES) as threads:
            for _ in threads.map(self._bring, numbers):
                pass

    def _bring(self, number: int) -> None:
        self._ask(memoryview(b""), _FILE, [number])

    def fetched(self) -> int:
        """The bytes of shards that came from the object store since the process that fetches began."""
        count = bytearray(8)
        self._ask(memoryview(count), _COUNTS, [])
        return int.from_bytes(count, "little")

    def coming(self, numbers: Optional[List[int]]) -> None:
        """Says which samples will be read, in this order, behind those that were said before; with None, that these will not."""
        self._own()
        try:
            with self._lock:
                if self._ahead is None:
                    self._ahead = self._connect()
                self._ahead.settimeout(_HEARING)
                if numbers is None:
                    self._ahead.sendall(_request(_FORGET, []))
                else:
                    self._ahead.sendall(_request(_COMING, numbers[:AT_ONCE]))
                    _receive(self._ahead, bytearray(_REPLY.size))  # it is known before the first of them is asked for
        except Exception:  # they are fetched when they are read, which says why if they cannot be
            if self._ahead is not None:
                self._ahead.close()
            self._ahead = None

    def close(self) -> None:
        """Closes the connections. The process that fetches ends with the last one."""
        self._own()
        with self._lock:
            self._drop()
            if self._users is not None:
                os.close(self._users)
                self._users = None

    def _drop(self) -> None:
        for connection in [*self._free, *([self._ahead] if self._ahead is not None else [])]:
            connection.close()
        self._free, self._ahead = [], None

    def __del__(self) -> None:
        if hasattr(self, "_ahead"):
            self.close()


def _program(url: str) -> str:
    from .writer import program
    try:
        return program()
    except FileNotFoundError as e:
        raise FileNotFoundError("%s: a dataset in an object store is read by the program ffconvert: %s; or copy it where there is one: ffconvert copy %s out/"
                                % (url, e, shlex.quote(url))) from None


def _shared(path: str) -> Optional[int]:
    """A file that is locked by all users together, so that nobody removes the dataset; None where files are not locked. It is open in processes that are forked, too."""
    import fcntl
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_SH)
    except OSError:
        os.close(fd)
        return None
    return fd


def _dial(path: str) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        name = os.path.join(path, "socket")
        if len(os.fsencode(name)) <= _PATH:
            connection.connect(name)
            return connection
        directory = os.open(path, os.O_RDONLY)
        try:
            connection.connect("/proc/self/fd/%d/socket" % directory)
        finally:
            os.close(directory)
        return connection
    except BaseException:
        connection.close()
        raise


def _request(kind: int, numbers: Iterable[int]) -> bytes:
    values = array("q", numbers)
    if sys.byteorder == "big":
        values.byteswap()
    return _REQUEST.pack(kind, len(values)) + values.tobytes()


def _receive(connection: socket.socket, memory: Any) -> Any:
    view = memoryview(memory)
    while len(view):
        got = connection.recv_into(view)
        if not got:
            raise OSError("the process that fetches has ended")
        view = view[got:]
    return memory
