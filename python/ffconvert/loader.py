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
import warnings
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple, Union

import torch.distributed
import torch.utils.data

from .collate import collate
from .dataset import Dataset
from .position import Position
from .processes import apart
from .sampler import BatchSampler
from .subset import Subset
from .threads import Batches, Probe, probe

__all__ = ["DataLoader"]

#: Threads wait for Python's lock where they hold it for more than this part of the time, all of them together.
_CROWDED = 1.25
#: Seconds of a batch that is not worth a process.
_QUICK = 0.002


class DataLoader(torch.utils.data.DataLoader):
    """Batches of a Dataset, or of any dataset of torch with a length; a path is opened as a Dataset.

    Without shuffle samples come in the order of the dataset; with it, in that of docs/order.md, by seed and mode, another one in each epoch. Without
    a seed one is drawn, from generator or as torch draws: it is in seed and in every state, and a state brings its own. mode is for shuffle=True:
    "global", which is the default, is one permutation of all samples; "interleave:K" reads K shards side by side, for buckets and disks; "window:N" reads shards nearly one after another, and mixes windows of N samples;
    "resample" draws samples with repetitions. Mode "group" is that of a BatchSampler with groups, given as batch_sampler. A dataset without a list shards, such as torch's
    Subset, is one shard.

    batch_size is for one rank; global_batch, in its place, for all ranks together, whatever their number: batch_size does not count then. rank and world are those of torch.distributed
    where it has been started, unless they are given. ends says what becomes of samples that do not fill a batch: "drop", which is drop_last;
    "even", which is the default: the last batch is short, and some samples come twice if ranks would get unequal ones; "short": none comes twice, and
    ranks may get unequal or empty batches; "pad": the last batch is filled up with the first samples of the epoch. A state does not have ends: give the
    same again. skippable=False makes set_step an error. Arguments that are not here are as torch has them: timeout is in seconds, 0 for none. ValueError says which
    argument is wrong. One thread at a time may use a loader.

    A loop after one that was finished is the next epoch, also without set_epoch; a loop after one that was left starts its epoch again. A state belongs to the
    batch that the loop has got last, whatever workers have read ahead, and is the same on every rank. sampler and batch_sampler are views of the loader:
    calls on them act on it.

    workers says what num_workers counts: "processes", as torch has them; "threads", which share the dataset, its transform and collate_fn with this process, and hand over batches
    without a copy: they want long calls that release Python's lock, as reading, Pillow, numpy and torch are; "auto" measures the first batch of the first loop, in a process of its own, and
    takes threads unless they would wait for that lock, there is a worker_init_fn, or the dataset is not of this package, so that threads may not share it: chosen and why say what it chose. With threads an error has its own type and attributes,
    prefetch_factor batches (2) a thread are read ahead, torch's get_worker_info() is None, and worker_init_fn is not called.
    """

    def __init__(self, dataset: Any, batch_size: int = 1, shuffle: bool = False, sampler: Any = None, batch_sampler: Any = None,
                 num_workers: int = 0, collate_fn: Any = None, pin_memory: bool = False, drop_last: bool = False, timeout: float = 0,
                 worker_init_fn: Any = None, generator: Any = None, *, multiprocessing_context: Any = None,
                 prefetch_factor: Optional[int] = None, persistent_workers: bool = False, skippable: bool = True, seed: Optional[int] = None,
                 mode: Optional[str] = None, ends: Optional[str] = None, global_batch: Optional[int] = None, rank: Optional[int] = None,
                 world: Optional[int] = None, workers: str = "processes") -> None:
        if workers not in ("processes", "threads", "auto"):
            raise ValueError("workers %r: want processes, threads or auto" % (workers,))
        if workers == "threads" and multiprocessing_context is not None:
            raise ValueError("multiprocessing_context is for workers=\"processes\"")
        if workers == "threads" and worker_init_fn is not None:
            warnings.warn("worker_init_fn is for processes, whose random generators it seeds: threads share those of this process, and do not call it", stacklevel=2)
        if isinstance(dataset, (str, os.PathLike)):
            dataset = Dataset(dataset)
        if mode is not None and not shuffle:
            raise ValueError("mode %r is for shuffle=True" % mode)
        self._detected = batch_sampler is None and sampler is None and rank is None and world is None
        if batch_sampler is None and sampler is None:
            rank, world = _place(rank, world)
            drawn = seed is None and shuffle
            batch_sampler = BatchSampler(dataset, batch_size, rank, world, _draw(generator, rank, world) if drawn else seed or 0,
                                         mode or "global" if shuffle else "sequential", ends, global_batch=global_batch,
                                         drop_last=drop_last or (False if ends is None else None))
            batch_sampler.drawn = drawn
        elif batch_sampler is not None and (batch_size != 1 or drop_last):
            raise ValueError("a batch_sampler makes the batches: it goes with neither batch_size nor drop_last")
        elif shuffle or sampler is not None and batch_sampler is not None or (seed, ends, global_batch, rank, world) != (None,) * 5:
            raise ValueError("a sampler has its own order and rank: it goes with neither shuffle, seed, ends, global_batch, rank and world, "
                             "nor another sampler")
        elif sampler is not None:
            batch_sampler = torch.utils.data.BatchSampler(sampler, batch_size, drop_last)
        self._steps: Union[BatchSampler, Foreign] = batch_sampler if isinstance(batch_sampler, BatchSampler) else Foreign(batch_sampler)
        self._lists = _NextLists(self._steps)
        self.shuffle, self.skippable = shuffle, skippable
        #: What was asked: "processes", "threads", "auto".
        self.workers: str = workers
        #: What workers are. Of "auto" that is known when the first loop has started; before it is "".
        self.chosen: str = "" if workers == "auto" else workers
        #: Why "auto" chose so, as a text.
        self.why: str = ""
        more: Dict[str, Any] = {}
        if num_workers and prefetch_factor is not None:
            more["prefetch_factor"] = prefetch_factor
        super().__init__(dataset, batch_sampler=batch_sampler, num_workers=num_workers, collate_fn=collate_fn or collate, pin_memory=pin_memory,
                         timeout=timeout, worker_init_fn=worker_init_fn, generator=generator, multiprocessing_context=multiprocessing_context,
                         persistent_workers=persistent_workers, **more)
        # With a batch sampler torch has others here, and frameworks ask for these. It refuses to set them.
        self.__dict__.update(sampler=getattr(batch_sampler, "sampler", None), batch_size=getattr(batch_sampler, "batch_size", None),
                          drop_last=bool(getattr(batch_sampler, "drop_last", False)))

    @property
    def _index_sampler(self) -> Any:  # torch takes the lists from here
        return self._lists

    def check_worker_number_rationality(self) -> None:
        """torch's warning about more processes than cores, for processes."""
        if getattr(self, "workers", "") == "processes":
            super().check_worker_number_rationality()

    @property
    def epoch(self) -> int:
        """The number of the epoch, from 0."""
        return self._steps.position.epoch

    @property
    def step(self) -> int:
        """The number of batches of the epoch that were delivered or left out."""
        return self._steps.position.done

    @property
    def seed(self) -> Optional[int]:
        """The seed of the order, also if it was drawn. None with a sampler of torch."""
        return self._steps.order.seed if isinstance(self._steps, BatchSampler) else None

    def __repr__(self) -> str:
        if not isinstance(self._steps, BatchSampler):
            return "<%s of %s, by %s>" % (type(self).__name__, type(self.dataset).__name__, type(self._steps.sampler).__name__)
        order = self._steps.order
        workers = ", %d %s" % (self.num_workers, self.chosen or "workers") if self.num_workers else ""
        return "<%s of %d samples: mode %s, seed %d, %d a step, ends %s, rank %d of %d, epoch %d, step %d of %d%s>" % (
            type(self).__name__, order.n, order.mode, order.seed, order.batch_size, order.ends, self._steps.rank, self._steps.world,
            self.epoch, self.step, order.steps(), workers)

    def set_epoch(self, epoch: int) -> None:
        """Goes to the start of an epoch. If it is the epoch of the state that was loaded, or of a loop that goes on, the position stays where it is;
        with another epoch the position of a state is lost."""
        self._steps.set_epoch(epoch)

    def set_step(self, step: int) -> None:
        """Leaves out the first steps of epochs, without reading them, until it is set again or a state is loaded. len() is what is left of an epoch;
        the position of a state that was loaded is lost. ValueError if an epoch has fewer, or the loader was made with skippable=False."""
        if not self.skippable:
            raise ValueError("the loader was made with skippable=False")
        self._steps.set_step(step)

    def __len__(self) -> int:
        """The batches of a whole epoch, without those that set_step leaves out; also after load_state_dict, where the next loop has fewer, as
        frameworks want it."""
        return len(self._steps)

    def __iter__(self) -> Iterator[Any]:  # pyright: ignore[reportIncompatibleMethodOverride]
        if self._detected and _place(None, None) != (self._steps.rank, self._steps.world):  # type: ignore[union-attr]
            raise RuntimeError("the loader was made for rank %d of %d, and this is rank %d of %d: make it after init_process_group, or give rank and world"
                               % (self._steps.rank, self._steps.world, *_place(None, None)))  # type: ignore[union-attr]
        return _Iterator(self._steps, self._open)

    def _open(self) -> Iterator[Any]:
        """The batches from the position on."""
        if self.num_workers and not self.chosen:
            self.chosen, self.why = self._choose()
        if not self.num_workers or self.chosen == "processes":
            batches: Iterator[Any] = super().__iter__()
            return batches
        return Batches(self._lists, self._fetch, self.num_workers, self.num_workers * (self.prefetch_factor or 2), self.timeout)

    def _choose(self) -> Tuple[str, str]:
        """Chooses workers by a batch, which is made for it alone: the first that comes, or the first samples where a sampler is not ours."""
        if self.worker_init_fn is not None:
            return "processes", "there is a worker_init_fn"
        dataset: Any = self.dataset
        while isinstance(dataset, torch.utils.data.Subset):
            dataset = dataset.dataset
        if not isinstance(dataset, (Dataset, Subset)):
            return "processes", "whether threads may share a %s is not known: workers=\"threads\" says that they may" % type(dataset).__name__
        if isinstance(self._steps, BatchSampler):
            numbers: List[int] = next(iter(self._lists), [])
        else:
            whole: Any = self.dataset
            numbers = list(range(min(len(whole), self.batch_size or 1)))
        if not numbers:
            return "threads", "there is no batch"
        try:
            cost = apart(lambda: self._measure(numbers))
        except Exception as e:  # the loop comes to it
            return "threads", "the first batch failed: %s" % e
        use = min(self.num_workers, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
        why = "a batch takes %.1f ms, %.0f %% of them with Python's lock held, and %d workers have %d cores" % (
            1000 * cost.seconds, 100 * cost.held, self.num_workers, use)
        return "processes" if cost.held * use > _CROWDED and cost.seconds > _QUICK else "threads", why

    def _measure(self, numbers: List[int]) -> Probe:
        """What a batch costs once all is imported that it uses."""
        self._fetch(numbers)
        return probe(lambda: self._fetch(numbers))

    def _fetch(self, numbers: List[int]) -> Any:
        """Makes a batch, as torch's workers do."""
        dataset = self.dataset
        getitems = getattr(dataset, "__getitems__", None)
        batch = self.collate_fn(getitems(numbers) if getitems else [dataset[i] for i in numbers])
        if self.pin_memory and torch.cuda.is_available():
            batch = torch.utils.data._utils.pin_memory.pin_memory(batch)  # pyright: ignore[reportAttributeAccessIssue]
        return batch

    def state_dict(self) -> Dict[str, Any]:
        """The state after the batch that was delivered last: some 150 bytes as JSON, the same on every rank. docs/order.md has its members. TypeError with a sampler of torch."""
        return self._steps.state_dict()

    def load_state_dict(self, state: Dict[str, Any]) -> None:
        """Makes the next loop go on after a state, and later ones have whole epochs: set_step is forgotten. StateError if it is of another dataset or order."""
        self._steps.load_state_dict(state)


class _Iterator:
    """One loop over a loader. Until its first batch it follows set_epoch, set_step and load_state_dict; then it moves the position."""

    def __init__(self, steps: Union[BatchSampler, Foreign], open: Callable[[], Any]) -> None:
        self._steps, self._open, self._turn = steps, open, 0
        self._begin, self._batches = steps.begin(), open()
        self._step = self._begin[1]

    def __iter__(self) -> "_Iterator":
        return self

    def __len__(self) -> int:
        return len(self._steps)

    def __next__(self) -> Any:
        position, steps = self._steps.position, self._steps.steps()
        if not self._turn:
            if self._steps.begin() != self._begin:
                self._begin, self._batches = self._steps.begin(), self._open()
            self._step, self._turn = self._begin[1], position.begin()
        try:
            batch = next(self._batches)
        except StopIteration:
            given = self._begin[1] + self._steps.given if isinstance(self._steps, Foreign) else self._steps.steps()
            if self._step >= given:
                position.move(self._turn, self._step, steps is not None)
                raise
            failed = self._step
            self._pass()
            raise RuntimeError("the dataset raised StopIteration for batch %d of epoch %d, which has %d" % (failed, self._begin[0], given)) from None
        except BaseException:
            self._pass()
            raise
        self._step += 1
        position.move(self._turn, self._step, self._step == steps)
        return batch

    def _pass(self) -> None:
        """Counts what torch counts: its next call gives the batch after one that failed, and where workers died or were late, the same again."""
        first = self._begin[1]
        self._step = first + getattr(self._batches, "_rcvd_idx", self._step - first + 1)


class _NextLists:
    """The lists of the epoch and step that come next. Workers read them ahead, so the position stays until a batch is delivered."""

    def __init__(self, steps: Union[BatchSampler, Foreign]) -> None:
        self._steps = steps

    def __iter__(self) -> Iterator[Any]:
        return self._steps.lists(*self._steps.position.next())

    def __len__(self) -> int:
        return len(self._steps)


class Foreign:
    """The steps of a batch sampler of torch, whose order is its own. They can be skipped, not saved."""

    def __init__(self, sampler: Any) -> None:
        self.sampler: Any = sampler
        self.position = Position()
        #: The lists that the sampler gave since the loop began.
        self.given = 0

    def set_epoch(self, epoch: int) -> None:
        for s in (self.sampler, getattr(self.sampler, "sampler", None)):
            set_epoch = getattr(s, "set_epoch", None)
            if set_epoch is not None:
                set_epoch(epoch)
        self.position.set_epoch(epoch)

    def set_step(self, step: int) -> None:
        if not 0 <= step <= len(self.sampler):
            raise ValueError("step %d: an epoch has %d" % (step, len(self.sampler)))
        self.position.set_step(step)

    def begin(self) -> Tuple[int, int]:
        return self.position.next()

    def steps(self) -> Optional[int]:
        return None  # a sampler may say a wrong length, or none

    def __len__(self) -> int:
        return len(self.sampler) - self.position.skip

    def lists(self, epoch: int, first: int) -> Iterator[Any]:
        self.given = 0
        for numbers in itertools.islice(self.sampler, first, None):
            self.given += 1
            yield numbers

    def state_dict(self) -> Dict[str, Any]:
        raise TypeError("the order of %s is not known: states need a loader without sampler, or an ffconvert.BatchSampler"
                        % type(self.sampler).__name__)

    def load_state_dict(self, state: Dict[str, Any]) -> None:
        self.state_dict()


def _place(rank: Optional[int], world: Optional[int]) -> Tuple[int, int]:
    """This process among those that train together."""
    if (rank is None) != (world is None):
        raise ValueError("rank and world belong together")
    if rank is not None and world is not None:
        return rank, world
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        return torch.distributed.get_rank(), torch.distributed.get_world_size()
    return 0, 1


def _draw(generator: Any, rank: int, world: int) -> int:
    """A seed, as torch draws those of its samplers; that of rank 0 for all ranks."""
    device = "cpu" if generator is None else generator.device
    seed = torch.empty((), dtype=torch.int64, device=device).random_(generator=generator).cpu()
    if world > 1:
        if _place(None, None) != (rank, world):
            raise ValueError("rank %d of %d without a seed: give seed, the same to every rank" % (rank, world))
        group = None if torch.distributed.get_backend() == "gloo" else torch.distributed.new_group(backend="gloo")
        torch.distributed.broadcast(seed, 0, group=group)
    return int(seed)
