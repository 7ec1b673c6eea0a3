"""Several datasets in proportions: docs/order.md, version 2.

>>> mixture = Mixture([(web, 0.7), (books, 0.3)], changes={4000: [0.5, 0.5]})
>>> loader = DataLoader(mixture, batch_size=64, shuffle=True, seed=7)
"""

from __future__ import annotations

import heapq
import math
from array import array
from bisect import bisect_right
from decimal import Decimal
from fractions import Fraction
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union, cast

from .numbered import Numbered
from .order import Epoch, Order, StateError, _key

try:
    import numpy as np
except ImportError:
    np = cast(Any, None)

__all__ = ["VERSION", "Mixture", "MixedOrder"]

#: Version of docs/order.md that has mixtures.
VERSION = 2

_MASK = (1 << 64) - 1
#: The stream of the keys that give each dataset its seed.
_SETS = _MASK
_MAX_TURNS = 1 << 16
_MAX_POSITION = 1 << 62

#: A proportion: 7, 0.7, "0.7".
Weight = Union[int, float, str, Decimal]


class Mixture(Numbered):
    """Datasets from which a loader takes samples in proportions, for as long as it runs.

    parts are the datasets and the proportion of each, as numbers of which 0.7 and 0.3 say the same as 7 and 3. changes gives other proportions from steps on, counted from the start
    of the run over all epochs. After any number of steps of a phase each dataset has given its proportion of it, within one sample; and each gives all of its samples once before it
    gives one again. steps is the number of steps that an epoch has; None: as many as all samples fill.

    Samples are numbered through the datasets, one after another, as those of torch's ConcatDataset; a sample of each must go into one batch with those of others. An order of mode
    "group" is for no mixture. ValueError says which argument is wrong. Threads and processes may use it as they may its datasets.
    """

    def __init__(self, parts: Sequence[Tuple[Any, Weight]], changes: Optional[Mapping[int, Sequence[Weight]]] = None, steps: Optional[int] = None) -> None:
        self.datasets: List[Any] = [dataset for dataset, _ in parts]
        self.steps = steps
        phases = [(0, [weight for _, weight in parts]), *sorted((changes or {}).items())]
        #: The proportions, as docs/order.md has them in a state.
        self.mix: str = ",".join("%d=%s" % (step, ":".join(map(_text_of, weights))) for step, weights in phases)
        #: The samples of the shards of each dataset.
        self.sets: List[List[int]] = [list(getattr(dataset, "shards", [len(dataset)])) for dataset in self.datasets]
        self._ends: List[int] = []
        for dataset in self.datasets:
            self._ends.append(len(dataset) + (self._ends[-1] if self._ends else 0))
        _phases_of(self.mix, len(self.datasets))

    def __len__(self) -> int:
        """Number of samples, of all datasets."""
        return self._ends[-1]

    @property
    def shards(self) -> List[int]:
        """Number of samples of each shard."""
        return [n for shards in self.sets for n in shards]

    def place(self, index: int) -> Tuple[int, int]:
        """The dataset, by its place in parts, and the number in it of a sample."""
        k = bisect_right(self._ends, index)
        return k, index - (self._ends[k - 1] if k else 0)

    def _split(self, indices: Sequence[int]) -> Dict[int, Tuple[List[int], List[int]]]:
        """The samples of each dataset: their numbers in it, and their places in indices."""
        parts: Dict[int, Tuple[List[int], List[int]]] = {}
        for at, index in enumerate(indices):
            k, number = self.place(index)
            numbers, places = parts.setdefault(k, ([], []))
            numbers.append(number)
            places.append(at)
        return parts

    def __getitems__(self, indices: Sequence[int]) -> List[Any]:
        """Several samples by their numbers, in the order that is asked."""
        out: List[Any] = [None] * len(indices)
        for k, (numbers, places) in self._split(indices).items():
            dataset = self.datasets[k]
            several = getattr(dataset, "__getitems__", None)
            for at, sample in zip(places, several(numbers) if several else map(dataset.__getitem__, numbers)):
                out[at] = sample
        return out

    @property
    def coming(self) -> Optional[Callable[[Optional[Sequence[int]]], None]]:
        """As that of a Dataset, if one of the datasets has it."""
        inner = {k: dataset.coming for k, dataset in enumerate(self.datasets) if getattr(dataset, "coming", None) is not None}
        if not inner:
            return None

        def coming(indices: Optional[Sequence[int]]) -> None:
            if indices is None:
                for say in inner.values():
                    say(None)
            else:
                for k, (numbers, _) in self._split(indices).items():
                    if k in inner:
                        inner[k](numbers)
        return coming

    def _typed(self, index: int) -> Any:
        k, number = self.place(index)
        dataset = self.datasets[k]
        return dataset._typed(number) if isinstance(dataset, Numbered) else dataset[number]

    def _of_key(self, key: str) -> List[int]:
        starts = [0, *self._ends]
        return [start + i for start, dataset in zip(starts, self.datasets) if isinstance(dataset, Numbered) for i in dataset._of_key(key)]

    def __repr__(self) -> str:
        return "<%s: %s of %s>" % (type(self).__name__, self.mix, ", ".join(map(repr, self.datasets)))


