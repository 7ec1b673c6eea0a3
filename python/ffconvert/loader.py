"""torch's DataLoader, with an order that can be resumed.

>>> loader = DataLoader(dataset, batch_size=32, shuffle=True, drop_last=True, num_workers=4)
>>> loader.load_state_dict(saved)
>>> for epoch in range(loader.epoch, 90):
...     loader.set_epoch(epoch)
...     for batch in loader:
...         saved = loader.state_dict()
"""

from __future__ import annotations

import itertools
import os
from typing import Any, Dict, Iterator, Optional, Tuple, Union

import torch.distributed
import torch.utils.data

from .collate import collate
from .dataset import Dataset
from .sampler import BatchSampler

__all__ = ["DataLoader"]


class DataLoader(torch.utils.data.DataLoader):  # type: ignore[type-arg]  # it cannot be subscripted in old versions
    """Batches of a Dataset, or of any dataset of torch with a length; a path is opened as a Dataset.

    Without shuffle samples come in the order of the dataset; with it, in that of docs/order.md, by seed and mode, another one in each epoch. drop_last
    leaves out what does not fill a batch; otherwise the last batch is short. batch_size is for one rank; rank and world are those of
    torch.distributed where it has been started, unless they are given. Arguments that are not here are as torch has them.

    A loop after one that was finished is the next epoch, also without set_epoch; a loop that was left begins its epoch again. generator seeds
    workers, not the order. A state belongs to the batch that the loop has got last, whatever workers have read ahead, and is the same on every rank.
    """

    def __init__(self, dataset: Any, batch_size: int = 1, shuffle: bool = False, sampler: Any = None, batch_sampler: Any = None,
                 num_workers: int = 0, collate_fn: Any = None, pin_memory: bool = False, drop_last: bool = False, timeout: float = 0,
                 worker_init_fn: Any = None, generator: Any = None, *, multiprocessing_context: Any = None,
                 prefetch_factor: Optional[int] = None, persistent_workers: bool = False, skippable: bool = True, seed: int = 0,
                 mode: Optional[str] = None, rank: Optional[int] = None, world: Optional[int] = None) -> None:
        if isinstance(dataset, (str, os.PathLike)):
            dataset = Dataset(dataset)
        if mode is not None and not shuffle:
            raise ValueError("mode %r is for shuffle=True" % mode)
        self._own_order = batch_sampler is None and sampler is None
        if self._own_order:
            rank, world = _place(rank, world)
            batch_sampler = BatchSampler(dataset, batch_size, rank, world, seed, mode or "global" if shuffle else "sequential",
                                         "drop" if drop_last else "short")
        elif shuffle or sampler is not None and batch_sampler is not None or (rank, world) != (None, None):
            raise ValueError("a sampler has its own order and rank: it goes with neither shuffle, rank and world, nor another sampler")
        elif sampler is not None:
            batch_sampler = torch.utils.data.BatchSampler(sampler, batch_size, drop_last)
        self._steps: Union[BatchSampler, _Skipping] = batch_sampler if isinstance(batch_sampler, BatchSampler) else _Skipping(batch_sampler)
        self._batch_size: Optional[int] = getattr(batch_sampler, "batch_size", None)
        self._delivered, self.shuffle, self.skippable = self._steps.step, shuffle, skippable
        self._begun, self._skip = False, 0  # whether a loop has begun since the epoch or step was set; the step of set_step
        more: Dict[str, Any] = {}
        if num_workers and prefetch_factor is not None:
            more["prefetch_factor"] = prefetch_factor
        if hasattr(dataset, "__getitems__"):  # one call reads a batch, in every version of torch
            more.update(sampler=self._steps, batch_size=None)
        else:
            more["batch_sampler"] = self._steps
        super().__init__(dataset, num_workers=num_workers, collate_fn=collate_fn or collate, pin_memory=pin_memory, timeout=timeout,
                         worker_init_fn=worker_init_fn, generator=generator, multiprocessing_context=multiprocessing_context,
                         persistent_workers=persistent_workers, **more)

    @property
    def batch_size(self) -> Optional[int]:
        """Samples of a batch; torch itself has None where a sampler makes batches."""
        return self._batch_size

    @batch_size.setter
    def batch_size(self, value: Optional[int]) -> None:
        pass  # torch sets what it was given

    @property
    def epoch(self) -> int:
        """The number of the epoch."""
        return self._steps.epoch

    def set_epoch(self, epoch: int) -> None:
        """Goes to an epoch, and to its begin unless it is the one that set_step or load_state_dict was for."""
        if epoch != self.epoch:
            self._skip = 0
        self._steps.set_epoch(epoch)
        self._delivered, self._begun = self._steps.step, False

    def set_step(self, step: int) -> None:
        """Leaves out the first steps of epochs, without reading them, until it is set again. len() is what is left."""
        if not self.skippable:
            raise ValueError("the loader was made with skippable=False")
        self._steps.set_step(step)
        self._delivered = self._skip = self._steps.step
        self._begun = False

    def __iter__(self) -> Iterator[Any]:  # type: ignore[override]
        if self._own_order and self._begun and self._delivered == self._steps.step + len(self._steps):
            self._steps.set_epoch(self.epoch + 1)
            self._steps.set_step(self._skip)
        self._delivered, self._begun = self._steps.step, True
        for batch in super().__iter__():
            self._delivered += 1
            yield batch

    def state_dict(self) -> Dict[str, Any]:
        """The state after the batch that was delivered last."""
        return self._steps.state_dict(self._delivered)

    def load_state_dict(self, state: Dict[str, Any]) -> None:
        """Makes the next iteration go on after a state. StateError if it is of another dataset or order."""
        self._steps.load_state_dict(state)
        self._delivered, self._begun, self._skip = self._steps.step, False, 0


class _Skipping:
    """Skips the first batches of a sampler of torch, whose order is its own."""

    def __init__(self, sampler: Any) -> None:
        self.sampler: Any = sampler
        self.step = self.epoch = 0

    def set_epoch(self, epoch: int) -> None:
        for s in (self.sampler, getattr(self.sampler, "sampler", None)):
            if hasattr(s, "set_epoch"):
                s.set_epoch(epoch)
        if epoch != self.epoch:
            self.epoch, self.step = epoch, 0

    def set_step(self, step: int) -> None:
        if not 0 <= step <= len(self.sampler):
            raise ValueError("step %d: an epoch has %d" % (step, len(self.sampler)))
        self.step = step

    def __len__(self) -> int:
        return len(self.sampler) - self.step

    def __iter__(self) -> Iterator[Any]:
        return itertools.islice(self.sampler, self.step, None)

    def state_dict(self, step: int) -> Dict[str, Any]:
        raise TypeError("the order of %s is not known: states need a loader without sampler, or an ffconvert.BatchSampler"
                        % type(self.sampler).__name__)

    def load_state_dict(self, state: Dict[str, Any]) -> None:
        self.state_dict(0)


def _place(rank: Optional[int], world: Optional[int]) -> Tuple[int, int]:
    """This process among those that train together."""
    if (rank is None) != (world is None):
        raise ValueError("rank and world belong together")
    if rank is not None and world is not None:
        return rank, world
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        return torch.distributed.get_rank(), torch.distributed.get_world_size()
    return 0, 1
