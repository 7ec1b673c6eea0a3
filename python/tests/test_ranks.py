"""Ranks that train together get disjoint batches, which are those of one rank."""

import os
import unittest

import torch.distributed as dist
import torch.multiprocessing

from tests import support

from ffconvert import BatchSampler, DataLoader, Dataset

GLOBAL = 24


def rank_main(rank, world, file, state, steps):
    """Trains on some steps: the keys of each, of all ranks together, go into a file; the state too."""
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    dist.init_process_group("gloo", init_method="file://%s.init" % file, rank=rank, world_size=world)
    loader = DataLoader(Dataset(support.tars(), transform=lambda s: s["__key__"]), GLOBAL // world, shuffle=True, seed=3, drop_last=True,
                        num_workers=1 if world == 2 else 0)
    if state:
        loader.load_state_dict(state)
    every = []
    for keys in loader:
        together, states = [None] * world, [None] * world
        dist.all_gather_object(together, keys)
        dist.all_gather_object(states, loader.state_dict())
        if any(s != states[0] for s in states):
            raise AssertionError("ranks have states that differ")
        every.append(together)
        if len(every) == steps:
            break
    if rank == 0:
        import json
        with open(file, "w") as f:
            json.dump([every, loader.state_dict()], f)
    dist.barrier()
    dist.destroy_process_group()


def train(world, state, steps):
    import json
    support.tars()  # before it forks
    file = support.scratch() / "result"
    torch.multiprocessing.start_processes(rank_main, (world, str(file), state, steps), world, start_method="fork")
    return json.loads(file.read_text())


class Ranks(unittest.TestCase):
    def test_elastic(self):
        """One rank, then four, then two: the global batches of an epoch that nothing has interrupted."""
        data = Dataset(support.tars())
        want = [[s["__key__"] for s in data[i]] for i in BatchSampler(data, GLOBAL, seed=3)]
        got, state = [], None
        for world, steps in ((1, 1), (4, 2), (2, None)):
            batches, state = train(world, state, steps)
            for ranks in batches:
                self.assertEqual([len(r) for r in ranks], [GLOBAL // world] * world)
                got.append([key for r in ranks for key in r])
                self.assertEqual(len(set(got[-1])), GLOBAL)
        self.assertEqual(got, want)
        self.assertEqual(state["position"], 120)


if __name__ == "__main__":
    unittest.main()
