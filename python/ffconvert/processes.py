"""Processes that write parts of a dataset: forked with it, so that nothing of it is pickled, and gone when their parent is."""

from __future__ import annotations

import multiprocessing
import os
import threading
from concurrent.futures import ProcessPoolExecutor
from typing import Any, Callable

__all__ = ["pool"]


def pool(workers: int, begin: Callable[..., Any], *given: Any) -> ProcessPoolExecutor:
    """Processes, each of which calls begin(*given) first. They are forked where the system can, and end when this process has, however that was."""
    context = multiprocessing.get_context("fork" if "fork" in multiprocessing.get_all_start_methods() else None)
    return ProcessPoolExecutor(workers, context, _begin, (begin, given))


def _begin(begin: Callable[..., Any], given: Any) -> None:
    parent: Any = multiprocessing.parent_process()
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    begin(*given)


def _end_with(parent: Any) -> None:
    parent.join()
    os._exit(1)
