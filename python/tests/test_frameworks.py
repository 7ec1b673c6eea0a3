"""Each framework gets the samples of docs/order.md, each once, however it wraps a loader and wherever it is stopped."""

import itertools
import random
import re
import sys
import traceback
import types
import unittest
from unittest import mock

import torch.utils.data

from tests import frameworks, support

from ffconvert import BatchSampler, DataLoader, Dataset

N = 60


class Numbers(torch.utils.data.Dataset):
    """Sample i is i."""

    def __len__(self):
        return N

    def __getitem__(self, i):
        return i


def expected(epoch, batch, **options):
    sampler = BatchSampler(N, batch, **{"seed": 7, "ends": "even", **options})
    sampler.set_epoch(epoch)
    return list(sampler)


def loader(batch_size, **options):
    return DataLoader(Numbers(), batch_size, shuffle=True, **{"seed": 7, **options})


def lists(batches):
    return [batch.tolist() for batch in batches]


class Accelerate(unittest.TestCase):
    def test_one_process(self):
        """Which file order it was, without a word."""
        for workers in 0, 2:
            ours = loader(7, num_workers=workers)
            prepared = frameworks.prepare(ours)
            self.assertEqual([lists(prepared) for _ in range(3)], [expected(e, 7) for e in range(3)])
            prepared.set_epoch(1)
            skipped = frameworks.skip_first_batches(prepared, 3)
            skipped.set_epoch(1)
            self.assertEqual(lists(skipped), expected(1, 7)[3:])
            self.assertEqual(lists(frameworks.skip_first_batches(loader(7), 3)), expected(0, 7)[3:])

    def test_processes(self):
        """It divides the batches itself, so the loader is that of rank 0 of 1: no sample is missing, none comes twice."""
        for n, drop_last in itertools.product((2, 3), (True, False)):
            prepared = [frameworks.prepare(loader(5, rank=0, world=1, drop_last=drop_last), n, p) for p in range(n)]
            for epoch in range(2):
                got = list(itertools.chain.from_iterable(zip(*map(lists, prepared))))
                self.assertEqual(got, expected(epoch, 5)[:len(got)])
                self.assertEqual(len(got), 12)
            split = [frameworks.prepare(loader(6, rank=0, world=1), n, p, split_batches=True) for p in range(n)]
            self.assertEqual([sum(step, []) for step in zip(*map(lists, split))], expected(0, 6))

    def test_rank_twice(self):
        """What has a rank already is not divided again."""
        for make in (lambda rank: loader(5, rank=rank, world=2), lambda rank: torch.utils.data.DataLoader(Numbers(), batch_sampler=BatchSampler(N, 5, rank, 2))):
            for rank in range(2):
                with self.assertRaisesRegex(RuntimeError, "batches of rank %d of 2, which 2 processes would divide again: pass rank=0, world=1" % rank):
                    lists(frameworks.prepare(make(rank), 2, rank))
        single = frameworks.BatchSamplerShard(torch.utils.data.BatchSampler(loader(5, rank=1, world=2).sampler, 5, False), 2, 1)
        with self.assertRaisesRegex(RuntimeError, "would divide again"):
            list(single)
        module = {"__name__": "accelerate.data_loader", "DataLoader": torch.utils.data.DataLoader}  # whose DataLoaderDispatcher reads all on process 0
        exec("class Dispatcher(DataLoader):\n    def __iter__(self):\n        return super().__iter__()\n", module)
        for world, n in itertools.product((1, 2), (1, 2)):
            dispatcher = module["Dispatcher"](Numbers(), batch_sampler=loader(5, rank=0, world=world).batch_sampler)
            dispatcher.state = types.SimpleNamespace(num_processes=n)
            if world == n == 2:
                with self.assertRaisesRegex(RuntimeError, "would divide again"):
                    iter(dispatcher)
            else:
                self.assertEqual(len(list(dispatcher)), 12 // world)
        self.assertEqual(len(lists(loader(5, rank=1, world=2))), 6)
        self.assertEqual(len(list(loader(5, rank=1, world=2).batch_sampler)), 6)

    def test_schedules(self):
        """A state of the sampler goes on with any number of processes: docs/training.md."""
        draw = random.Random(1)
        for schedule in range(200):
            got, state, epoch, batch = [[], []], None, 0, draw.choice([4, 5, 6])
            while epoch < 2:
                n = draw.choice([1, 2, 3])
                ours = [loader(batch, rank=0, world=1, drop_last=True) for _ in range(n)]
                prepared = [frameworks.prepare(each, n, p) for p, each in enumerate(ours)]
                for each, shard in zip(ours, prepared):
                    if state:
                        each.load_state_dict(state)
                    shard.set_epoch(epoch)
                done = state["position"] // batch if state and state["epoch"] == epoch else 0
                left = N // batch - done
                steps = draw.randrange(1, left // n + 1) if left >= n else 0
                for k, step in enumerate(itertools.islice(zip(*map(iter, prepared)), steps), 1):
                    got[epoch] += lists(step)
                    state = ours[0].batch_sampler.state_dict(done + k * n)
                if not steps or state["position"] == N // batch * batch:
                    epoch += left < n or state["position"] == N // batch * batch
            for e in range(2):
                self.assertEqual(got[e], expected(e, batch)[:len(got[e])], schedule)
                self.assertGreater(len(got[e]), N // batch - 3)


class Lightning(unittest.TestCase):
    def test_epochs(self):
        fit = frameworks.Fit(loader(7))
        got = [(epoch, batch.tolist()) for epoch, batch in fit.run(4)]
        self.assertEqual(got, [(e, b) for e in range(4) for b in expected(e, 7)])

    def test_fabric(self):
        """The loops of setup_dataloaders are epochs from 0; a state goes on there in epoch 0 alone, as docs/training.md says."""
        ours = loader(7)
        wrapped = frameworks.FabricLoader(frameworks.process_dataloader(ours))
        self.assertEqual([lists(wrapped) for _ in range(3)], [expected(e, 7) for e in range(3)])
        for epoch in 0, 2:
            ours = loader(7)
            ours.set_epoch(epoch)
            lists(itertools.islice(ours, 4))
            state = ours.state_dict()
            self.assertEqual((ours.epoch, ours.step), (epoch, 4))
            resumed = loader(7)
            resumed.load_state_dict(state)
            wrapped = frameworks.FabricLoader(frameworks.process_dataloader(resumed))
            self.assertEqual(lists(wrapped), expected(0, 7)[4 if epoch == 0 else 0:])

    def test_schedules(self):
        """Checkpoints anywhere, also at the end of an epoch, and another number of ranks behind them."""
        draw = random.Random(2)
        for schedule in range(200):
            checkpoint, got = None, []
            while checkpoint is None or checkpoint["progress"][0] < 3:
                world = draw.choice([1, 2, 3])
                ranks = [frameworks.Fit(loader(12 // world, rank=r, world=world, num_workers=2 * (schedule in (7, 77))), checkpoint) for r in range(world)]
                for step in zip(*[fit.run(3, draw.randrange(1, 9)) if not r else fit.run(3) for r, fit in enumerate(ranks)]):
                    got.append((step[0][0], [i for _, batch in step for i in batch.tolist()]))
                checkpoint = ranks[0].checkpoint()
            self.assertEqual(got, [(e, b) for e in range(3) for b in expected(e, 12)], schedule)

    def test_replaced_samplers(self):
        """A loader with a rank is left as it is; one without is not divided behind its back."""
        two = loader(5, rank=1, world=2)
        self.assertIs(frameworks.process_dataloader(two, distributed=True), two)
        spread = torch.utils.data.DistributedSampler(Numbers(), 2, 1)
        with self.assertRaisesRegex(TypeError, r"does not take a DistributedSampler: do not replace its sampler \(Lightning: .*rank and world"):
            frameworks.process_dataloader(loader(5), spread, distributed=True)
        predict = frameworks.process_dataloader(DataLoader(Numbers(), 7, drop_last=True), predicting=True)
        self.assertEqual((type(predict), sum(lists(predict), [])), (DataLoader, list(range(N))))
        predict = frameworks.process_dataloader(loader(7, num_workers=2, collate_fn=list), predicting=True)
        self.assertEqual((list(predict), predict.num_workers), (expected(0, 7), 2))


class TorchData(unittest.TestCase):
    def test_epochs(self):
        """The remainder once, then whole epochs: today's 53 of 60."""
        for ahead in 0, 4:
            first = frameworks.StatefulDataLoader(Numbers(), BatchSampler(N, 7, seed=7, ends="even"), ahead)
            got = list(itertools.islice(iter(first), 1))
            again = frameworks.StatefulDataLoader(Numbers(), BatchSampler(N, 7, seed=7, ends="even"), ahead)
            again.load_state_dict(first.state_dict())
            self.assertEqual([got + list(again), list(again), list(again)], [expected(e, 7) for e in range(3)])

    def test_schedules(self):
        draw = random.Random(3)
        for schedule in range(200):
            got, state, wanted = [], None, [b for e in range(3) for b in expected(e, 12)]
            while len(got) < len(wanted):
                world, ahead = draw.choice([1, 2, 3]), draw.choice([0, 0, 2, 4])
                ranks = [frameworks.StatefulDataLoader(Numbers(), BatchSampler(N, 12 // world, r, world, seed=7, ends="even"), ahead) for r in range(world)]
                for each in ranks:
                    if state:
                        each.load_state_dict(state)
                stop = draw.randrange(1, 13)
                while stop and len(got) < len(wanted):
                    iterators = [iter(each) for each in ranks]
                    for step in itertools.islice(zip(*iterators), stop):
                        got.append([i for part in step for i in part])
                        stop -= 1
                    if draw.random() < 0.5:  # a state behind the end of an epoch: the iterator has seen it, or not
                        break
                state = ranks[0].state_dict()
            self.assertEqual(got, wanted, schedule)


class Transformers(unittest.TestCase):
    def test_own_loader(self):
        """The Trainer makes a loader of the dataset: a batch is one read, and a run is resumed by skipping."""
        data = Dataset(support.tars(), transform=lambda sample: int(sample["__key__"]))
        reads = []
        read, data.reader.read = data.reader.read, lambda indices: reads.append(len(indices)) or read(indices)

        def made():
            generator = torch.Generator().manual_seed(3)
            sampler = torch.utils.data.RandomSampler(data, generator=generator)
            return frameworks.prepare(torch.utils.data.DataLoader(data, batch_size=16, sampler=sampler))

        whole = lists(frameworks.trainer_epochs(made(), range(1)))
        self.assertEqual((sorted(sum(whole, [])), reads), (list(range(120)), [16] * 7 + [8]))
        self.assertEqual(lists(frameworks.trainer_epochs(made(), range(1), 5)), whole[5:])

    def test_our_loader(self):
        """get_train_dataloader returns ours, for each rank; what the Trainer saves is its epoch and its step."""
        draw = random.Random(6)
        for schedule in range(200):
            batch, epoch, steps, got = draw.choice([12, 17]), 0, 0, []
            whole = -(-N // batch)
            while epoch < 3:
                world = draw.choice([1, 2, 3])
                ranks = [frameworks.trainer_epochs(loader(1, global_batch=batch, rank=r, world=world, ends="short"), range(epoch, 3), steps) for r in range(world)]
                parts = [lists(itertools.islice(r, stop)) for stop in (draw.randrange(1, 9),) for r in ranks]
                got += [sum(step, []) for step in zip(*parts)]
                epoch, steps = divmod(epoch * whole + steps + len(parts[0]), whole)
            self.assertEqual(got, [b for e in range(3) for b in expected(e, batch)], schedule)


class Loops(unittest.TestCase):
    def test_schedules(self):
        """ffrecord's loop, and torch's recipe: set_epoch of the sampler, states of the loader."""
        draw = random.Random(4)
        for schedule in range(200):
            got, state, epochs = [], None, 3
            ffrecord, batch = schedule % 2, draw.choice([12, 16, 24])
            while state is None or (state["epoch"], state["position"]) < (epochs - 1, -(-N // batch) * batch):
                world = draw.choice([1, 2, 3, 5, 7])
                ranks = [loader(1, global_batch=batch, rank=r, world=world, ends="short") for r in range(world)]
                for each in ranks:
                    if state and ffrecord:  # whose position is a step that the loop has counted
                        each.set_epoch(state["epoch"])
                        each.set_step(state["position"] // batch)
                    elif state:
                        each.load_state_dict(state)
                stop = draw.randrange(1, 9)
                for epoch in range(state["epoch"] if state else 0, epochs):
                    if not ffrecord:
                        for each in ranks:
                            each.sampler.set_epoch(epoch)
                    for step in itertools.zip_longest(*ranks):  # so that each rank sees the end
                        got.append([i for part in step for i in (part.tolist() if len(part) else [])])
                        state, stop = ranks[0].state_dict(), stop - 1
                        if not stop:
                            break
                    if not stop:
                        break
                    for each in ranks:
                        each.set_step(0)  # remember to reset before the next epoch
            self.assertEqual(got, [b for e in range(epochs) for b in expected(e, batch)], schedule)


class Stop(Exception):
    pass


class Page(unittest.TestCase):
    """The code of docs/training.md, as it is printed there."""

    def setUp(self):
        section = (support.ROOT / "docs" / "training.md").read_text().split("\n## Frameworks\n")[1].split("\n## ")[0]
        self.blocks = dict(zip(("lightning", "fabric", "accelerate", "prepare", "transformers", "torchdata"), re.findall("```python\n(.*?)```", section, re.S)))
        self.assertEqual(len(self.blocks), section.count("```python"))

    def execute(self, name, modules, **given):
        modules = {module: types.SimpleNamespace(**members) for module, members in modules.items()}
        names = {"dataset": Numbers(), "saved": None, "epochs": 3, "model": None, "optimizer": None, **given}
        with mock.patch.dict(sys.modules, modules):
            exec(self.blocks[name], names)
        return names

    def loop(self, name, processes, process, saved, stop):
        """Runs a loop of Accelerate or Fabric until it has had so many batches. Returns them, and the state."""
        got = []

        class Accelerator:
            num_processes, device = processes, "cpu"

            def prepare(self, *args):
                return tuple(frameworks.prepare(arg, processes, process) if isinstance(arg, DataLoader) else arg for arg in args)

        class Fabric:
            def launch(self):
                pass

            def setup(self, *args):
                return args

            def to_device(self, batch):
                return batch

        def train(batch):
            if len(got) == stop:
                raise Stop
            got.append(batch.tolist())

        modules = {"accelerate": {"Accelerator": Accelerator}, "accelerate.utils": {"send_to_device": lambda batch, device: batch.to(device)},
                   "lightning": {}, "lightning.fabric": {"Fabric": Fabric}}
        given = {"train": train, "saved": saved, "epochs": 3}
        names = {}
        try:
            names = self.execute(name, modules, **given)
        except Stop as stopped:
            names = next(frame.f_locals for frame, _ in traceback.walk_tb(stopped.__traceback__) if "optimizer" in frame.f_locals)
        return got, names["saved"]

    def test_accelerate(self):
        want = [b for e in range(3) for b in expected(e, 12)]
        for stop in range(len(want)):
            first, saved = self.loop("accelerate", 1, 0, None, stop)
            self.assertEqual(first + self.loop("accelerate", 1, 0, saved, None)[0], want)

    def test_prepare(self):
        want = [b for e in range(3) for b in expected(e, 6, ends="drop")]  # 10 of each epoch
        for stop in range(1, 6):
            parts = [self.loop("prepare", 2, p, None, stop) for p in range(2)]
            got = [b for step in zip(*[batches for batches, _ in parts]) for b in step]
            self.assertEqual(parts[0][1], parts[1][1])
            self.assertEqual(got + self.loop("prepare", 1, 0, parts[0][1], None)[0], want)

    def test_lightning(self):
        data = self.execute("lightning", {"lightning": {"LightningDataModule": object}})["Data"]()
        self.assertEqual([(e, b.tolist()) for e, b in frameworks.Fit(data.train_dataloader()).run(2)], [(e, b) for e in range(2) for b in expected(e, 12)])

    def test_fabric(self):
        want = [b for e in range(3) for b in expected(e, 12)]
        for stop in range(1, len(want)):
            first, saved = self.loop("fabric", 1, 0, None, stop)
            self.assertEqual(first + self.loop("fabric", 1, 0, saved, None)[0], want)

    def test_transformers(self):
        trainer = self.execute("transformers", {"transformers": {"Trainer": object}})["Trainer"]()
        trainer.train_dataset, trainer.data_collator = Numbers(), torch.tensor
        trainer.args = types.SimpleNamespace(train_batch_size=12, seed=7, dataloader_num_workers=0)
        self.assertEqual(lists(frameworks.trainer_epochs(trainer.get_train_dataloader(), range(1, 3), 2)), expected(1, 12)[2:] + expected(2, 12))

    def test_torchdata(self):
        def made(dataset, batch_sampler, num_workers):
            return frameworks.StatefulDataLoader(dataset, batch_sampler, 2 * num_workers)

        modules = {"torchdata": {}, "torchdata.stateful_dataloader": {"StatefulDataLoader": made}}
        loader = self.execute("torchdata", modules)["loader"]
        got = list(itertools.islice(iter(loader), 3))
        loader = self.execute("torchdata", modules, saved=loader.state_dict())["loader"]
        self.assertEqual(got + list(loader) + list(loader), expected(0, 12) + expected(1, 12))


if __name__ == "__main__":
    unittest.main()
