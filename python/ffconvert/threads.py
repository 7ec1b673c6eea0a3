"""Batches that threads read ahead, in order, in place of processes.

Reading and decoding are long calls of native functions, which hold no lock of Python: threads share one reader, and a batch goes to the loop as it is, without a
copy to another process.
"""

from __future__ import annotations

import atexit
import math
import os
import queue
import threading
import time
import weakref
from collections import deque
from typing import Any, Callable, Deque, Iterable, Iterator, List, NamedTuple, Optional

__all__ = ["Batches", "Probe", "probe"]

#: Seconds that the exit of the process waits for threads.
_EXIT = 2.0
#: Seconds between two looks at signals while the loop waits for a batch. Python loses one that comes just before it begins to wait: nothing wakes it up then.
_LOOK = 1.0
#: Seconds that a thread sleeps between two looks at Python's lock.
_BEAT = 0.0005


class _Task:
    """A batch that some thread makes."""

    __slots__ = ("numbers", "batch", "error", "done")

    def __init__(self, numbers: Any) -> None:
        self.numbers, self.batch, self.done = numbers, None, threading.Event()
        self.error: Optional[BaseException] = None

    def run(self, fetch: Callable[[Any], Any]) -> None:
        try:
            self.batch = fetch(self.numbers)
        except BaseException as e:  # the loop raises it
            self.error = e
        self.done.set()


class Batches:
    """Yields fetch(numbers) of lists of numbers, in their order. Threads make ahead of them: those are all that is kept in memory.

    An error of fetch is raised in its place, and the next call gives the batch after it. A loop that is left lets its threads end, each after its batch. fetch is called by
    several threads at once.
    """

    def __init__(self, lists: Iterable[Any], fetch: Callable[[Any], Any], workers: int, ahead: int, timeout: float = 0) -> None:
        self._lists, self._ahead, self._timeout, self._process = iter(lists), ahead, timeout, os.getpid()
        self._waiting: Deque[_Task] = deque()
        self._tasks: "queue.SimpleQueue[Optional[_Task]]" = queue.SimpleQueue()
        #: The batches that were given or have failed, as torch's iterator counts them.
        self._rcvd_idx = 0
        weakref.finalize(self, _end, self._tasks, workers)
        for i in range(workers):
            thread = threading.Thread(target=_work, args=(self._tasks, fetch), name="ffconvert-%d" % i, daemon=True)
            _threads.add(thread)
            thread.start()

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if os.getpid() != self._process:
            raise RuntimeError("this loop was begun in another process, and its threads are there: begin one in this process")
        while len(self._waiting) < self._ahead:
            try:
                task = _Task(next(self._lists))
            except StopIteration:
                break
            self._waiting.append(task)
            self._tasks.put(task)
        if not self._waiting:
            raise StopIteration
        task = self._waiting[0]
        until = time.monotonic() + self._timeout if self._timeout else math.inf
        while not task.done.wait(max(0.0, min(_LOOK, until - time.monotonic()))):
            if time.monotonic() >= until:
                raise RuntimeError("no batch came in %s seconds, the timeout of the loader" % self._timeout)
        self._waiting.popleft()
        self._rcvd_idx += 1
        if task.error is not None:
            try:
                raise task.error
            finally:
                task.error = None  # else the error and its frames hold each other
        return task.batch


def _work(tasks: "queue.SimpleQueue[Optional[_Task]]", fetch: Callable[[Any], Any]) -> None:
    while True:
        task = tasks.get()
        if task is None:
            return
        task.run(fetch)
        task = None  # it is the loop's alone


def _end(tasks: "queue.SimpleQueue[Optional[_Task]]", workers: int) -> None:
    """Takes back what no thread has begun, and ends the threads."""
    try:
        while True:
            tasks.get_nowait()
    except queue.Empty:
        pass
    for _ in range(workers):
        tasks.put(None)


_threads: "weakref.WeakSet[threading.Thread]" = weakref.WeakSet()


def _join() -> None:
    """At the exit threads end their batches, as far as that takes no time: one that comes back to a Python which has ended may end the process by a signal."""
    until = time.monotonic() + _EXIT
    for thread in list(_threads):
        thread.join(max(0.0, until - time.monotonic()))


atexit.register(_join)  # before the first finalizer is made, so that it runs behind all of them


class Probe(NamedTuple):
    """What a batch costs: the seconds it took, and the part of them that Python's lock was held, 0 to 1."""

    seconds: float
    held: float


def probe(make: Callable[[], Any]) -> Probe:
    """Measures how much of a function holds Python's lock, where other threads wait. A thread wakes up beside it again and again: that takes
    5 ms, the switch interval of Python, wherever the lock is held that long."""
    beats: List[float] = []
    stop = threading.Event()

    def beat() -> None:
        while not stop.is_set():
            at = time.perf_counter()
            time.sleep(_BEAT)
            beats.append(time.perf_counter() - at)
    thread = threading.Thread(target=beat, daemon=True)
    begin = time.perf_counter()
    thread.start()
    try:
        make()
    finally:
        seconds = time.perf_counter() - begin
        stop.set()
        thread.join()
    late = sum(max(0.0, took - 1.5 * _BEAT) for took in beats)  # the system alone wakes it up some 0.1 ms late
    return Probe(seconds, min(1.0, late / seconds) if seconds else 0.0)
