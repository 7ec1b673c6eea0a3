"""Batches of numbers of samples, the same on any number of ranks.

>>> sampler = BatchSampler(dataset, batch_size=32, rank=rank, world=8, seed=7)
>>> for epoch in range(sampler.epoch, 90):
...     sampler.set_epoch(epoch)
...     for indices in sampler:
...         ...

docs/order.md says which samples these are. Where torch is installed, a BatchSampler is one of torch, and this module imports torch.
"""

from __future__ import annotations

import sys
from collections import deque
from operator import index as _index
from typing import Any, Deque, Dict, Iterator, List, Optional, Sequence, Tuple

from .identity import digest_of
from .order import Order
from .position import Position

try:
    from torch.utils.data import BatchSampler as _BatchSampler
    from torch.utils.data import Sampler as _Sampler  # pyright: ignore[reportAssignmentType]
    from torch.utils.data.distributed import DistributedSampler as _DistributedSampler
except ImportError:
    class _Sampler:  # type: ignore[no-redef]
        """The classes of torch, where it is not."""

    _BatchSampler = _DistributedSampler = _Sampler

__all__ = ["BatchSampler"]

_MAX_SEED = (1 << 63) - 1


class BatchSampler(_BatchSampler):  # pyright: ignore[reportGeneralTypeIssues]
    """Yields the lists of samples that one rank takes in the steps of an epoch.

    dataset is a Dataset, or anything with a length, or that length. What has no list shards counts as one shard, which matters to modes "window:N" and "interleave:K". A step takes global_batch
    samples on all of world ranks together, or batch_size on each of them. A run is resumed on any number of ranks that leaves their product as it is. seed, mode, ends
    and groups are those of docs/order.md; ends is "drop" unless it is said, drop_last=False is ends="even". A state has neither ends nor groups: give the same again.
    Every rank has as many lists; with ends="short" the last one may be empty. ValueError says which argument is wrong.

    An iteration after one that was finished is the next epoch, also without set_epoch. The attribute sampler is a view of the samples one by one, as torch's batch
    samplers have one; BatchSampler(sampler, batch_size, drop_last) of such a view has its order. One thread at a time may use it.
    """

    def __init__(self, dataset: Any = None, batch_size: Optional[int] = None, rank: int = 0, world: int = 1, seed: int = 0, mode: str = "global",
                 ends: Optional[str] = None, groups: Optional[Sequence[int]] = None, *, global_batch: Optional[int] = None,
                 sampler: Any = None, drop_last: Optional[bool] = None) -> None:
        if sampler is not None or isinstance(dataset, _Sampler):
            like: Any = _batches_of(dataset if sampler is None else sampler)
            dataset, rank, world, seed, mode, groups = like.dataset, like.rank, like.world, like.order.seed, like.order.mode, like.order.groups
            if batch_size in (None, like.batch_size) and global_batch is None:
                global_batch = like.order.batch_size
        rank, world = _index(rank), _index(world)
        size = _index(batch_size) * world if global_batch is None else _index(global_batch)  # type: ignore[arg-type]
        if not 0 <= rank < world or size < world:
            raise ValueError("steps of %d samples for rank %d of %d: every rank wants one or more" % (size, rank, world))
        mix: Any = getattr(dataset, "mix", None)
        if isinstance(mix, str):
            if ends not in (None, "drop"):
                raise ValueError("ends %r: a mixture has no end" % ends)
            ends = "drop"
        elif ends is None or ends == "drop" and drop_last is False:
            ends = "even" if drop_last is False else "drop"
        elif drop_last and ends != "drop":
            raise ValueError("drop_last=True is ends='drop', not %r" % ends)
        n = len(dataset) if hasattr(dataset, "__len__") else _index(dataset)
        if isinstance(mix, str):
            from .mixture import MixedOrder
            if groups is not None:
                raise ValueError("groups are for no mixture")
            self.order: Order = MixedOrder(dataset.sets, size, seed, mode, mix, dataset.steps)
        else:
            self.order = Order(getattr(dataset, "shards", [n]), size, seed, mode, ends, groups)
        self.dataset, self.rank, self.world, self.position = dataset, rank, world, Position()
        #: The samples of a step on this rank; one less in some steps where world does not divide those of all ranks.
        self.batch_size: int = -(-size // world)
        self.drop_last = ends == "drop"
        #: Whether the seed was drawn: then a state brings its own.
        self.drawn: bool = False
        self._digest = digest_of(dataset, n)
        self.sampler = RankSamples(self) if world > 1 else Samples(self)

    @property
    def epoch(self) -> int:
        """The number of the epoch."""
        return self.position.epoch

    @property
    def step(self) -> int:
        """The steps of the epoch that were yielded or left out."""
        return self.position.done

    def set_epoch(self, epoch: int) -> None:
        """Goes to the start of an epoch. For the epoch of a state, or of an iteration that goes on, the position stays where it is."""
        self.position.set_epoch(self.order.checked(epoch))

    def set_step(self, step: int) -> None:
        """Makes iterations leave out the first steps, until it is set again or a state is loaded. The number of steps is legal: then nothing is left; a larger one is a ValueError."""
        self.position.set_step(self._checked(step))

    def begin(self) -> Tuple[int, int, int]:
        """What an iteration starts with: the epoch, its step, and the seed."""
        return (*self.position.next(), self.order.seed)

    def steps(self) -> int:
        """The number of steps of an epoch."""
        return self.order.steps()

    def __len__(self) -> int:
        """The number of lists of an epoch, without those that set_step leaves out."""
        return self.order.steps() - self.position.skip

    def __iter__(self) -> Iterator[List[int]]:
        self.refuse_division()
        return _Lists(self)

    def refuse_division(self) -> None:
        """RuntimeError if these are the batches of one rank of several, and the caller's caller divides them again."""
        ranks = 1 if self.world == 1 else _divided_by(sys._getframe(2))
        if ranks > 1:
            raise RuntimeError("these are the batches of rank %d of %d, which %d processes would divide again: pass rank=0, world=1, "
                               "or do not prepare the loader" % (self.rank, self.world, ranks))

    def lists(self, epoch: int, first: int) -> Iterator[List[int]]:
        """The lists of an epoch from a step on. The position stays."""
        lists = self.order.epoch(epoch).batches(first, self.rank, self.world)
        coming = getattr(self.dataset, "coming", None)
        return lists if coming is None else _announced(lists, coming)

    def state_dict(self, step: Optional[int] = None) -> Dict[str, Any]:
        """The state after the list that was yielded last, or before a step of the epoch; the same on every rank. docs/order.md has its members.

        A DataLoader with workers asks for lists ahead of the batches that it delivers: its own state_dict, or step, is for that.
        """
        return self.order.state(self._digest, self.epoch, self.position.done if step is None else self._checked(step))

    def load_state_dict(self, state: Dict[str, Any]) -> None:
        """Goes on after a state, for one iteration; set_step is forgotten. StateError if it is of another dataset, seed, mode, or number of samples in a step."""
        order = self.order
        if self.drawn and isinstance(state, dict) and type(state.get("seed")) is int and 0 <= state["seed"] <= _MAX_SEED:
            order = order.with_seed(state["seed"])
        step = order.step(state, self._digest)
        self.order = order
        self.position.load(state["epoch"], step, order.steps())

    def _checked(self, step: int) -> int:
        step = _index(step)
        if not 0 <= step <= self.order.steps():
            raise ValueError("step %d: an epoch has %d" % (step, self.order.steps()))
        return step


#: Lists that are said to come before they are yielded.
_AHEAD = 16


def _announced(lists: Iterator[List[int]], coming: Any) -> Iterator[List[int]]:
    """Lists, of which a dataset in an object store is told before they are yielded."""
    coming(None)
    waiting: Deque[List[int]] = deque()
    for numbers in lists:
        coming(numbers)
        waiting.append(numbers)
        if len(waiting) > _AHEAD:
            yield waiting.popleft()
    yield from waiting


class _Lists:
    """One iteration over a BatchSampler. It begins with its first list, so that what is set before counts."""

    def __init__(self, batches: BatchSampler) -> None:
        self._batches = batches
        self._lists: Iterator[List[int]] = iter(())
        self._turn = self._step = 0

    def __iter__(self) -> "_Lists":
        return self

    def __next__(self) -> List[int]:
        position, steps = self._batches.position, self._batches.order.steps()
        if not self._turn:
            epoch, self._step = position.next()
            self._lists, self._turn = self._batches.lists(epoch, self._step), position.begin()
        batch = next(self._lists, None)
        if batch is None:
            position.move(self._turn, steps, True)
            raise StopIteration
        self._step += 1
        position.move(self._turn, self._step, self._step == steps)
        return batch


class Samples(_Sampler):
    """The samples of a BatchSampler one by one: a view of it, with the same epoch and position."""

    def __init__(self, batches: BatchSampler) -> None:
        self.batches, self.dataset, self.drop_last = batches, batches.dataset, batches.drop_last
        self.rank, self.num_replicas = batches.rank, batches.world
        self.shuffle = batches.order.mode != "sequential"

    @property
    def epoch(self) -> int:
        """The number of the epoch."""
        return self.batches.epoch

    @epoch.setter
    def epoch(self, epoch: int) -> None:
        self.batches.set_epoch(epoch)

    @property
    def seed(self) -> int:
        """The seed of the order."""
        return self.batches.order.seed

    @property
    def num_samples(self) -> int:
        """The samples of this rank in an epoch, without those that set_step leaves out."""
        b = self.batches
        steps = len(b)
        sizes = [to - begin for begin, to in (b.order.share(step, b.rank, b.world) for step in (0, b.order.steps() - 1) if steps)]
        return (steps - 1) * sizes[0] + sizes[-1] if steps else 0

    @property
    def total_size(self) -> int:
        """num_samples on all ranks, where each has as many."""
        return self.num_samples * self.num_replicas

    def set_epoch(self, epoch: int) -> None:
        """As that of the BatchSampler."""
        self.batches.set_epoch(epoch)

    def state_dict(self) -> Dict[str, Any]:
        """As that of the BatchSampler: after the last step of which all samples were yielded."""
        return self.batches.state_dict()

    def load_state_dict(self, state: Dict[str, Any]) -> None:
        """As that of the BatchSampler."""
        self.batches.load_state_dict(state)

    def __len__(self) -> int:
        return self.num_samples

    def __iter__(self) -> Iterator[int]:
        self.batches.refuse_division()
        return self._samples()

    def _samples(self) -> Iterator[int]:
        position, steps = self.batches.position, self.batches.order.steps()
        epoch, step = position.next()
        turn = position.begin()
        for batch in self.batches.lists(epoch, step):
            yield from batch[:-1]
            step += 1
            position.move(turn, step, step == steps)  # with the last sample of a step
            yield from batch[-1:]
        position.move(turn, steps, True)


class RankSamples(Samples, _DistributedSampler):  # pyright: ignore[reportGeneralTypeIssues]
    """The samples of one rank of several. Frameworks do not divide those of a DistributedSampler again."""


def _batches_of(sampler: Any) -> BatchSampler:
    if not isinstance(sampler, Samples):
        raise TypeError("a BatchSampler of ffconvert has an order of its own, and does not take a %s: do not replace its sampler "
                        "(Lightning: Trainer(use_distributed_sampler=False), and a loader made in train_dataloader(), or with rank and world)"
                        % type(sampler).__name__)
    return sampler.batches


def _divided_by(frame: Any) -> int:
    """The number of processes among which callers divide what they get: a sampler around this one, as Accelerate's BatchSamplerShard, or a loader of it."""
    while frame is not None:
        caller = frame.f_locals.get("self")
        if isinstance(caller, _Sampler) or frame.f_globals.get("__name__") == "accelerate.data_loader":
            n = getattr(caller, "num_processes", None) or getattr(getattr(caller, "state", None), "num_processes", 1)
            if isinstance(n, int) and n > 1:
                return n
        frame = frame.f_back
    return 1
