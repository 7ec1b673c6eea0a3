"""DataLoader delivers the batches of the order, whatever workers it has and wherever it was stopped."""

import os
import signal
import time
import unittest

import torch
import torch.utils.data

from tests import support

from ffconvert import BatchSampler, DataLoader, Dataset, StateError

KEY = "__key__"


def key_and_size(sample):
    return sample[KEY], len(sample.get("jpg", b""))


def slowly(sample):
    time.sleep(0.002)
    return sample[KEY]


def dataset(out=None, transform=key_and_size):
    return Dataset(out or support.tars(), transform=transform)


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
        for workers, context in ((0, None), (2, "fork"), (4, "fork"), (2, "spawn")):
            with self.subTest(workers=workers, context=context):
                loader = DataLoader(dataset(), 16, shuffle=True, drop_last=True, seed=7, num_workers=workers, multiprocessing_context=context)
                self.assertEqual((len(loader), loader.batch_size, loader.num_workers), (7, 16, workers))
                self.assertEqual(rows(loader), want)

    def test_order(self):
        self.assertEqual(rows(DataLoader(dataset(), 16)), expected(mode="sequential", ends="short"))
        self.assertEqual(rows(DataLoader(dataset(), 16, shuffle=True, mode="window:50", drop_last=True)), expected(mode="window:50"))
        ranks = [rows(DataLoader(dataset(), 4, shuffle=True, drop_last=True, rank=r, world=4)) for r in range(4)]
        self.assertEqual([sum(step, []) for step in zip(*ranks)], expected())
        with self.assertRaisesRegex(ValueError, "belong together"):
            DataLoader(dataset(), 4, rank=1)

    def test_resume(self):
        """The state belongs to the batch that was delivered, however many were read ahead."""
        for first, then in ((2, 0), (0, 2), (4, 2)):
            loader = DataLoader(dataset(), 8, shuffle=True, seed=5, num_workers=first, drop_last=True)
            loader.set_epoch(3)
            got, state = [], loader.state_dict()
            self.assertEqual(state["position"], 0)
            for keys, sizes in loader:
                got.append(list(zip(keys, sizes.tolist())))
                state = loader.state_dict()
                self.assertEqual(state["position"], 8 * len(got))
                if len(got) == 4:
                    break
            other = DataLoader(dataset(), 8, shuffle=True, seed=5, num_workers=then, drop_last=True)
            other.load_state_dict(state)
            self.assertEqual((other.epoch, len(other)), (3, 11))
            self.assertEqual(other.state_dict(), state)
            other.set_epoch(3)
            self.assertEqual(got + rows(other), expected(3, 8, seed=5))
            end = other.state_dict()
            self.assertEqual(end["position"], 120)
            loader.load_state_dict(end)
            self.assertEqual((len(loader), rows(loader), loader.state_dict()), (0, [], end))
            loader.set_epoch(4)
            self.assertEqual(rows(loader), expected(4, 8, seed=5))

    def test_persistent_workers(self):
        loader = DataLoader(dataset(), 16, shuffle=True, num_workers=2, persistent_workers=True, prefetch_factor=4, drop_last=True)
        for epoch in range(3):
            loader.set_epoch(epoch)
            self.assertEqual(rows(loader), expected(epoch))
        loader.set_step(5)
        self.assertEqual(rows(loader), expected(2)[5:])
        loader.set_step(0)
        for keys, _ in loader:  # and a loop that is left goes on
            if loader.state_dict()["position"] == 48:
                break
        loader.load_state_dict(loader.state_dict())
        self.assertEqual(rows(loader), expected(2)[3:])

    def test_set_step(self):
        """As ffrecord has it: the step stays until it is set again."""
        loader = DataLoader(dataset(), 16, shuffle=True, num_workers=2)
        every = rows(loader)
        loader.set_step(3)
        self.assertEqual((len(loader), rows(loader), rows(loader)), (5, every[3:], expected(1, ends="short")[3:]))
        loader.set_epoch(0)
        self.assertEqual(rows(loader), every)
        for bad in (-1, 9):
            with self.assertRaises(ValueError):
                loader.set_step(bad)
        with self.assertRaises(ValueError):
            DataLoader(dataset(), skippable=False).set_step(1)

    def test_epochs_without_set_epoch(self):
        """A loop that does not know set_epoch, as one written for torch or ffrecord, still has another order in each epoch."""
        for workers in 0, 2:
            loader = DataLoader(dataset(), 16, shuffle=True, num_workers=workers, drop_last=True)
            next(iter(loader))  # a loop that was left begins again
            self.assertEqual([rows(loader), rows(loader), rows(loader)], [expected(0), expected(1), expected(2)])
            self.assertEqual((loader.epoch, loader.state_dict()["position"]), (2, 112))
        loader.load_state_dict(dict(loader.state_dict(), position=96))
        self.assertEqual([rows(loader), rows(loader)], [expected(2)[6:], expected(3)])
        loader.load_state_dict(dict(loader.state_dict(), position=112))  # the end of an epoch is left as it is once
        self.assertEqual([rows(loader), rows(loader)], [[], expected(4)])
        ours = BatchSampler(dataset(), 16)  # its epochs are the caller's
        loader = DataLoader(dataset(), batch_sampler=ours)
        self.assertEqual([rows(loader), rows(loader)], [expected(0), expected(0)])

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
                     {"sampler": spread, "rank": 0, "world": 2}):
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
        loader = DataLoader(Dataset(support.write(support.scratch() / "a.ffr", [b"\x01"] * 3), decode="msgpack"), 1, rank=0, world=2)
        self.assertEqual([len(batch) for batch in loader], [1, 0])


