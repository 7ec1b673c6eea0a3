"""Batches of numbers of samples, the same on any number of ranks.

>>> sampler = BatchSampler(dataset, batch_size=32, rank=rank, world=8, seed=7)
>>> for epoch in range(sampler.epoch, 90):
...     sampler.set_epoch(epoch)
...     for indices in sampler:
...         ...

docs/order.md says which samples these are.
"""

from __future__ import annotations

from operator import index as _index
from typing import Any, Dict, Iterator, List, Optional, Sequence

from .order import Order

__all__ = ["BatchSampler"]


class BatchSampler:
    """Yields the lists of samples that one rank takes in the steps of an epoch.

    dataset is a Dataset, or anything with a length, or that length. A step takes batch_size samples on each of world ranks, hence
    batch_size * world in all: a run that is resumed on other ranks changes batch_size so that the product stays. seed, mode, ends and groups are
    those of docs/order.md. With ends="short" the last list has fewer samples than batch_size, perhaps none; every rank has as many lists.
    """

    def __init__(self, dataset: Any, batch_size: int, rank: int = 0, world: int = 1, seed: int = 0, mode: str = "global",
                 ends: str = "drop", groups: Optional[Sequence[int]] = None) -> None:
        batch_size, rank, world = _index(batch_size), _index(rank), _index(world)
        if batch_size < 1 or not 0 <= rank < world:
            raise ValueError("batches of %d samples for rank %d of %d: there are none" % (batch_size, rank, world))
        n = len(dataset) if hasattr(dataset, "__len__") else _index(dataset)
        self.order = Order(getattr(dataset, "shards", [n]), batch_size * world, seed, mode, ends, groups)
        self.batch_size, self.rank, self.world = batch_size, rank, world
        self._dataset: str = getattr(dataset, "digest", "samples:%d" % n)
        self._epoch = self._start = self._next = 0

    @property
    def epoch(self) -> int:
        """The number of the epoch."""
        return self._epoch

    @property
    def step(self) -> int:
        """The step that the next iteration begins with."""
        return self._start

    def set_epoch(self, epoch: int) -> None:
        """Goes to an epoch: to its begin, or, if it is the epoch that set_step or a state was for, to the step of these."""
        if epoch != self._epoch:
            self._epoch = self.order.epoch(epoch).number
            self.set_step(0)

    def set_step(self, step: int) -> None:
        """Makes iterations begin with a step, until it is set again. The number of steps is legal: then nothing is left."""
        self._start = self._next = self._checked(step)

    def __len__(self) -> int:
        """The number of lists that an iteration yields: those of an epoch without the steps before set_step."""
        return self.order.steps() - self._start

    def __iter__(self) -> Iterator[List[int]]:
        epoch, first = self.order.epoch(self._epoch), self._start
        for step in range(first, self.order.steps()):
            self._next = step + 1
            batch = epoch.batch(step, self.rank, self.world)
            yield batch if isinstance(batch, list) else batch.tolist()

    def state_dict(self, step: Optional[int] = None) -> Dict[str, Any]:
        """The state after the list that was yielded last, or before a step of the epoch; the same on every rank.

        A DataLoader with workers asks for lists ahead of the batches that it delivers: its own state_dict, or step, is for that.
        """
        return self.order.state(self._dataset, self._epoch, self._next if step is None else self._checked(step))

    def load_state_dict(self, state: Dict[str, Any]) -> None:
        """Goes on after a state. StateError if it is of another dataset, seed, mode, or number of samples in a step."""
        step = self.order.step(state, self._dataset)
        self._epoch = state["epoch"]
        self.set_step(step)

    def _checked(self, step: int) -> int:
        step = _index(step)
        if not 0 <= step <= self.order.steps():
            raise ValueError("step %d: an epoch has %d" % (step, self.order.steps()))
        return step
