"""Mixtures give each dataset its proportion, after any number of steps, and each of its samples once an epoch of its own."""

import json
import random
import time
import unittest
from fractions import Fraction
from unittest import mock

import torch  # noqa: F401  the loader needs it

from tests import support

from ffconvert import BatchSampler, DataLoader, Dataset, Mixture, StateError, mixture, order

BATCH = 6


def key(sample):
    return sample["__key__"]


class Rows:
    """A dataset of numbers."""

    def __init__(self, name, shards):
        self.name, self.shards = name, shards

    def __len__(self):
        return sum(self.shards)

    def __getitem__(self, i):
        return self.name, i


def proportions(phases, position):
    """Where the phase of a position begins, and the share of each dataset in it, by the phases as (first position, weights)."""
    start, weights = [phase for phase in phases if phase[0] <= position][-1]
    total = sum(Fraction(str(w)) for w in weights)
    return start, [Fraction(str(w)) / total for w in weights]


class Prefixes(unittest.TestCase):
    def check(self):
        for weights in ([7, 3], [0.7, 0.3], [1], [1, 1, 1], [5, 0, 1], [0.01, 0.99], [1, 10, 100], ["0.3", "0.3", "0.4"], [3, 5, 7, 11, 13]):
            sets = [[10 + 7 * k, 3] for k in range(len(weights))]
            mix = Mixture([(Rows(str(k), shards), w) for k, (shards, w) in enumerate(zip(sets, weights))], steps=150)
            o = BatchSampler(mix, 4, seed=3).order
            total = sum(Fraction(str(w)) for w in weights)
            given, counts = [[] for _ in sets], [0] * len(sets)
            for epoch in range(2):
                for m, sample in enumerate(int(i) for i in o.epoch(epoch).samples(0, 600)):
                    k, number = mix.place(sample)
                    given[k].append(number)
                    counts[k] += 1
                    for count, w in zip(counts, weights):
                        self.assertLess(abs(count - (600 * epoch + m + 1) * Fraction(str(w)) / total), 1, (weights, m))
            for k, shards in enumerate(sets):
                for at in range(0, len(given[k]), sum(shards)):
                    some = given[k][at:at + sum(shards)]
                    self.assertEqual(len(set(some)), len(some))

    def test_numpy(self):
        self.check()

    def test_lists(self):
        with mock.patch.object(order, "np", None), mock.patch.object(mixture, "np", None):
            self.check()

    def test_time(self):
        """A block of 4,096 takes 5 ms at the most, the best of several."""
        o = mixture.MixedOrder([[10**9], [3 * 10**8], [7 * 10**7]], 4096, 5, "global", "0.5:0.3:0.2,1000=0.333:0.333:0.334", 10**6)
        epoch, took = o.epoch(3), []
        for step in range(20):
            start = time.perf_counter()
            epoch.batch(step)
            took.append(time.perf_counter() - start)
        self.assertLess(min(took), 0.005)


