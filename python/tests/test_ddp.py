"""DDP with gloo on 1, 2 and 3 ranks: the samples of docs/order.md, each once, wherever a run is stopped and on however many ranks it goes on."""

import json
import os
import random
import unittest

import torch
import torch.distributed
import torch.multiprocessing
import torch.utils.data

from tests import support

from ffconvert import BatchSampler, DataLoader

os.environ["GLOO_SOCKET_IFNAME"] = "lo"
N, EPOCHS = 40, 2


def together(ranks, run, *args):
    """What run returns for each of so many processes, which are connected by gloo."""
    out = support.scratch()
    context = torch.multiprocessing.get_context("fork")
    processes = [context.Process(target=one, args=(out, rank, ranks, run, args)) for rank in range(ranks)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    return [json.loads((out / str(rank)).read_text()) for rank in range(ranks)]


def one(out, rank, ranks, run, args):
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", init_method="file://%s" % (out / "store"), rank=rank, world_size=ranks)
    result = run(*args)
    (out / ("%d.new" % rank)).write_text(json.dumps(result))
    os.rename(out / ("%d.new" % rank), out / str(rank))
    torch.distributed.destroy_process_group()


def made(plan):
    """A loader of a plan: rank and world are those of torch.distributed."""
    return DataLoader(torch.utils.data.TensorDataset(torch.arange(N)), shuffle=True, seed=plan["seed"], global_batch=plan["batch"], drop_last=plan["drop_last"])


def segments(plans):
    """Goes on with each of some plans for so many steps, and returns the samples of the steps and the last state."""
    results = []
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1))
    for plan in plans:
        loader, steps, state = made(plan), [], plan["state"]
        if state:
            loader.load_state_dict(state)
        for epoch in range(loader.epoch, EPOCHS):
            loader.sampler.set_epoch(epoch)
            for batch, in loader:
                model(batch.float().view(-1, 1)).mean().backward()  # waits for the other ranks, and fails without samples
                steps.append((epoch, batch.tolist()))
                state = loader.state_dict()
                if len(steps) == plan["steps"]:
                    break
            if len(steps) == plan["steps"]:
                break
        results.append((steps, state))
    return results


def drawn():
    data = torch.utils.data.TensorDataset(torch.arange(N))
    torch.manual_seed(torch.distributed.get_rank())
    loader = DataLoader(data, 4, shuffle=True)
    return [loader.seed, [batch.tolist() for batch, in loader], loader.state_dict()["seed"]]


def late(store):
    """A loader that was made before torch.distributed was started."""
    rank = torch.distributed.get_rank()
    torch.distributed.destroy_process_group()
    loader = DataLoader(torch.utils.data.TensorDataset(torch.arange(N)), 4)
    whole = len(list(loader))
    torch.distributed.init_process_group("gloo", init_method="file://%s" % store, rank=rank, world_size=2)
    try:
        return [whole, len(list(loader))]
    except RuntimeError as e:
        return [whole, str(e)]


class Ranks(unittest.TestCase):
    def test_schedules(self):
        draw = random.Random(5)
        plans = [{"seed": draw.randrange(1 << 30), "batch": draw.choice([3, 4, 6, 7]), "drop_last": draw.random() < 0.5, "state": None, "got": []}
                 for _ in range(200)]
        for layer in range(6):
            last = layer == 5
            for plan in plans:
                plan["steps"] = 1000 if last else draw.randrange(1, 8)
                plan["world"] = draw.choice([1, 2, 3])
            for world in (1, 2, 3):
                mine = [plan for plan in plans if plan["world"] == world]
                parts = together(world, segments, mine)
                for plan, ranks in zip(mine, zip(*parts)):
                    self.assertEqual([len(steps) for steps, _ in ranks], [len(ranks[0][0])] * world)
                    self.assertEqual([state for _, state in ranks], [ranks[0][1]] * world)
                    plan["state"] = ranks[0][1]
                    for step in zip(*[steps for steps, _ in ranks]):
                        plan["got"].append((step[0][0], [i for _, samples in step for i in samples]))
        for plan in plans:
            whole = BatchSampler(N, plan["batch"], seed=plan["seed"], ends="drop" if plan["drop_last"] else "short")
            want = [(epoch, samples) for epoch in range(EPOCHS) for samples in (whole.set_epoch(epoch), list(whole))[1]]
            # The last step of an epoch may have samples of its begin behind its own, so that every rank has some.
            self.assertEqual([(epoch, got[:len(samples)]) for (epoch, samples), (_, got) in zip(want, plan["got"])], want)
            self.assertEqual(len(plan["got"]), len(want))
            for (_, samples), (_, got) in zip(want, plan["got"]):
                self.assertLess(len(got) - len(samples), 3 if len(samples) < plan["batch"] and not plan["drop_last"] else 1)

    def test_drawn_seed(self):
        """One seed on all ranks, also where their generators differ."""
        ranks = together(3, drawn)
        seeds = {seed for rank in ranks for seed in (rank[0], rank[2])}
        self.assertEqual(len(seeds), 1)
        steps = [sum(step, []) for step in zip(*[rank[1] for rank in ranks])]
        self.assertEqual(steps, list(BatchSampler(N, 12, seed=seeds.pop(), ends="even"))[:-1] + [steps[-1]])
        self.assertEqual(set(sum(steps, [])), set(range(N)))

    def test_late(self):
        """It would give each rank all samples."""
        why = "the loader was made for rank 0 of 1, and this is rank %d of 2: make it after init_process_group, or give rank and world"
        self.assertEqual(together(2, late, str(support.scratch() / "store")), [[10, why % 0], [10, why % 1]])


if __name__ == "__main__":
    unittest.main()