def _text_of(weight: Weight) -> str:
    if isinstance(weight, str):
        return weight
    return format(weight if isinstance(weight, (int, Decimal)) else Decimal(repr(float(weight))), "d" if isinstance(weight, int) else "f")


class _Phase:
    """Proportions that do not change. turns are the datasets of a round, earlier the turns of the same dataset before each in the round."""

    def __init__(self, step: int, weights: List[int]) -> None:
        self.step, self.weights, self.sum = step, weights, sum(weights)
        self.turns, self.earlier = _turns_of(weights, self.sum)
        self.start, self.before = 0, [0] * len(weights)  # its first position; samples of each dataset that earlier phases take

    def taken(self, k: int, n: int) -> int:
        """How many samples of a dataset the first n have."""
        rounds, rest = divmod(n, self.sum)
        return rounds * self.weights[k] + self.turns[:rest].count(k)

    @property
    def text(self) -> str:
        return "%d=%s" % (self.step, ":".join(map(str, self.weights)))


def _turns_of(weights: List[int], total: int) -> Tuple["array[int]", "array[int]"]:
    """The round of weights: who of those whose turn has come has to have it soonest."""
    turns, earlier, had = array("q"), array("q"), [0] * len(weights)
    later = [(0, k) for k, w in enumerate(weights) if w]  # when the next turn of each may be
    ready: List[Tuple[int, int]] = []                     # when that has to be over
    for s in range(total):
        while later and later[0][0] <= s:
            k = heapq.heappop(later)[1]
            heapq.heappush(ready, (-(-(had[k] + 1) * total // weights[k]), k))
        k = heapq.heappop(ready)[1]
        turns.append(k)
        earlier.append(had[k])
        had[k] += 1
        if had[k] < weights[k]:
            heapq.heappush(later, (had[k] * total // weights[k], k))
    return turns, earlier


def _weights_of(texts: Sequence[str]) -> List[int]:
    weights = []
    for text in texts:
        whole, _, fraction = text.partition(".")
        if len(text) > 20 or not (whole + fraction).isascii() or not (whole + fraction).isdigit():
            raise ValueError("%r is no proportion: want numbers as 7 or 0.7" % text)
        weights.append(Fraction(int(whole + fraction), 10 ** len(fraction)))
    if not any(weights):
        raise ValueError("all proportions are 0")
    scale = 1
    for w in weights:
        scale = scale * w.denominator // math.gcd(scale, w.denominator)
    numbers = [int(w * scale) for w in weights]
    divisor = 0
    for n in numbers:
        divisor = math.gcd(divisor, n)
    numbers = [n // divisor for n in numbers]
    if sum(numbers) > _MAX_TURNS:
        raise ValueError("without common divisor the proportions have the sum %d, more than %d: round them" % (sum(numbers), _MAX_TURNS))
    return numbers


def _phases_of(text: str, sets: int) -> List[_Phase]:
    """The phases of a text as "7:3,4000=1:1", for so many datasets."""
    phases: List[_Phase] = []
    for k, part in enumerate(text.split(",")):
        at, changed, weights = part.partition("=")
        if not changed:
            at, weights = "0", part
        step = int(at) if at.isascii() and at.isdigit() and len(at) < 20 else -1
        if step < 0 or (k == 0) != (step == 0) or k > 0 and step <= phases[-1].step:
            raise ValueError("mix %r: want steps that ascend, the first one 0, as in 7:3,4000=1:1" % text)
        try:
            phase = _Phase(step, _weights_of(weights.split(":")))
        except ValueError as e:
            raise ValueError("mix %r: %s" % (text, e)) from None
        if len(phase.weights) != sets:
            raise ValueError("mix %r: %r are proportions of %d datasets, not of %d" % (text, weights, len(phase.weights), sets))
        phases.append(phase)
    return phases


class MixedOrder(Order):
    """The order of a mixture. sets has the samples of the shards of each dataset; mix is as "7:3,4000=1:1": proportions, and others from steps on. steps is that of an epoch. As
    Order has it are batch, seed, and mode, which each dataset has by itself; mode "group" and ends are for no mixture."""

    def __init__(self, sets: Sequence[Sequence[int]], batch: int, seed: int = 0, mode: str = "global", mix: str = "", steps: Optional[int] = None) -> None:
        if mode == "group":
            raise ValueError("mode group is for no mixture")
        super().__init__([n for shards in sets for n in shards], batch, seed, mode)
        steps = self.n // batch if steps is None else steps
        if not 1 <= steps <= _MAX_POSITION // batch:
            raise ValueError("%d steps in an epoch of a mixture: want 1 to %d" % (steps, _MAX_POSITION // batch))
        #: The samples of an epoch.
        self.n = steps * batch
        self._sets = [list(shards) for shards in sets]
        self._phases = _phases_of(mix, len(sets))
        self.starts: List[int] = []
        for last, phase in zip([None, *self._phases], self._phases):
            if phase.step > _MAX_POSITION // batch:
                raise ValueError("mix %r: step %d is too large" % (mix, phase.step))
            phase.start = phase.step * batch
            if last is not None:
                phase.before = [n + last.taken(k, phase.start - last.start) for k, n in enumerate(last.before)]
            self.starts.append(phase.start)
        self._seed()

    def _seed(self) -> None:
        self.orders: List[Order] = []
        #: The number of the first sample of each dataset.
        self.first: List[int] = []
        at = 0
        for k, shards in enumerate(self._sets):
            try:
                self.orders.append(Order(shards, 1, _key(self.seed, k, _SETS, 0) >> 1, self.mode))
            except ValueError as e:
                raise ValueError("dataset %d of the mixture: %s" % (k + 1, e)) from None
            self.first.append(at)
            at += self.orders[-1].n
        self._epochs: Dict[int, Epoch] = {}

    def with_seed(self, seed: int) -> "MixedOrder":
        """The same order with another seed."""
        other = super().with_seed(seed)
        assert isinstance(other, MixedOrder)
        other._seed()
        return other

    def epoch(self, number: int) -> "MixedEpoch":
        """The order of an epoch, as Order has it. ValueError if it is behind the last position, 2**62."""
        number = self.checked(number)
        if (number + 1) * self.n > _MAX_POSITION:
            raise ValueError("epoch %d of %d samples: positions end at %d" % (number, self.n, _MAX_POSITION))
        return MixedEpoch(self, number)

    def epoch_of(self, k: int, number: int) -> Epoch:
        """An epoch of a dataset. The latest is kept."""
        known = self._epochs.get(k)
        if known is None or known.number != number:
            self._epochs[k] = known = self.orders[k].epoch(number)
        return known

    def state(self, dataset: str, epoch: int, step: int) -> Dict[str, Any]:
        """The state before a step of an epoch."""
        state = super().state(dataset, epoch, step)
        at = epoch * self.steps() + step
        mix = ",".join(phase.text for k, phase in enumerate(self._phases) if k == 0 or phase.step < at)
        return {**state, "order": VERSION, "steps": self.steps(), "mix": mix}

    def step(self, state: Dict[str, Any], dataset: str) -> int:
        """The step that comes next by a state. Proportions may have changed from there on."""
        if isinstance(state, dict) and all(type(state.get(name)) is int for name in ("epoch", "position", "batch", "steps")) and state["batch"] == self.batch_size:
            at = state["epoch"] * state["steps"] + state["position"] // state["batch"]
            now = self.state(dataset, 0, at)["mix"]
            if isinstance(state.get("mix"), str) and state["mix"] != now:
                raise StateError("the state is not of this run: its mix is %.200s, not %s" % (state["mix"], now))
            state = {**state, "mix": self.state(dataset, 0, 0)["mix"]} if "mix" in state and isinstance(state["mix"], str) else state
        return super().step(state, dataset)


class MixedEpoch(Epoch):
    """The order of an epoch of a mixture, which MixedOrder.epoch returns."""

    def __init__(self, order: MixedOrder, number: int) -> None:
        self.order: MixedOrder = order
        self.number = number
        self._base = number * order.n

    def _list(self, lo: int, hi: int) -> List[int]:
        order, out = self.order, []
        for m in (self._base + p % order.n for p in range(lo, hi)):
            phase = order._phases[bisect_right(order.starts, m) - 1]
            rounds, turn = divmod(m - phase.start, phase.sum)
            k = phase.turns[turn]
            epoch, p = divmod(phase.before[k] + rounds * phase.weights[k] + phase.earlier[turn], order.orders[k].n)
            out.append(order.first[k] + order.epoch_of(k, epoch)._list(p, p + 1)[0])
        return out

    def _array(self, p: Any) -> Any:
        order = self.order
        out = np.empty(len(p), np.int64)
        positions = p.astype(np.int64) + self._base
        phases = np.searchsorted(np.array(order.starts, np.int64), positions, side="right") - 1
        for n in np.unique(phases):
            phase, there = order._phases[n], np.flatnonzero(phases == n)
            rounds, turns = np.divmod(positions[there] - phase.start, phase.sum)
            of = np.asarray(phase.turns, np.int64)[turns]
            numbers = np.array(phase.before, np.int64)[of] + rounds * np.array(phase.weights, np.int64)[of] + np.asarray(phase.earlier, np.int64)[turns]
            for k in np.unique(of):
                mine = there[of == k]
                epochs, at = np.divmod(numbers[of == k], order.orders[k].n)
                for e in np.unique(epochs):
                    some = epochs == e
                    out[mine[some]] = order.epoch_of(int(k), int(e))._array(at[some].astype(np.uint64)) + order.first[k]
        return out
