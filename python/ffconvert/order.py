"""Which sample comes at which position of an epoch: docs/order.md, version 1.

>>> order = Order([1000], batch=64, seed=7)
>>> epoch = order.epoch(0)
>>> first = epoch.batch(step=0, rank=0, world=2)   # 32 numbers of samples

The order is a function of the dataset, the seed and the epoch: nothing is drawn or kept, and a run goes on anywhere with any number of
ranks. With numpy, numbers are int64 arrays; without it, lists.
"""

from __future__ import annotations

import bisect
import copy
import hashlib
from array import array
from operator import index as _index
from typing import Any, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple, Union, cast

try:
    import numpy as np
except ImportError:  # everything works without it, more slowly
    np = cast(Any, None)

__all__ = ["VERSION", "Order", "Epoch", "StateError", "digest"]

#: Version of docs/order.md that this module implements.
VERSION = 1

#: Numbers of samples: an array of numpy, int64, of one dimension; without numpy a list.
Numbers = Union[List[int], Any]

_MASK = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15
_MIX1 = 0xBF58476D1CE4E5B9
_MIX2 = 0x94D049BB133111EB
_ROUNDS = 8
_MIN_BITS = 8
_MAX_SAMPLES = 1 << 48
_MAX_BATCH = 1 << 40
_MAX_LANES = 1 << 40
_MAX_INT = (1 << 63) - 1

#: Numbers up to which a list takes less time than the operations on arrays, some 120 µs whatever their length.
_FEW = 32
#: Numbers of samples that batches computes at once.
_AT_ONCE = 4096

_SAMPLES, _SHARDS, _WINDOW = 0, 1, 2  # streams of keys: what is permuted

_LANE_ROWS = 256  # samples of each lane in a window of mode "interleave:K"


class StateError(ValueError):
    """A state is of another dataset, or of another order. The message says what differs."""


def _mix(z: int) -> int:
    z = ((z ^ (z >> 30)) * _MIX1) & _MASK
    z = ((z ^ (z >> 27)) * _MIX2) & _MASK
    return z ^ (z >> 31)


def _key(seed: int, epoch: int, stream: int, n: int) -> int:
    k = _mix((seed + _GOLDEN) & _MASK)
    k = _mix(((k ^ epoch) + _GOLDEN) & _MASK)
    k = _mix(((k ^ stream) + _GOLDEN) & _MASK)
    return _mix(((k ^ n) + _GOLDEN) & _MASK)


def _mix_array(z: Any) -> Any:
    z = (z ^ (z >> np.uint64(30))) * np.uint64(_MIX1)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(_MIX2)
    return z ^ (z >> np.uint64(31))


class _Permutation:
    """A permutation of 0 … n-1."""

    def __init__(self, key: int, n: int) -> None:
        self.n = n
        width = max(_MIN_BITS, (n - 1).bit_length())
        self.low, self.high = width // 2, width - width // 2
        self.keys = [_mix((key + (r + 1) * _GOLDEN) & _MASK) for r in range(_ROUNDS)]

    def at(self, x: int) -> int:
        while True:
            a, b = self.low, self.high
            for k in self.keys:
                hi = x >> a
                lo = (x & ((1 << a) - 1)) ^ (_mix((hi + k) & _MASK) >> (64 - a))
                x = lo << b | hi
                a, b = b, a
            if x < self.n:
                return x

    def _once(self, x: Any) -> Any:
        a, b = self.low, self.high
        for k in self.keys:
            hi = x >> np.uint64(a)
            lo = (x & np.uint64((1 << a) - 1)) ^ (_mix_array(hi + np.uint64(k)) >> np.uint64(64 - a))
            x = lo << np.uint64(b) | hi
            a, b = b, a
        return x

    def all_of(self, x: Any) -> Any:
        """Where each of an array of uint64 goes."""
        x = self._once(x)
        outside = np.flatnonzero(x >= np.uint64(self.n))
        while len(outside):
            x[outside] = again = self._once(x[outside])
            outside = outside[again >= np.uint64(self.n)]
        return x


def _draw(key: int, n: int, p: int) -> int:
    return (_mix((key + (p + 1) * _GOLDEN) & _MASK) * n) >> 64


def _draw_array(key: int, n: int, p: Any) -> Any:
    z = _mix_array((p + np.uint64(1)) * np.uint64(_GOLDEN) + np.uint64(key))
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    z1, z0, n1, n0 = z >> half, z & low, np.uint64(n >> 32), np.uint64(n & 0xFFFFFFFF)
    middle = z1 * n0 + (z0 * n0 >> half)
    return z1 * n1 + (middle >> half) + ((z0 * n1 + (middle & low)) >> half)


