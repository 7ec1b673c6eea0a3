"""The order is that of the vectors, which Go has written, with numpy and without it."""

import itertools
import json
import pathlib
import time
import unittest
from unittest import mock

from ffconvert import mixture, order

VECTORS = pathlib.Path(__file__).parents[2] / "testdata" / "order" / "vectors.json"


def numbers(values):
    return [int(v) for v in values]


class Vectors(unittest.TestCase):
    def check(self):
        vectors = json.loads(VECTORS.read_text())
        self.assertGreater(len(vectors), 90)
        for v in vectors:
            with self.subTest(**{name: v.get(name) for name in ("mode", "shards", "sets", "mix", "seed")}):
                if "mix" in v:
                    o = mixture.MixedOrder(v["sets"], v["batch"], v["seed"], v["mode"], v["mix"], v.get("epoch_steps"))
                else:
                    o = order.Order(v["shards"], v["batch"], v["seed"], v["mode"], v["ends"], v.get("groups"))
                epoch = o.epoch(v["epoch"])
                self.assertEqual(o.steps(), v["steps"])
                self.assertEqual(numbers(epoch.samples(v["from"], min(v["from"] + 32, o.n))), v["samples"])
                ranks = [numbers(epoch.batch(v["step"], r, v["world"])) for r in range(v["world"])]
                self.assertEqual(ranks, v["ranks"])

    @unittest.skipIf(order.np is None, "numpy is not installed")
    def test_numpy(self):
        self.check()
        with mock.patch.object(order, "_FEW", 0):
            self.check()

    @unittest.skipIf(order.np is None, "numpy is not installed")
    def test_few(self):
        """Whether few numbers are computed or many, they are the same, and of one type."""
        for mode in ("global", "resample", "sequential", "window:7", "interleave:3", "group"):
            epoch = order.Order([40, 0, 60], 9, 7, mode, groups=[i % 3 for i in range(100)] if mode == "group" else None).epoch(1)
            many = epoch.samples(0, 200)
            for size in (0, 1, 32, 33):
                few = epoch.samples(90, 90 + size)
                self.assertEqual((mode, few.dtype, numbers(few)), (mode, many.dtype, numbers(many[90:90 + size])))

    def check_batches(self):
        for mode, ends, world in itertools.product(("global", "resample", "sequential", "window:7", "interleave:1", "group"), ("drop", "pad", "short", "even"), (1, 3)):
            size = 263 if mode == "interleave:1" else 63  # more than a window
            o = order.Order([40, 0, size], 9, 7, mode, ends, groups=[i % 3 for i in range(103)] if mode == "group" else None)
            epoch = o.epoch(1)
            for first, rank in itertools.product((0, 5, o.steps()), range(world)):
                with self.subTest(mode=mode, ends=ends, world=world, first=first, rank=rank):
                    want = [numbers(epoch.batch(step, rank, world)) for step in range(first, o.steps())]
                    self.assertEqual(list(epoch.batches(first, rank, world)), want)
        o = order.Order([103], 9)
        for first, rank, world in ((-1, 0, 1), (13, 0, 1), (0, 2, 2)):
            with self.assertRaisesRegex(ValueError, "no such batch"):
                next(o.epoch(1).batches(first, rank, world))

    def test_batches(self):
        """Batches that are computed together are those that are computed alone."""
        with mock.patch.object(order, "np", None):
            self.check_batches()
        if order.np is not None:
            for few, at_once in ((32, 4096), (0, 20)):
                with mock.patch.object(order, "_FEW", few), mock.patch.object(order, "_AT_ONCE", at_once):
                    self.check_batches()

    def test_sizes(self):
        """Whatever the sizes of shards, and the number of those that are read side by side, each sample comes once; with numpy and without it."""
        for shards in ([1], [0, 0, 5, 0], [100] * 9, [1, 2000, 0, 3, 7], [700, 69], [0, 1, 0, 2] * 300):
            n = sum(shards)
            for lanes in {1, 2, 3, 64, max(1, n - 1), n, n + 1, 1 << 40}:
                with self.subTest(shards=len(shards), n=n, lanes=lanes):
                    epoch = order.Order(shards, 8, 3, "interleave:%d" % lanes).epoch(5)
                    with mock.patch.object(order, "np", None):
                        plain = epoch.samples(0, n)
                    self.assertEqual(sorted(plain), list(range(n)))
                    with mock.patch.object(order, "_FEW", 0):
                        self.assertEqual(numbers(epoch.samples(0, n)), plain)

    def test_plain(self):
        with mock.patch.object(order, "np", None):
            self.check()

    def test_digest(self):
        self.assertEqual(order.digest([(3, 0xDEADBEEF, 1000), (0, 1, 12)]), "30ae639361e9e2ff67137b9b60bbac91")

    @unittest.skipIf(order.np is None, "numpy is not installed")
    def test_speed(self):
        for mode in ("global", "window:16384", "interleave:64"):
            epoch = order.Order([10**6] * 1000, 256, mode=mode).epoch(0)
            best = min(self.once(epoch, i) for i in range(20))
            self.assertLess(best, 0.005, "seconds for a block of 4096 positions, mode " + mode)

    @staticmethod
    def once(epoch, i):
        began = time.perf_counter()
        epoch.samples(i * 4096, (i + 1) * 4096)
        return time.perf_counter() - began


class States(unittest.TestCase):
    def test_round(self):
        o = order.Order([100], 10, seed=7)
        for step in (0, 3, 10):
            state = json.loads(json.dumps(o.state("d", 2, step)))
            self.assertEqual(o.step(state, "d"), step)

    def test_refused(self):
        o = order.Order([100], 10, seed=7)
        good = o.state("d", 0, 3)
        for change in ({"order": 2}, {"dataset": "e"}, {"mode": "sequential"}, {"seed": 8}, {"batch": 20}, {"position": 15},
                       {"position": 110}, {"position": -10}, {"epoch": -1}):
            with self.subTest(change=change), self.assertRaisesRegex(order.StateError, "not of this run"):
                o.step({**good, **change}, "d")
        with self.assertRaises(order.StateError):
            o.step({}, "d")
        with self.assertRaisesRegex(order.StateError, "its mode is interleave:64, not global"):
            o.step({**good, "mode": "interleave:64"}, "d")

    def test_options(self):
        for args in ({"batch": 0}, {"seed": -1}, {"mode": "random"}, {"mode": "window:07"}, {"mode": "window:"}, {"mode": "interleave"},
                     {"mode": "interleave:0"}, {"mode": "interleave:%d" % ((1 << 40) + 1)}, {"mode": "interleave:" + "9" * 5000}, {"mode": 64}, {"ends": "wrap"}, {"mode": "group"}, {"groups": [1] * 5}):
            with self.subTest(args=args), self.assertRaises(ValueError):
                order.Order([5], **{"batch": 1, **args})


if __name__ == "__main__":
    unittest.main()
