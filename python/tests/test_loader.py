"""DataLoader delivers the batches of the order, whatever workers it has and wherever it was stopped."""

import itertools
import os
import pickle
import signal
import time
import unittest
from unittest import mock

import torch
import torch.utils.data

from tests import support

from ffconvert import BatchSampler, DataLoader, Dataset, StateError
from ffconvert.threads import Probe

KEY = "__key__"


WORKERS = {}, {"num_workers": 2}, {"num_workers": 2, "workers": "threads"}


def key_and_size(sample):
    return sample[KEY], len(sample.get("jpg", b""))


def slowly(sample):
    time.sleep(0.002)
    return sample[KEY]


def print_nothing(worker):
    pass


def dataset(out=None, transform=key_and_size):
    return Dataset(out or support.tars(), decode="raw", transform=transform)


def rows(loader):
    """All that is left, as lists of what key_and_size returns."""
    return [list(zip(keys, sizes.tolist())) for keys, sizes in loader]


def expected(epoch=0, batch=16, **options):
    data = dataset()
    sampler = BatchSampler(data, batch, **options)
    sampler.set_epoch(epoch)
    return [data[i] for i in sampler]


class Loader(unittest.TestCase):
    def test_workers(self):
        want = expected(seed=7)
        for workers, context in ((0, None), (2, "fork"), (4, "fork"), (2, "spawn"), (2, "forkserver")):
            with self.subTest(workers=workers, context=context):
                loader = DataLoader(dataset(), 16, shuffle=True, drop_last=True, seed=7, num_workers=workers, multiprocessing_context=context)
                self.assertEqual((len(loader), loader.batch_size, loader.num_workers), (7, 16, workers))
                self.assertEqual(rows(loader), want)

    def test_order(self):
        self.assertEqual(rows(DataLoader(dataset(), 16)), expected(mode="sequential", ends="short"))
        self.assertEqual(rows(DataLoader(dataset(), 16, shuffle=True, mode="window:50", drop_last=True, seed=0)), expected(mode="window:50"))
        ranks = [rows(DataLoader(dataset(), 4, shuffle=True, drop_last=True, rank=r, world=4, seed=0)) for r in range(4)]
        self.assertEqual([sum(step, []) for step in zip(*ranks)], expected())
        with self.assertRaisesRegex(ValueError, "belong together"):
            DataLoader(dataset(), 4, rank=1)

    def test_resume(self):
        """The state belongs to the batch that was delivered, however many were read ahead."""
        for first, then in itertools.permutations(WORKERS, 2):
            loader = DataLoader(dataset(), 8, shuffle=True, seed=5, drop_last=True, **first)
            loader.set_epoch(3)
            got, state = [], loader.state_dict()
            self.assertEqual(state["position"], 0)
            for keys, sizes in loader:
                got.append(list(zip(keys, sizes.tolist())))
                state = loader.state_dict()
                self.assertEqual(state["position"], 8 * len(got))
                if len(got) == 4:
                    break
            other = DataLoader(dataset(), 8, shuffle=True, seed=5, drop_last=True, **then)
            other.load_state_dict(state)
            self.assertEqual((other.epoch, other.step, len(other)), (3, 4, 15))  # len is that of an epoch, as Lightning wants it
            self.assertEqual(other.state_dict(), state)
            other.set_epoch(3)
            self.assertEqual(got + rows(other), expected(3, 8, seed=5))
            end = other.state_dict()
            self.assertEqual(end["position"], 120)
            loader.load_state_dict(end)
            loader.set_epoch(3)  # of this epoch nothing is left
            self.assertEqual((rows(loader), loader.state_dict()), ([], end))
            loader.set_epoch(4)
            self.assertEqual(rows(loader), expected(4, 8, seed=5))
            loader.load_state_dict(state)  # the rest once, then whole epochs
            self.assertEqual([rows(loader), rows(loader)], [expected(3, 8, seed=5)[4:], expected(4, 8, seed=5)])

    def test_persistent_workers(self):
        loader = DataLoader(dataset(), 16, shuffle=True, num_workers=2, persistent_workers=True, prefetch_factor=4, drop_last=True, seed=0)
        for epoch in range(3):
            loader.set_epoch(epoch)
            self.assertEqual(rows(loader), expected(epoch))
        loader.set_step(5)
        self.assertEqual(rows(loader), expected(3)[5:])
        loader.set_step(0)
        for keys, _ in loader:  # and a loop that is left goes on
            if loader.state_dict()["position"] == 48:
                break
        loader.load_state_dict(loader.state_dict())
        self.assertEqual(rows(loader), expected(4)[3:])

    def test_set_step(self):
        """As ffrecord has it: the step stays until it is set again."""
        loader = DataLoader(dataset(), 16, shuffle=True, num_workers=2, seed=0)
        every = expected(ends="short")
        loader.set_step(3)
        self.assertEqual((len(loader), rows(loader), rows(loader)), (5, every[3:], expected(1, ends="short")[3:]))
        loader.set_epoch(0)
        self.assertEqual(rows(loader), every[3:])
        loader.set_step(0)
        loader.set_epoch(0)
        self.assertEqual((len(loader), rows(loader)), (8, every))
        for bad in (-1, 9):
            with self.assertRaises(ValueError):
                loader.set_step(bad)
        with self.assertRaises(ValueError):
            DataLoader(dataset(), skippable=False).set_step(1)

    def test_loop_of_ffrecord(self):
        """The loop of ffrecord's README, as it is printed there: another order in each epoch, of which the first is resumed."""
        for workers in WORKERS:
            loader = DataLoader(dataset(), batch_size=16, shuffle=True, **workers, seed=0)
            got, start_epoch, start_step, epochs = [], 5, 3, 8
            loader.set_step(start_step)
            for epoch in range(start_epoch, epochs):
                for i, batch in enumerate(loader):
                    got.append(list(zip(batch[0], batch[1].tolist())))
                loader.set_step(0)  # remember to reset before the next epoch
            self.assertEqual(got, expected(0, ends="short")[3:] + expected(1, ends="short") + expected(2, ends="short"))

    def test_set_epoch_of_sampler(self):
        """torch's recipe for DDP. The loader and its samplers have one epoch and one position."""
        loader = DataLoader(dataset(), 16, shuffle=True, seed=0)
        for set_epoch in (loader.sampler.set_epoch, loader.batch_sampler.set_epoch, loader.batch_sampler.sampler.set_epoch, loader.set_epoch):
            for epoch in (0, 1, 2, 3, 1):
                set_epoch(epoch)
                self.assertEqual((rows(loader), loader.state_dict()["epoch"]), (expected(epoch, ends="short"), epoch))
            set_epoch(0)
            for step, _ in enumerate(loader, 1):
                self.assertEqual({v.state_dict()["position"] for v in (loader, loader.sampler, loader.batch_sampler)}, {16 * step if step < 8 else 128})
                if step == 5:
                    break
            set_epoch(1)
            self.assertEqual((loader.epoch, loader.sampler.epoch, loader.state_dict()["position"]), (1, 1, 0))
            state = dict(loader.state_dict(), epoch=2, position=48)
            loader.load_state_dict(state)
            set_epoch(2)
            self.assertEqual((loader.state_dict(), rows(loader)), (state, expected(2, ends="short")[3:]))

    def test_iterator_follows(self):
        """What is set between iter and the first batch counts, though workers read ahead; what is set later does not change the loop that goes on."""
        for workers in WORKERS:
            loader = DataLoader(dataset(), 16, shuffle=True, seed=0, **workers)
            it = iter(loader)
            loader.set_epoch(3)
            first = next(it)[0]
            self.assertEqual((list(first), loader.state_dict()["position"]), ([key for key, _ in expected(3)[0]], 16))
            loader.set_epoch(3)  # it goes on
            next(it)
            self.assertEqual(loader.state_dict()["position"], 32)
            loader.set_epoch(4)
            self.assertEqual((len(list(it)), loader.epoch, loader.step), (6, 4, 0))

    def test_epochs_without_set_epoch(self):
        """A loop that does not know set_epoch, as one written for torch or ffrecord, still has another order in each epoch."""
        for workers in WORKERS:
            loader = DataLoader(dataset(), 16, shuffle=True, **workers, drop_last=True, seed=0)
            next(iter(loader))  # a loop that was left begins again
            self.assertEqual([rows(loader), rows(loader), rows(loader)], [expected(0), expected(1), expected(2)])
            self.assertEqual((loader.epoch, loader.state_dict()["position"]), (2, 112))
        loader.load_state_dict(dict(loader.state_dict(), position=96))
        self.assertEqual([rows(loader), rows(loader)], [expected(2)[6:], expected(3)])
        loader.load_state_dict(dict(loader.state_dict(), position=112))  # behind the end of an epoch is the next
        self.assertEqual([rows(loader), rows(loader)], [expected(4), expected(5)])
        loader = DataLoader(dataset(), batch_sampler=BatchSampler(dataset(), 16))
        self.assertEqual([rows(loader), rows(loader)], [expected(0), expected(1)])

    def test_mode_without_shuffle(self):
        for args in ({"mode": "window:50"}, {"mode": "global"}, {"mode": "nonsense"}, {"mode": "global", "batch_sampler": BatchSampler(120, 8)}):
            with self.subTest(args=args), self.assertRaisesRegex(ValueError, "is for shuffle=True"):
                DataLoader(dataset(), **args)

    def test_samplers_of_torch(self):
        data = torch.utils.data.TensorDataset(torch.arange(100))
        loader = DataLoader(data, 10, sampler=torch.utils.data.SequentialSampler(data), num_workers=2)
        loader.set_step(4)
        self.assertEqual(torch.cat([b for b, in loader]).tolist(), list(range(40, 100)))
        self.assertEqual(len(loader), 6)
        with self.assertRaisesRegex(TypeError, "order of BatchSampler is not known"):
            loader.state_dict()
        with self.assertRaisesRegex(TypeError, "order of BatchSampler is not known"):
            loader.load_state_dict(BatchSampler(100, 10).state_dict())
        spread = torch.utils.data.distributed.DistributedSampler(data, 2, 1, shuffle=True)
        loader = DataLoader(data, 10, sampler=spread)
        first = [b.tolist() for b, in loader]
        loader.set_epoch(1)
        self.assertNotEqual([b.tolist() for b, in loader], first)
        ours = BatchSampler(dataset(), 16, seed=9)
        loader = DataLoader(dataset(), batch_sampler=ours)
        self.assertEqual((rows(loader), loader.batch_size), (expected(seed=9), 16))
        self.assertEqual(loader.state_dict(), ours.state_dict())
        for args in ({"sampler": spread, "shuffle": True}, {"sampler": spread, "batch_sampler": ours}, {"batch_sampler": ours, "shuffle": True},
                     {"sampler": spread, "rank": 0, "world": 2}, {"batch_sampler": ours, "seed": 1}, {"sampler": spread, "global_batch": 4}):
            with self.assertRaisesRegex(ValueError, "its own order"):
                DataLoader(data, **args)

    def test_datasets_of_torch(self):
        data = torch.utils.data.TensorDataset(torch.arange(40))
        loader = DataLoader(data, 10, shuffle=True, seed=1)
        it = iter(loader)
        first = next(it)[0].tolist()
        state = loader.state_dict()
        loader = DataLoader(data, 10, shuffle=True, seed=1)
        loader.load_state_dict(state)
        self.assertEqual(sorted(first + torch.cat([b for b, in loader]).tolist()), list(range(40)))
        with self.assertRaises(StateError):
            DataLoader(torch.utils.data.TensorDataset(torch.arange(41)), 10, shuffle=True, seed=1).load_state_dict(state)

    def test_plain_torch(self):
        """torch's own DataLoader takes a Dataset and a BatchSampler, too."""
        data = dataset()
        loader = torch.utils.data.DataLoader(data, sampler=BatchSampler(data, 16, seed=7), batch_size=None, collate_fn=list, num_workers=2)
        self.assertEqual(list(loader), expected(seed=7))
        loader = torch.utils.data.DataLoader(data, batch_sampler=BatchSampler(data, 16, seed=7), collate_fn=list)
        self.assertEqual(list(loader), expected(seed=7))

    def test_nothing_for_a_rank(self):
        """By default every rank has as many samples in each step, and each comes once where that is possible; ends="short" may have none."""
        three = Dataset(support.write(support.scratch() / "a.ffr", [b"\x01"] * 3), encoding="msgpack")
        self.assertEqual([len(batch) for batch in DataLoader(three, 1, rank=0, world=2, ends="short")], [1, 0])
        nine = torch.utils.data.TensorDataset(torch.arange(9))
        for world in range(1, 10):
            ranks = [[b.tolist() for b, in DataLoader(nine, 4, rank=r, world=world)] for r in range(world)]
            steps = [[i for batch in step for i in batch] for step in zip(*ranks)]
            self.assertEqual({len(r) for r in ranks}, {len(steps)})
            self.assertEqual({len(set(map(len, step))) for step in zip(*ranks)}, {1}, "ranks have unequal batches")
            self.assertEqual([i for step in steps for i in step], list(range(9)) + list(range(-9 % world)))
            dropped = [[b.tolist() for b, in DataLoader(nine, 2, drop_last=True, rank=r, world=world)] for r in range(world)]
            self.assertEqual({len(r) for r in dropped}, {9 // (2 * world)})
        self.assertEqual([len(b) for b, in DataLoader(nine, 4, ends="pad")], [4, 4, 4])
        with self.assertRaisesRegex(ValueError, "drop_last=True is ends='drop'"):
            DataLoader(nine, 4, drop_last=True, ends="pad")

    def test_global_batch(self):
        """Any number of ranks, by the split of docs/order.md: also 7 of 8, and a state of one goes on on another."""
        want, state, got = expected(0, 16, seed=4), None, []
        for world in (8, 7, 3, 1, 16, 5, 2):
            loaders = [DataLoader(dataset(), global_batch=16, shuffle=True, drop_last=True, seed=4, rank=r, world=world) for r in range(world)]
            for loader in loaders:
                if state:
                    loader.load_state_dict(state)
            self.assertEqual(loaders[0].batch_size, -(-16 // world))
            parts = [next(iter(loader)) for loader in loaders]
            self.assertEqual([len(keys) for keys, _ in parts], [(r + 1) * 16 // world - r * 16 // world for r in range(world)])
            got.append([row for keys, sizes in parts for row in zip(keys, sizes.tolist())])
            states = [loader.state_dict() for loader in loaders]
            state = states[0]
            self.assertEqual(states, [state] * world)
        self.assertEqual((got, state["position"]), (want, 112))
        with self.assertRaisesRegex(ValueError, "steps of 4 samples for rank 0 of 7: every rank wants one or more"):
            DataLoader(dataset(), global_batch=4, rank=0, world=7)

    def test_as_torch_says(self):
        """The attributes of torch's loader say what they say there."""
        data = dataset()
        for args in ({"batch_size": 16, "drop_last": True}, {"batch_size": 16}, {"batch_size": 7, "shuffle": True}):
            theirs, ours = torch.utils.data.DataLoader(data, **args), DataLoader(data, **args)
            for name in ("batch_size", "drop_last"):
                self.assertEqual(getattr(ours, name), getattr(theirs, name))
                self.assertEqual(getattr(ours.batch_sampler, name), getattr(theirs.batch_sampler, name))
            self.assertIsInstance(ours.batch_sampler, torch.utils.data.BatchSampler)
            self.assertIsInstance(ours.sampler, torch.utils.data.Sampler)
            self.assertIs(ours.sampler, ours.batch_sampler.sampler)
            self.assertEqual((len(ours), len(ours.batch_sampler), len(list(ours.batch_sampler))), (len(theirs),) * 3)
            self.assertEqual(len(list(ours.sampler)), len(ours.sampler))
            if "shuffle" not in args:
                self.assertEqual(list(ours.batch_sampler), list(theirs.batch_sampler))
        loader = pickle.loads(pickle.dumps(DataLoader(data, 7, shuffle=True, seed=3)))
        self.assertEqual(([list(b) for b in loader.batch_sampler], loader.batch_size), (list(BatchSampler(data, 7, seed=3, ends="even")), 7))
        eight = torch.utils.data.BatchSampler(DataLoader(data, 8).sampler, 8, False)  # of single samples, as StatefulDataLoader takes them
        self.assertEqual([(batch[0], eight.sampler.state_dict()["position"]) for batch in eight], [(i, i + 8) for i in range(0, 120, 8)])
        two = [DataLoader(data, 7, rank=r, world=2) for r in range(2)]
        self.assertEqual(sorted(i for loader in two for i in loader.sampler), list(range(120)))
        self.assertEqual((len(two[0].sampler), two[0].sampler.num_replicas, two[1].sampler.rank), (60, 2, 1))
        self.assertIsInstance(two[0].sampler, torch.utils.data.distributed.DistributedSampler)
        self.assertNotIsInstance(DataLoader(data).sampler, torch.utils.data.distributed.DistributedSampler)
        loader = DataLoader(data, 8, shuffle=True, seed=3, rank=1, world=2)
        next(iter(loader))
        self.assertEqual(repr(loader), "<DataLoader of 120 samples: mode global, seed 3, 16 a step, ends even, rank 1 of 2, epoch 0, step 1 of 8>")
        loader = DataLoader(data, 8, num_workers=3, workers="threads")
        self.assertEqual(repr(loader), "<DataLoader of 120 samples: mode sequential, seed 0, 8 a step, ends even, rank 0 of 1, epoch 0, step 0 of 15, 3 threads>")
        self.assertEqual(repr(DataLoader(data, sampler=range(5))), "<DataLoader of Dataset, by BatchSampler>")


class Seeds(unittest.TestCase):
    def test_drawn(self):
        """A loader without a seed draws one, as torch does, says it, and goes on after a state of any seed."""
        data = torch.utils.data.TensorDataset(torch.arange(60))
        loaders = [DataLoader(data, 10, shuffle=True) for _ in range(3)]
        self.assertEqual(len({loader.seed for loader in loaders}), 3)
        torch.manual_seed(3)
        again = DataLoader(data, 10, shuffle=True).seed
        torch.manual_seed(3)
        self.assertEqual(DataLoader(data, 10, shuffle=True).seed, again)
        first = next(iter(loaders[0]))[0].tolist()
        state = loaders[0].state_dict()
        self.assertEqual(state["seed"], loaders[0].seed)
        loaders[1].load_state_dict(state)
        rest = [i for b, in loaders[1] for i in b.tolist()]
        self.assertEqual((sorted(first + rest), loaders[1].seed), (list(range(60)), state["seed"]))
        it = iter(loaders[2])
        loaders[2].load_state_dict(dict(state, position=0))  # an iterator that has not begun follows
        self.assertEqual(next(it)[0].tolist(), first)
        for bad in (-1, 1 << 63, "7", None, True):
            with self.assertRaises(StateError):
                loaders[1].load_state_dict(dict(state, seed=bad))
        with self.assertRaisesRegex(StateError, "its seed is"):
            DataLoader(data, 10, shuffle=True, seed=7).load_state_dict(dict(state, seed=8))
        with self.assertRaisesRegex(ValueError, "rank 1 of 2 without a seed"):
            DataLoader(data, 10, shuffle=True, rank=1, world=2)
        self.assertEqual(DataLoader(data, 10, rank=1, world=2).seed, 0)  # nothing is shuffled

    def test_generator(self):
        """It draws the seed, as it draws for torch's sampler: the same generator, the same order; another one, another."""
        data = torch.utils.data.TensorDataset(torch.arange(60))

        def order(number, **args):
            return [b.tolist() for b, in DataLoader(data, 10, shuffle=True, generator=torch.Generator().manual_seed(number), **args)]

        self.assertEqual(order(12345), order(12345))
        self.assertNotEqual(order(12345), order(54321))
        self.assertEqual(order(12345, seed=7), order(54321, seed=7))

    def test_subsets(self):
        """A state of other samples is not taken, though they are as many."""
        data = dataset()
        subset, concat = torch.utils.data.Subset, torch.utils.data.ConcatDataset
        parts = [subset(data, range(0, 60)), subset(data, range(60, 120)), subset(data, list(range(59, -1, -1))), subset(dataset(), range(0, 120)),
                 subset(subset(data, range(0, 120, 2)), range(30)), subset(subset(data, range(0, 120, 2)), range(30, 60)),
                 concat([subset(data, range(30)), subset(data, range(30))]), concat([subset(data, range(30)), subset(data, range(30, 60))]), data]
        states = [DataLoader(part, 10, shuffle=True, seed=1).state_dict() for part in parts]
        self.assertEqual(len({state["dataset"] for state in states}), len(parts))
        for i, part in enumerate(parts):
            for j, state in enumerate(states):
                loader = DataLoader(part, 10, shuffle=True, seed=1)
                if i == j:
                    loader.load_state_dict(state)
                else:
                    with self.assertRaisesRegex(StateError, "its dataset is"):
                        loader.load_state_dict(state)
        keys = [DataLoader(subset(data, keys), 1).state_dict()["dataset"] for keys in (["000001", "000002"], ["000001", "000003"])]
        self.assertEqual(len(set(keys)), 2)
        same = subset(data, torch.arange(60))
        chosen = data.where("label=1")
        of_torch = subset(data, list(chosen.indices))
        for more in ({}, {"num_workers": 2}, {"num_workers": 2, "workers": "threads"}, {"mode": "window:20"}):
            loader, other = (DataLoader(part, 10, shuffle=True, seed=1, **more) for part in (chosen, of_torch))
            next(iter(loader))
            saved = loader.state_dict()
            other.load_state_dict(saved)
            self.assertEqual(rows(other), rows(loader)[1:])
        self.assertEqual(rows(torch.utils.data.DataLoader(chosen, 10, collate_fn=loader.collate_fn)), rows(DataLoader(of_torch, 10)))
        self.assertEqual(DataLoader(same, 10).state_dict()["dataset"], states[0]["dataset"])


def failing(sample):
    if sample[KEY] in ("000007", "000100"):
        raise {"000007": KeyError, "000100": StopIteration}[sample[KEY]]("not this one")
    return sample[KEY]


class Process(Dataset):
    """As ffrecord's users write them."""

    def process(self, indices, data):
        return [1 // (i != 7) for i in indices]


class Failing(torch.utils.data.Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, i):
        if i == 5:
            raise StopIteration
        return i


class Faults(unittest.TestCase):
    def failing(self, out, why, workers={"num_workers": 2}, before=lambda: None, context=None):
        loader = DataLoader(dataset(out), 8, shuffle=True, **workers, multiprocessing_context=context)
        before()
        with self.assertRaisesRegex(Exception, why) as caught:
            rows(loader)
        return caught.exception

    def test_damaged_sample(self):
        out = support.copied()
        data = dataset(out)
        path, number = data.reader.where(60)
        at = support.offsets(path)[number]
        support.flip(path, at + 3)
        for workers in WORKERS:
            e = self.failing(out, r"PART_\d+\.ffr: sample %d at byte %d: its checksum differs" % (number, at), workers)
            self.assertEqual(type(e).__name__, "DamageError")
            if workers != WORKERS[1]:
                self.assertEqual((e.path, e.sample, e.offset), (path, number, at))

    def test_transform(self):
        """An error of a transform names the sample, and the loop goes on behind it, as torch's does: it never ends without a word."""
        data = dataset(transform=failing)
        path, number = data.reader.where(7)
        for workers in WORKERS:
            loader, got, errors = DataLoader(data, 8, **workers, collate_fn=list), [], []
            it = iter(loader)
            for _ in range(15):
                try:
                    got.append(next(it))
                except (KeyError, RuntimeError) as e:
                    errors.append(e)
                else:
                    self.assertEqual(loader.step, len(got) + len(errors))
            with self.assertRaises(StopIteration):
                next(it)
            self.assertEqual([int(key) for batch in got for key in batch], list(range(8, 96)) + list(range(104, 120)))
            self.assertEqual([type(e) for e in errors], [KeyError, RuntimeError])
            self.assertIn("%s: sample %d: transform: KeyError: 'not this one'" % (path, number), str(errors[0]))
            self.assertIn("%s: sample %d: transform: StopIteration: not this one" % data.reader.where(100), str(errors[1]))
            with self.assertRaises(KeyError):
                for batch in loader:
                    self.fail("the first batch has the sample")
            self.assertEqual(loader.state_dict()["position"], 0)  # what failed was not delivered
            loader.load_state_dict(dict(loader.state_dict(), position=96))
            for _ in range(2):  # nor does a loop that fails at once use up a state
                with self.assertRaises(RuntimeError):
                    next(iter(loader))
            self.assertEqual(loader.step, 12)

        with self.assertRaisesRegex(ZeroDivisionError, "^process of the samples 4, 5, 6, 7: ZeroDivisionError: integer division"):
            list(DataLoader(Process(support.tars()), 4))

    def test_dataset_that_stops(self):
        for workers in WORKERS:
            it = iter(DataLoader(Failing(), 2, **workers))
            self.assertEqual([next(it).tolist(), next(it).tolist()], [[0, 1], [2, 3]])
            with self.assertRaisesRegex(RuntimeError, "StopIteration for batch 2 of epoch 0, which has 4"):
                next(it)
            self.assertEqual([batch.tolist() for batch in it], [[6, 7]])

    def test_dataset_that_stops_among_foreign_lists(self):
        """A sampler that ends, ends an epoch; a dataset does not, in the order of any sampler."""
        for workers in WORKERS:
            it = iter(DataLoader(Failing(), 2, sampler=torch.utils.data.SequentialSampler(range(8)), **workers))
            self.assertEqual([next(it).tolist(), next(it).tolist()], [[0, 1], [2, 3]])
            with self.assertRaisesRegex(RuntimeError, "StopIteration for batch 2 of epoch 0"):
                next(it)
            self.assertEqual([batch.tolist() for batch in it], [[6, 7]])

    def test_auto_keeps_datasets_apart(self):
        """What a transform opens at its first sample has a position of its own in each process; and threads share no dataset of others unless that is said."""
        path = support.scratch() / "data.bin"
        path.write_bytes(b"".join(b"%08d" % i * 100 for i in range(120)))

        class Lazy:
            file = None

            def __call__(self, sample):
                self.file = self.file or open(path, "rb")
                i = int(sample["__key__"])
                self.file.seek(800 * i)
                time.sleep(0.001)
                return i, int(self.file.read(8))
        with mock.patch("ffconvert.loader.probe", lambda make: (make(), Probe(0.1, 1.0))[1]), mock.patch("os.sched_getaffinity", lambda _: {0, 1, 2}):
            loader = DataLoader(dataset(transform=Lazy()), 4, num_workers=3, workers="auto", collate_fn=list)
            self.assertEqual([i for batch in loader for i, got in batch if i != got], [])
        self.assertEqual(loader.chosen, "processes")
        self.assertIsNone(loader.dataset.transform.file)
        loader = DataLoader(torch.utils.data.Subset(list(range(20)), range(10)), 4, num_workers=2, workers="auto")
        self.assertEqual(sum(len(batch) for batch in loader), 10)
        self.assertEqual((loader.chosen, loader.why), ("processes", "whether threads may share a list is not known: workers=\"threads\" says that they may"))

    def test_batch_sampler_alone(self):
        lists = [[0, 1], [2]]
        for other in ({"batch_size": 7}, {"drop_last": True}):
            with self.assertRaisesRegex(ValueError, "neither batch_size nor drop_last"):
                DataLoader(dataset(), batch_sampler=lists, **other)

    def test_auto(self):
        """A transform that computes in Python gets processes, one whose batches take no time, and one that waits, threads."""
        def choice(transform, **probed):
            loader = DataLoader(dataset(transform=transform), 16, num_workers=2, workers="auto", collate_fn=list)
            self.assertEqual((loader.workers, loader.chosen, loader.why), ("auto", "", ""))
            with mock.patch("ffconvert.loader.probe", lambda make: (make(), Probe(**probed))[1]):
                self.assertEqual(len(list(loader)), 8)
            self.assertEqual(loader.workers, "auto")
            return loader.chosen, loader.why
        with mock.patch("os.sched_getaffinity", lambda _: {0, 1, 2}):
            self.assertEqual(choice(key_and_size, seconds=0.1, held=0.9),
                             ("processes", "a batch takes 100.0 ms, 90 % of them with Python's lock held, and 2 workers have 2 cores"))
            self.assertEqual(choice(key_and_size, seconds=0.1, held=0.4)[0], "threads")
            self.assertEqual(choice(key_and_size, seconds=0.001, held=0.9)[0], "threads")
        loader = DataLoader(dataset(transform=failing), 8, num_workers=2, workers="auto", collate_fn=list)
        with self.assertRaises(KeyError):
            list(loader)
        self.assertEqual(loader.chosen, "threads")
        self.assertIn("the first batch failed: ", loader.why)
        once = ([i, i + 1] for i in range(0, 120, 2))  # no batch of a sampler of others is lost by looking at one
        loader = DataLoader(dataset(), batch_sampler=once, num_workers=2, workers="auto", collate_fn=list)
        self.assertEqual(sum(len(batch) for batch in loader), 120)
        loader = DataLoader(dataset(), 16, num_workers=2, workers="auto", worker_init_fn=print_nothing)
        self.assertEqual(rows(loader), expected(mode="sequential", ends="short"))
        self.assertEqual((loader.chosen, loader.why), ("processes", "there is a worker_init_fn"))
        with self.assertWarnsRegex(UserWarning, "threads share those of this process"):
            DataLoader(dataset(), 16, num_workers=2, workers="threads", worker_init_fn=print_nothing)
        loader = DataLoader(dataset(), 16, num_workers=2, workers="auto")
        self.assertEqual(rows(loader), expected(mode="sequential", ends="short"))
        self.assertIn("a batch takes", loader.why)
        for args in ({"workers": "fibres"}, {"workers": "threads", "multiprocessing_context": "fork"}):
            with self.assertRaisesRegex(ValueError, "workers"):
                DataLoader(dataset(), 16, num_workers=2, **args)

    def test_changed_dataset(self):
        """A shard that goes, and one that is replaced, under a loader."""
        out = support.copied()
        self.failing(out, r"PART_00003\.ffr: the file is gone", before=(out / "PART_00003.ffr").unlink)
        out = support.copied()
        self.failing(out, r"PART_00003\.ffr: missing", before=(out / "PART_00003.ffr").unlink, context="spawn")
        out, other = support.copied(), support.converted("tar", "--shards", "5", "--encode", "cbor", *support.TARS)
        self.failing(out, r"PART_00003\.ffr: the file was replaced", before=lambda: os.replace(support.copied() / "PART_00002.ffr", out / "PART_00003.ffr"))
        state = DataLoader(dataset(), 8, shuffle=True, seed=0).state_dict()
        with self.assertRaisesRegex(StateError, "its dataset is"):
            DataLoader(dataset(other), 8, shuffle=True, seed=0).load_state_dict(state)

    def test_killed_worker(self):
        """An error, not a wait."""
        loader = DataLoader(dataset(transform=slowly), 4, shuffle=True, num_workers=2, collate_fn=list)
        began = time.monotonic()
        with mock.patch("sys.unraisablehook") as ignored, self.assertRaisesRegex(RuntimeError, "worker"):
            for step, _ in enumerate(loader):
                if step == 2:  # one worker: torch raises for each that was killed, the second time where it removes the iterator
                    os.kill(torch.multiprocessing.active_children()[0].pid, signal.SIGKILL)
        ignored.assert_not_called()
        self.assertLess(time.monotonic() - began, 60)

    def test_bad_state(self):
        loader = DataLoader(dataset(), 8, shuffle=True, seed=0)
        for args in ({"seed": 1}, {"batch_size": 4}, {"shuffle": False}):
            with self.subTest(args=args), self.assertRaises(StateError):
                DataLoader(dataset(), **{"batch_size": 8, "shuffle": True, "seed": 0, **args}).load_state_dict(loader.state_dict())


if __name__ == "__main__":
    unittest.main()