def _lanes_of(mode: str) -> Tuple[int, int]:
    """The number of lanes, which is 1 for mode "window:N", and the size of a window; 0 and 0 for another mode."""
    kind, _, text = mode.partition(":") if isinstance(mode, str) else ("", "", "")
    valid = text.isascii() and text.isdigit() and len(text) < 20 and not text.startswith("0")
    if kind == "window":
        if not valid or int(text) > _MAX_INT:
            raise ValueError("mode %r: want window: and a number of samples, 1 or more, as in window:65536" % mode)
        return 1, int(text)
    if kind == "interleave":
        if not valid or int(text) > _MAX_LANES:
            raise ValueError("mode %r: want interleave: and a number of shards, 1 to %d, as in interleave:64" % (mode, _MAX_LANES))
        return int(text), _LANE_ROWS * int(text)
    return 0, 0


def _numbers_of(groups: Sequence[int]) -> Any:
    if np is None:
        return [_index(g) for g in groups]
    numbers = np.asarray(groups)
    if numbers.ndim != 1 or numbers.dtype.kind not in "biu":
        raise ValueError("groups: want a whole number of 64 bits for each sample")
    return numbers


class Order:
    """The order of a dataset of shards that have so many samples, in this order.

    batch is the global batch: the samples of a step on all ranks together. mode is "global", "sequential", "resample", "group", "window:N" or
    "interleave:K"; ends is "drop", "pad", "short" or "even"; groups has a whole number for each sample, for mode "group" alone. docs/order.md has
    what they mean. ValueError says which argument is wrong. Nothing changes an Order: any number of threads may call it.
    """

    def __init__(self, shards: Sequence[int], batch: int, seed: int = 0, mode: str = "global", ends: str = "drop",
                 groups: Optional[Sequence[int]] = None) -> None:
        self.shards = [_index(n) for n in shards]
        batch, seed = _index(batch), _index(seed)
        self.lanes, self.window = _lanes_of(mode)
        if not self.window and mode not in ("global", "sequential", "resample", "group"):
            raise ValueError("mode %r: want global, sequential, resample, group, window:N, or interleave:K" % mode)
        if any(n < 0 for n in self.shards) or sum(self.shards) > _MAX_SAMPLES:
            raise ValueError("want shards of 0 or more samples, %d at most in all" % _MAX_SAMPLES)
        if not sum(self.shards):
            raise ValueError("the dataset has no samples")
        if not 1 <= batch <= _MAX_BATCH:
            raise ValueError("a batch of %d samples: want 1 to %d" % (batch, _MAX_BATCH))
        if not 0 <= seed <= _MAX_INT:
            raise ValueError("seed %d: want 0 to %d" % (seed, _MAX_INT))
        if ends not in ("drop", "pad", "short", "even"):
            raise ValueError("ends %r: want drop, pad, short or even" % ends)
        if (mode == "group") != (groups is not None):
            raise ValueError("groups are for mode group" if groups is not None else "mode group wants groups, a number for each sample")
        if groups is not None and len(groups) != sum(self.shards):
            raise ValueError("%d groups for %d samples" % (len(groups), sum(self.shards)))
        #: The number of samples.
        self.n: int = sum(self.shards)
        #: The samples of a step on all ranks together.
        self.batch_size: int = batch
        self.seed, self.mode, self.ends = seed, mode, ends
        self.groups = None if groups is None else _numbers_of(groups)

    def __len__(self) -> int:
        """The number of samples."""
        return self.n

    def with_seed(self, seed: int) -> "Order":
        """The same order with another seed."""
        other = copy.copy(self)
        other.seed = seed
        return other

    def steps(self) -> int:
        """The number of steps of an epoch: 0 if the samples do not fill a batch and are dropped."""
        whole, rest = divmod(self.n, self.batch_size)
        return whole + (self.ends != "drop" and rest > 0)

    def share(self, step: int, rank: int, world: int) -> Tuple[int, int]:
        """The positions, from and to, that a rank takes of a step. With ends "even" and "pad" some may be after the last sample: position n is position 0 again."""
        at = step * self.batch_size
        size = self.batch_size
        if self.n - at < size and self.ends in ("short", "even"):
            size = self.n - at
            if self.ends == "even":
                size += -size % world
        return at + rank * size // world, at + (rank + 1) * size // world

    def epoch(self, number: int) -> "Epoch":
        """The order of an epoch, 0 to 2**63-1; else ValueError. In mode "group" all samples are sorted for it, which takes 16 bytes of memory a sample."""
        return Epoch(self, self.checked(number))

    @staticmethod
    def checked(number: int) -> int:
        """The number of an epoch, as an int. ValueError unless it is 0 to 2**63-1."""
        number = _index(number)
        if not 0 <= number <= _MAX_INT:
            raise ValueError("epoch %d: want 0 to %d" % (number, _MAX_INT))
        return number

    def state(self, dataset: str, epoch: int, step: int) -> Dict[str, Any]:
        """The state before a step of an epoch, 0 to steps(), of the dataset with this digest. docs/order.md has its members."""
        return {"order": VERSION, "dataset": dataset, "mode": self.mode, "seed": self.seed, "epoch": epoch,
                "position": step * self.batch_size, "batch": self.batch_size}

    def step(self, state: Dict[str, Any], dataset: str) -> int:
        """The step that comes next by a state, 0 to steps(). dataset is the digest. StateError if it is of another dataset or order; the number of ranks may differ."""
        if not isinstance(state, dict):
            raise StateError("the state is not of this run: it is of type %s, not a dict" % type(state).__name__)
        for name, want in self.state(dataset, 0, 0).items():
            if name not in state:
                raise StateError("the state is not of this run: it has no %r" % name)
            if type(state[name]) is not type(want):  # else 8.0 would be 8 here, and fail later
                raise StateError("the state is not of this run: its %s is %.60r, not of type %s" % (name, state[name], type(want).__name__))
            if name not in ("epoch", "position") and state[name] != want:
                raise StateError("the state is not of this run: its %s is %s, not %s" % (name, state[name], want))
        position: int = state["position"]
        if not 0 <= state["epoch"] <= _MAX_INT or position % self.batch_size or not 0 <= position <= self.steps() * self.batch_size:
            raise StateError("the state is not of this run: epoch %s, position %s is none between batches of %d in %d samples"
                             % (state["epoch"], position, self.batch_size, self.n))
        return position // self.batch_size


