"""Runs that are stopped, killed and resumed, on any number of ranks, with threads, processes or neither, have every sample once and in its order."""

import os
import random
import unittest

import torch  # noqa: F401  the loader needs it

from tests import support

from ffconvert import BatchSampler, DataLoader, Dataset

EPOCHS, BATCH = 2, 8
SCHEDULES = 1000 if os.environ.get("CI") else 100
KINDS = [{}] * 6 + [{"num_workers": 2, "workers": "threads"}, {"num_workers": 3, "workers": "threads", "prefetch_factor": 4}, {"num_workers": 1, "workers": "auto"}]
PROCESSES = {"num_workers": 2}


def key(sample):
    return sample["__key__"]


class Schedules(unittest.TestCase):
    def test_schedules(self):
        data = Dataset(support.tars(), fields=["__key__"], decode="raw", transform=key)
        keys = [sample for sample in data]
        kinds = {"": 0, "threads": 0, "auto": 0, "processes": 0}
        for seed in range(SCHEDULES):
            draw = random.Random(seed)
            sampler = BatchSampler(data, BATCH, seed=seed)
            want = []
            for epoch in range(EPOCHS):
                sampler.set_epoch(epoch)
                want.append([[keys[i] for i in batch] for batch in sampler])
            got, state = [[None] * len(want[0]) for _ in range(EPOCHS)], None
            while True:
                ended, state = self.run_until_stopped(draw, data, seed, state, got, kinds)
                if ended:
                    break
            self.assertEqual(got, want, "schedule %d" % seed)
        if SCHEDULES >= 100:
            self.assertTrue(all(kinds.values()), kinds)

    def run_until_stopped(self, draw, data, seed, state, got, kinds):
        """One run: it goes on after state, and ends at the end, or is killed somewhere. Returns whether it has ended, and the state that was saved last."""
        world = draw.randrange(1, 5)
        options = PROCESSES if draw.random() < 0.02 else draw.choice(KINDS)
        kinds[options.get("workers", "processes" if options else "")] += 1
        loaders = [DataLoader(data, global_batch=BATCH, shuffle=True, drop_last=True, seed=seed, rank=r, world=world, collate_fn=list, **options) for r in range(world)]
        if state is not None:
            for loader in loaders:
                loader.load_state_dict(state)
        left = draw.choice((draw.randrange(1, 12), 1 << 30))  # steps until it is killed
        for epoch in range(loaders[0].epoch, EPOCHS):
            for loader in loaders:
                loader.set_epoch(epoch)
            for parts in zip(*loaders):
                got[epoch][loaders[0].step - 1] = [k for part in parts for k in part]
                states = [loader.state_dict() for loader in loaders]
                self.assertEqual(states, states[:1] * world)
                if draw.random() < 0.4:
                    state = states[0]
                left -= 1
                if not left:
                    self.forget(got, state)
                    return False, state
        return True, state

    def forget(self, got, state):
        """What came after the state that was saved is lost with the process, and comes again."""
        epoch, step = (state["epoch"], state["position"] // BATCH) if state else (0, 0)
        for e, steps in enumerate(got):
            for s in range(len(steps)):
                if (e, s) >= (epoch, step):
                    steps[s] = None


if __name__ == "__main__":
    unittest.main()
