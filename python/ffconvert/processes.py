"""Processes that work on a dataset: forked with it, so that nothing of it is pickled, and gone when their parent is.

What they call, this process must not have called before: a file that the dataset opens at its first sample would have one position for all of them.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import sys
import threading
from concurrent.futures import Future, ProcessPoolExecutor
from typing import Any, Callable, Iterator

__all__ = ["Pool", "apart", "pool"]


class Pool:
    """Processes that were begun."""

    def __init__(self, executor: ProcessPoolExecutor) -> None:
        self._executor = executor

    def submit(self, do: Callable[..., Any], *args: Any) -> "Future[Any]":
        """Calls do(*args) in one of them. An error that cannot be sent here is a RuntimeError with its type and words."""
        return self._executor.submit(_call, do, args)


@contextlib.contextmanager
def pool(workers: int, begin: Callable[..., Any], *given: Any) -> Iterator[Pool]:
    """Processes, each of which calls begin(*given) first. They are forked where the system can, and end when this process has, however that was.
    Where the block raises an error they are ended at once."""
    context = multiprocessing.get_context("fork" if "fork" in multiprocessing.get_all_start_methods() else None)
    with ProcessPoolExecutor(workers, context, _begin, (begin, given)) as executor:
        try:
            yield Pool(executor)
        except BaseException:
            for process in list((getattr(executor, "_processes", None) or {}).values()):  # 3.14 has terminate_workers
                process.terminate()
            raise


def apart(do: Callable[[], Any]) -> Any:
    """What do() returns, which a forked process calls: nothing that it opens or draws is so in this one."""
    if "fork" not in multiprocessing.get_all_start_methods() or multiprocessing.current_process().daemon:
        return do()
    with pool(1, _keep, do) as alone:
        return alone.submit(_kept).result()


_do: Callable[[], Any]


def _keep(do: Callable[[], Any]) -> None:
    global _do
    _do = do


def _kept() -> Any:
    return _do()


def _call(do: Callable[..., Any], args: Any) -> Any:
    try:
        return do(*args)
    except BaseException as e:
        try:
            pickle.loads(pickle.dumps(e))
        except Exception:
            raise RuntimeError("%s: %s" % (type(e).__name__, e)) from None
        raise


def _begin(begin: Callable[..., Any], given: Any) -> None:
    torch: Any = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(1)  # of the threads that this process had a fork has none: torch would wait for them
    parent: Any = multiprocessing.parent_process()
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    begin(*given)


def _end_with(parent: Any) -> None:
    parent.join()
    os._exit(1)