class Epoch:
    """The order of one epoch, which Order.epoch returns. Nothing changes it: any number of threads may call it."""

    def __init__(self, order: Order, number: int) -> None:
        self.order, self.number = order, number
        self._samples_key = self._key(_SAMPLES, order.n)
        self._all = _Permutation(self._samples_key, order.n)
        if order.window:
            self._sort_shards()
        elif order.mode == "group":
            self._sort_groups()

    def _key(self, stream: int, n: int) -> int:
        return _key(self.order.seed, self.number, stream, n)

    def _sort_shards(self) -> None:
        sizes = self.order.shards
        begin = [0]
        for n in sizes:
            begin.append(begin[-1] + n)
        shuffle = _Permutation(self._key(_SHARDS, len(sizes)), len(sizes))
        self._first, self._starts, at = array("q"), array("q"), 0
        for i in range(len(sizes)):
            k = shuffle.at(i)
            self._first.append(begin[k])
            self._starts.append(at)
            at += sizes[k]

    def _sort_groups(self) -> None:
        order, groups = self.order, self.order.groups
        assert groups is not None  # as mode "group" has them
        if np is not None:
            every = self._all.all_of(np.arange(order.n, dtype=np.uint64)).astype(np.int64)
            self._sorted = every[np.argsort(groups[every], kind="stable")]
        else:
            self._sorted = sorted((self._all.at(i) for i in range(order.n)), key=groups.__getitem__)
        whole = order.n // order.batch_size
        self._blocks = _Permutation(self._key(_SHARDS, whole), whole) if whole else None

    def samples(self, lo: int, hi: int) -> Numbers:
        """The samples of positions lo to hi-1. Positions from len(order) on start at 0 again."""
        if np is None:
            return self._list(lo, hi)
        if hi - lo <= _FEW:
            return np.array(self._list(lo, hi), np.int64)
        return self._array(np.arange(lo, hi, dtype=np.uint64) % np.uint64(self.order.n))

    def _window(self, v: int) -> Tuple[int, _Permutation]:
        begin = v * self.order.window
        m = min(self.order.window, self.order.n - begin)
        return begin, _Permutation(self._key(_WINDOW + v, m), m)

    def _list(self, lo: int, hi: int) -> List[int]:
        order, out = self.order, []
        each, rest = divmod(order.n, order.lanes or 1)
        known, window = -1, (0, self._all)
        for p in (p % order.n for p in range(lo, hi)):
            if order.mode == "global":
                p = self._all.at(p)
            elif order.mode == "resample":
                p = _draw(self._samples_key, order.n, p)
            elif order.mode == "group":
                block, at = divmod(p, order.batch_size)
                if self._blocks and block < self._blocks.n:
                    p = self._blocks.at(block) * order.batch_size + at
                p = int(self._sorted[p])
            elif order.window:
                if p // order.window != known:
                    known = p // order.window
                    window = self._window(known)
                row, lane = divmod(window[0] + window[1].at(p - window[0]), order.lanes)
                q = lane * each + min(lane, rest) + row
                i = bisect.bisect_right(self._starts, q) - 1
                p = self._first[i] + q - self._starts[i]
            out.append(p)
        return out

    def _array(self, p: Any) -> Any:
        """The samples of positions, an array of uint64 that it changes, none behind the last sample."""
        order = self.order
        if order.mode == "global":
            p = self._all.all_of(p)
        elif order.mode == "resample":
            p = _draw_array(self._samples_key, order.n, p)
        elif order.mode == "group":
            if self._blocks:
                size = np.uint64(order.batch_size)
                block = p // size
                whole = block < np.uint64(self._blocks.n)
                p[whole] = self._blocks.all_of(block[whole]) * size + p[whole] % size
            return self._sorted[p.astype(np.int64)]
        elif order.window:
            windows = p // np.uint64(order.window)
            cuts = np.flatnonzero(windows[1:] != windows[:-1]) + 1
            for part in np.split(p, cuts):  # views of p
                begin, shuffle = self._window(int(part[0]) // order.window)
                part[:] = shuffle.all_of(part - np.uint64(begin)) + np.uint64(begin)
            lanes = np.uint64(order.lanes)
            row, lane = p // lanes, p % lanes
            p = (lane * np.uint64(order.n // order.lanes) + np.minimum(lane, np.uint64(order.n % order.lanes)) + row).astype(np.int64)
            first, starts = np.asarray(self._first, np.int64), np.asarray(self._starts, np.int64)
            i = np.searchsorted(starts, p, side="right") - 1
            return p + first[i] - starts[i]
        return p.astype(np.int64)

    def batch(self, step: int, rank: int = 0, world: int = 1) -> Numbers:
        """The samples of a step, 0 to steps()-1, that a rank takes of world ranks. ValueError if there is no such step or rank."""
        order = self.order
        if not 0 <= step < order.steps() or not 0 <= rank < world:
            raise ValueError("step %d of %d, rank %d of %d: there is no such batch" % (step, order.steps(), rank, world))
        return self.samples(*order.share(step, rank, world))

    def batches(self, first: int, rank: int = 0, world: int = 1) -> Iterator[List[int]]:
        """The samples of each step from first on that a rank takes, as lists. They are computed some thousand at a time, which takes a tenth of
        the time of a batch at a time. ValueError if there is no such step or rank."""
        order = self.order
        steps = order.steps()
        if not 0 <= first <= steps or not 0 <= rank < world:
            raise ValueError("step %d of %d, rank %d of %d: there is no such batch" % (first, steps, rank, world))
        at_once = max(1, _AT_ONCE * world // order.batch_size)
        for step in range(first, steps, at_once):
            shares = [order.share(s, rank, world) for s in range(step, min(step + at_once, steps))]
            numbers = self._of_shares(shares)
            at = 0
            for lo, hi in shares:
                yield numbers[at:at + hi - lo]
                at += hi - lo

    def _of_shares(self, shares: Sequence[Tuple[int, int]]) -> List[int]:
        """The samples of several ranges of positions, one after another."""
        if np is None or sum(hi - lo for lo, hi in shares) <= _FEW:
            return [p for lo, hi in shares for p in self._list(lo, hi)]
        if all(a[1] == b[0] for a, b in zip(shares, shares[1:])):
            numbers: Any = self.samples(shares[0][0], shares[-1][1])
            return numbers.tolist()  # type: ignore[no-any-return]
        positions = np.concatenate([np.arange(lo, hi, dtype=np.uint64) for lo, hi in shares]) % np.uint64(self.order.n)
        return self._array(positions).tolist()  # type: ignore[no-any-return]


def digest(shards: Iterable[Tuple[int, int, int]]) -> str:
    """The digest of a dataset: of each shard its samples, the CRC-32 of its header, and its size in bytes."""
    text = "ffconvert dataset 1\n" + "".join("%d %08x %d\n" % shard for shard in shards)
    return hashlib.sha256(text.encode()).hexdigest()[:32]