class Runs(unittest.TestCase):
    """Real datasets, by the loader."""

    def setUp(self):
        self.parts = [Dataset(support.tars(), fields=["__key__"], decode="raw", transform=key), Rows("row", [17, 5])]

    def mix(self, weights, changes=None, steps=40):
        return Mixture(list(zip(self.parts, weights)), changes, steps)

    def test_schedules(self):
        """Runs that are stopped, and go on with other ranks and other proportions, give what the datasets give by themselves, in its order."""
        for seed in range(60):
            draw = random.Random(seed)
            changes, state, got, at = {}, None, [], 0
            weights = [draw.choice((1, 2, 0.5)), draw.choice((1, 3))]
            while at < 100:
                if at and draw.random() < 0.5:
                    changes = {step: w for step, w in changes.items() if step < at}
                    changes[at + draw.randrange(3)] = [draw.randrange(1, 5), draw.randrange(3)]
                world = draw.choice((1, 2, 3))
                options = draw.choice(({}, {}, {"num_workers": 2, "workers": "threads"}))
                data = self.mix(weights, changes)
                loaders = [DataLoader(data, global_batch=BATCH, shuffle=True, seed=seed, rank=r, world=world, collate_fn=list, **options) for r in range(world)]
                if state is not None:
                    for loader in loaders:
                        loader.load_state_dict(json.loads(state))
                left = draw.randrange(1, 30)
                for parts in zip(*loaders):
                    got += [sample for part in parts for sample in part]
                    at, left = at + 1, left - 1
                    if not left:
                        break
                state = json.dumps(loaders[0].state_dict())
                self.assertLessEqual(len(state), 300)
            phases = [(0, weights), *((step * BATCH, w) for step, w in sorted(changes.items()))]
            self.assertEqual(len(got), at * BATCH)
            since, start = [0, 0], 0
            alone = [[], []]
            for m, sample in enumerate(got):
                begins, shares = proportions(phases, m)
                if begins != start:
                    since, start = [0, 0], begins
                k = int(isinstance(sample, tuple))
                since[k] += 1
                alone[k].append(sample)
                for count, share in zip(since, shares):
                    self.assertLess(abs(count - (m + 1 - start) * share), 1, (seed, m))
            for k, part in enumerate(self.parts):
                own = order.Order(getattr(part, "shards"), 1, order._key(seed, k, 2**64 - 1, 0) >> 1)
                epochs = -(-len(alone[k]) // len(part))
                want = [part[int(i)] for e in range(epochs) for i in own.epoch(e).samples(0, len(part))][:len(alone[k])]
                self.assertEqual(alone[k], want, seed)

    def test_epochs(self):
        loader = DataLoader(self.mix([1, 1], steps=5), batch_size=4, shuffle=True, seed=1, collate_fn=list)
        epochs = [[sample for batch in loader for sample in batch] for _ in range(3)]
        self.assertEqual([len(loader), *map(len, epochs)], [5, 20, 20, 20])
        loader.set_epoch(1)
        self.assertEqual([sample for batch in loader for sample in batch], epochs[1])
        rows = [sample for epoch in epochs for sample in epoch if isinstance(sample, tuple)]
        self.assertEqual(len(set(rows[:22])), 22)  # across the epochs of the mixture

    def test_samples(self):
        mix = self.mix([1, 1])
        n = len(self.parts[0])
        self.assertEqual((len(mix), mix[0], mix[n + 3], mix[[n, 1]]), (n + 22, self.parts[0][0], ("row", 3), [("row", 0), self.parts[0][1]]))
        self.assertEqual(mix[self.parts[0][5]], self.parts[0][5])  # by its key

    def test_states(self):
        loader = DataLoader(self.mix([1, 1]), batch_size=4, shuffle=True, seed=1)
        state = {**loader.state_dict(), "position": 80}
        for weights, changes, says in (([2, 2], {20: [1, 9]}, None), ([1, 2], None, "its mix is 0=1:1, not 0=1:2"), ([1, 1], {19: [1, 2]}, "not 0=1:1,19=1:2")):
            other = DataLoader(self.mix(weights, changes), batch_size=4, shuffle=True, seed=1)
            if says:
                with self.assertRaisesRegex(StateError, says):
                    other.load_state_dict(state)
            else:
                other.load_state_dict(state)
                self.assertEqual(other.step, 20)
        with self.assertRaisesRegex(StateError, "its steps is 40, not 41"):
            DataLoader(self.mix([1, 1], steps=41), batch_size=4, shuffle=True, seed=1).load_state_dict(state)
        with self.assertRaisesRegex(StateError, "its order is 2, not 1"):
            DataLoader(self.parts[1], batch_size=4, shuffle=True, seed=1).load_state_dict(state)
        with self.assertRaisesRegex(StateError, "has no 'steps'|its order is 1"):
            DataLoader(self.mix([1, 1]), batch_size=4, shuffle=True, seed=1).load_state_dict(DataLoader(self.parts[1], batch_size=4, shuffle=True, seed=1).state_dict())

    def test_refused(self):
        for weights, changes, says in (([1, -1], None, "no proportion"), ([0, 0], None, "all proportions are 0"), ([1, 1], {0: [1, 2]}, "steps that ascend"), ([1, 1], {5: [1]}, "of 1 datasets, not of 2"),
                                       ([1, 65536], None, "have the sum 65537"), ([float("nan"), 1], None, "no proportion")):
            with self.assertRaisesRegex(ValueError, says):
                self.mix(weights, changes)
        for options, says in (({"mode": "group", "shuffle": True}, "no mixture"), ({"ends": "pad", "shuffle": True}, "a mixture has no end")):
            with self.assertRaisesRegex(ValueError, says):
                DataLoader(self.mix([1, 1]), batch_size=4, **options)

    def test_coming(self):
        """What is to come is said to the datasets that fetch it, by their own numbers."""
        said = []
        self.parts[1].coming = said.append
        loader = DataLoader(self.mix([1, 1], steps=4), batch_size=4, shuffle=True, seed=1, collate_fn=list)
        rows = [sample[1] for batch in loader for sample in batch if isinstance(sample, tuple)]
        self.assertIsNone(said[0])
        self.assertEqual([i for numbers in said[1:] for i in numbers], rows)


if __name__ == "__main__":
    unittest.main()