class Faults(unittest.TestCase):
    def failing(self, out, why, workers=2, before=lambda: None, context=None):
        loader = DataLoader(dataset(out), 8, shuffle=True, num_workers=workers, multiprocessing_context=context)
        before()
        with self.assertRaisesRegex(Exception, why) as caught:
            rows(loader)
        return caught.exception

    def test_damaged_sample(self):
        out = support.copied()
        data = dataset(out)
        path, number = data.reader.where(60)
        at = next(s for s in data.reader._shards if s.path == path).offsets[number]
        support.flip(path, at + 3)
        for workers in (0, 2):
            e = self.failing(out, r"PART_\d+\.ffr: sample %d at byte %d: its checksum differs" % (number, at), workers)
            self.assertEqual(type(e).__name__, "DamageError")

    def test_changed_dataset(self):
        """A shard that goes, and one that is replaced, under a loader."""
        out = support.copied()
        self.failing(out, r"PART_00003\.ffr: the file is gone", before=(out / "PART_00003.ffr").unlink)
        out = support.copied()
        self.failing(out, r"PART_00003\.ffr: missing", before=(out / "PART_00003.ffr").unlink, context="spawn")
        out, other = support.copied(), support.converted("tar", "--shards", "5", "--encode", "cbor", *support.TARS)
        self.failing(out, r"PART_00003\.ffr: the file was replaced", before=lambda: os.replace(support.copied() / "PART_00002.ffr", out / "PART_00003.ffr"))
        state = DataLoader(dataset(), 8, shuffle=True).state_dict()
        with self.assertRaisesRegex(StateError, "its dataset is"):
            DataLoader(dataset(other), 8, shuffle=True).load_state_dict(state)

    def test_killed_worker(self):
        """An error, not a wait."""
        loader = DataLoader(dataset(transform=slowly), 4, shuffle=True, num_workers=2, collate_fn=list)
        began = time.monotonic()
        with self.assertRaisesRegex(RuntimeError, "worker"):
            for step, _ in enumerate(loader):
                if step == 2:
                    for worker in torch.multiprocessing.active_children():
                        os.kill(worker.pid, signal.SIGKILL)
        self.assertLess(time.monotonic() - began, 60)

    def test_bad_state(self):
        loader = DataLoader(dataset(), 8, shuffle=True)
        for args in ({"seed": 1}, {"batch_size": 4}, {"shuffle": False}):
            with self.subTest(args=args), self.assertRaises(StateError):
                DataLoader(dataset(), **{"batch_size": 8, "shuffle": True, **args}).load_state_dict(loader.state_dict())


if __name__ == "__main__":
    unittest.main()
