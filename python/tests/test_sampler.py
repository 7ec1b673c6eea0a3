"""The batches of an epoch are the same for any number of ranks, wherever it was stopped."""

import itertools
import json
import math
import random
import subprocess
import sys
import unittest
from unittest import mock

from tests import support

from ffconvert import BatchSampler, Dataset, StateError, order


def global_batches(n, world, batch, **options):
    """The steps of an epoch, each the samples of all ranks in turn."""
    ranks = [list(BatchSampler(n, batch // world, r, world, **options)) for r in range(world)]
    return [sum((list(r[step]) for r in ranks), []) for step in range(len(ranks[0]))]


class Batches(unittest.TestCase):
    def test_ranks(self):
        for mode in ("global", "sequential", "window:40", "interleave:2", "resample"):
            want = global_batches(1000, 1, 24, seed=5, mode=mode)
            self.assertEqual(len(want), 41)
            for world in (2, 3, 8, 24):
                self.assertEqual(global_batches(1000, world, 24, seed=5, mode=mode), want)
            if mode != "resample":
                self.assertEqual(len({i for b in want for i in b}), 984)

    @mock.patch.object(order, "np", None)  # lists are faster for so small batches
    def test_schedules(self):
        """Whatever stops a run, and on however many ranks it goes on: no sample is lost, none comes twice, and steps have the same samples."""
        draw, seen = random.Random(9), set()
        for schedule in range(1000):
            batch = draw.randrange(1, 65) * draw.choice([1, 1, 2, 3])
            worlds = [world for world in range(1, 65) if batch % world == 0]
            n, mode = draw.randrange(120, 250), draw.choice(["global"] * 8 + ["window:100", "interleave:7", "sequential"])
            options = {"seed": draw.randrange(1 << 63), "mode": mode, "ends": draw.choice(["short", "even", "drop", "pad"])}
            with self.subTest(schedule=schedule, n=n, batch=batch, **options):
                self.schedule(draw, n, batch, worlds, options, seen)
        self.assertEqual(seen, set(range(1, 65)), "numbers of ranks")

    def schedule(self, draw, n, batch, worlds, options, seen):
        """One or two epochs, with stops in them and between them."""
        even = options["ends"] == "even"
        got, state, whole = [[] for _ in range(draw.choice([1, 1, 1, 2]))], None, BatchSampler(n, batch, **options)
        for epoch in range(len(got)):
            while len(got[epoch]) < len(whole):
                world = draw.choice(worlds)
                seen.add(world)
                samplers = [BatchSampler(n, batch // world, r, world, **options) for r in range(world)]
                for s in samplers:
                    if state:
                        s.load_state_dict(json.loads(state))
                    s.set_epoch(epoch)
                stop = draw.randrange(len(samplers[0]) + 1)
                for lists in itertools.islice(zip(*samplers), stop):
                    got[epoch].append([i for part in lists for i in part])
                    if even and len(got[epoch]) == len(whole):  # the last step: as many for each rank, and nothing more than that
                        self.assertEqual(set(map(len, lists)), {-(-(n % batch or batch) // world)})
                        got[epoch][-1] = got[epoch][-1][:n % batch or batch]
                states = {json.dumps(s.state_dict()) for s in samplers}
                self.assertEqual(len(states), 1, "ranks differ")
                state = states.pop()
        for epoch, steps in enumerate(got):
            whole.set_epoch(epoch)
            self.assertEqual(steps, list(whole))
            every = [i for step in steps for i in step][:n]
            self.assertEqual(len(set(every)), len(every), "a sample comes twice")
            self.assertEqual(len(every), n - n % batch if options["ends"] == "drop" else n, "samples are lost")

    def test_ends(self):
        self.assertEqual([len(BatchSampler(10, 4, ends=e)) for e in ("drop", "pad", "short")], [2, 3, 3])
        self.assertEqual(list(BatchSampler(10, 4, mode="sequential", ends="short"))[-1], [8, 9])
        self.assertEqual(list(BatchSampler(10, 4, mode="sequential", ends="pad"))[-1], [8, 9, 0, 1])
        self.assertEqual([list(BatchSampler(9, 1, r, 4, mode="sequential", ends="short"))[-1] for r in range(4)], [[], [], [], [8]])

    def test_without_torch(self):
        """import ffconvert does not import torch, and BatchSampler does without it; where it is, BatchSampler is one of torch."""
        script = "import sys; import ffconvert; assert 'torch' not in sys.modules; %s; s = ffconvert.BatchSampler(9, 2, 1, 2, ends='even'); " \
                 "print(list(s), list(s.sampler), [c.__module__.split('.')[0] for c in type(s).__mro__])"
        there, absent = (subprocess.run([sys.executable, "-c", script % line], capture_output=True, text=True, check=True).stdout
                         for line in ("pass", "sys.modules['torch'] = None"))
        self.assertEqual(there.replace(", 'torch', 'torch', 'typing'", ", 'ffconvert'"), absent)

    def test_samplers_of_torch(self):
        """A sampler is no dataset: its order would be lost. The view of a BatchSampler has an order of ours."""
        ours = BatchSampler(100, 8, 1, 2, seed=5, mode="window:20")
        again = BatchSampler(ours.sampler, batch_size=8, drop_last=True)  # as Lightning makes one anew
        self.assertEqual((list(again), again.rank, again.order.ends), (list(ours), 1, "drop"))
        whole = BatchSampler(12, 4, sampler=BatchSampler(10, 4, mode="sequential").sampler, drop_last=False)
        self.assertEqual(list(whole), [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]])
        try:
            from torch.utils.data import SequentialSampler
        except ImportError:
            self.skipTest("torch is not installed")
        for args in ((SequentialSampler(range(10)), 2), (10, 2, 0, 1, 0, "global", None, None)):
            more = {"sampler": SequentialSampler(range(10))} if len(args) > 2 else {}
            with self.assertRaisesRegex(TypeError, "an order of its own, and does not take a SequentialSampler"):
                BatchSampler(*args, **more)

    def test_groups(self):
        groups = [i % 5 for i in range(100)]
        for batch in BatchSampler(100, 10, seed=1, mode="group", groups=groups):
            self.assertEqual(len({groups[i] for i in batch}), 1)

    def test_steps(self):
        sampler = BatchSampler(100, 10, seed=1)
        every = list(sampler)
        sampler.set_step(7)
        sampler.set_epoch(0)
        self.assertEqual((len(sampler), list(sampler)), (3, every[7:]))
        again = list(sampler)
        self.assertEqual((len(again), sampler.epoch), (3, 1), "the step stays, the epoch is the next")
        sampler.set_step(0)
        sampler.set_epoch(1)
        self.assertEqual((len(sampler), list(sampler)[7:]), (10, again))
        self.assertNotEqual(again, every[7:])
        sampler.set_step(10)
        self.assertEqual(list(sampler), [])
        for bad in (-1, 11):
            with self.assertRaises(ValueError):
                sampler.set_step(bad)

    def test_state(self):
        data = Dataset(support.tars())
        sampler = BatchSampler(data, 8, seed=3)
        self.assertEqual(sampler.state_dict()["position"], 0)
        it = iter(sampler)
        next(it), next(it)
        state = sampler.state_dict()
        self.assertEqual(state, {"order": 1, "dataset": data.digest, "mode": "global", "seed": 3, "epoch": 0, "position": 16, "batch": 8})
        rest = list(it)
        end = sampler.state_dict()
        self.assertEqual(end["position"], 120)
        other = BatchSampler(data, 8, seed=3)
        other.load_state_dict(state)
        self.assertEqual(list(other), rest)
        sampler.set_epoch(1)
        other.load_state_dict(end)
        other.set_epoch(0)
        self.assertEqual(list(other), [])
        other.load_state_dict(end)
        self.assertEqual(list(other), list(sampler))
        reordered = Dataset(sorted(support.tars().glob("*.ffr"))[::-1], encoding=None)
        for wrong in (BatchSampler(data, 4, seed=3), BatchSampler(data, 8, seed=4), BatchSampler(data, 8, seed=3, mode="window:50"),
                      BatchSampler(120, 8, seed=3), BatchSampler(reordered, 8, seed=3)):
            with self.assertRaises(StateError):
                wrong.load_state_dict(state)
        BatchSampler(data, 2, 3, 4, seed=3).load_state_dict(state)

    def test_edited_state(self):
        """Whatever a file of states says, it is this run's or one clear error."""
        sampler = BatchSampler(120, 8)
        good = sampler.state_dict()
        for name in good:
            for value in (None, True, -1, 1 << 80, 8.0, math.nan, "8", "", [8], {}):
                with self.subTest(name=name, value=value), self.assertRaisesRegex(StateError, "^the state is not of this run: .*%s" % name):
                    sampler.load_state_dict(dict(good, **{name: value}))
        for bad in (None, [], "epoch", 5):
            with self.assertRaisesRegex(StateError, "it is of type"):
                sampler.load_state_dict(bad)
        self.assertEqual(sampler.state_dict(), good)

    def test_refused(self):
        for args in ((10, 0), (10, 1, 1, 1), (10, 1, -1, 2), (0, 1)):
            with self.assertRaises(ValueError):
                BatchSampler(*args)
        for args in ((10, 2.0), (10, 2, 0, 1, 1.5), (10, None), (2.5, 1)):
            with self.assertRaises(TypeError):
                BatchSampler(*args)
        for step in (-1, 16):
            with self.assertRaisesRegex(ValueError, "an epoch has 15"):
                BatchSampler(120, 8).state_dict(step)
        for groups in ([[1, 2]] * 4, [1.5] * 4, ["a"] * 4):
            with self.subTest(groups=groups), self.assertRaises((ValueError, TypeError)):
                BatchSampler(4, 2, mode="group", groups=groups)


if __name__ == "__main__":
    unittest.main()
