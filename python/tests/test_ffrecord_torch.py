"""Datasets and loaders that are written for ffrecord.torch run with ffconvert.ffrecord.torch in its place."""

import pickle
import unittest
from array import array

import torch
import torch.utils.data

from tests import support

import ffconvert
import ffconvert.ffrecord as ffrecord
from ffconvert.ffrecord import FileReader, FileWriter
from ffconvert.ffrecord.torch import ConcatDataset, DataLoader, Dataset, ReaderRegistry, Subset


class Pairs(torch.utils.data.Dataset):
    """What the files hold, as a dataset of torch."""

    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, index):
        return index * 2, index * 3


class Pickled(Dataset):
    """As its README has it: process."""

    def __init__(self, fname, check_data=True, transform=None):
        super().__init__(fname, check_data)
        self.transform = transform

    def process(self, indices, data):
        samples = [pickle.loads(b) for b in data]
        return [self.transform(s) for s in samples] if self.transform else samples


class Own(ffrecord.torch.Dataset):
    """As its README has it later: a reader of its own, no super().__init__, and __getitem__ for a list."""

    def __init__(self, fname, check_data=True, transform=None):
        self.reader = FileReader(fname, check_data)
        self.transform = transform

    def __len__(self):
        return self.reader.n

    def __getitem__(self, indices):
        assert isinstance(indices, list)
        samples = [pickle.loads(b) for b in self.reader.read(indices)]
        return [self.transform(s) for s in samples] if self.transform else samples


class Bytes(Dataset):
    def process(self, indices, data):
        return list(map(bytes, data))


def pairs(n):
    path = support.scratch() / "pairs.ffr"
    writer = FileWriter(path, n)
    for i in range(n):
        writer.write_one(bytearray(pickle.dumps((i * 2, i * 3))))
    writer.close()
    return path


def of_bytes(values):
    return Bytes(support.write(support.scratch() / "bytes.ffr", [bytes([v]) for v in values]), True)


def seeded(seed=12345):
    return torch.Generator().manual_seed(seed)


def lists(loader):
    return [[column.tolist() for column in batch] for batch in loader]


class Datasets(unittest.TestCase):
    def test_readme(self):
        path = pairs(100)
        for kind in (Pickled, Own):
            self.assertEqual(kind(path)[[3, 4, 1, 0, 3]], [(6, 9), (8, 12), (2, 3), (0, 0), (6, 9)])
            self.assertEqual(kind(str(path), transform=sum)[[3]], [15])
            self.assertEqual((len(kind(path)), kind(path)[[]]), (100, []))
        self.assertEqual(Pickled([path, path])[(150, 2)], [(100, 150), (4, 6)])

    def test_attributes(self):
        """Those of a subclass are its own: none of ours is in the way."""
        dataset = Pickled(pairs(3), False)
        for name in ("classes", "fields", "shards", "digest", "decode", "keys", "transform", "indices", "data"):
            setattr(dataset, name, [name])
        dataset.transform = None
        self.assertEqual(dataset[[1]], [(2, 3)])
        self.assertEqual((str(dataset.fnames), dataset.reader.check_data), (dataset.reader.fnames[0], False))

    def test_errors(self):
        dataset = of_bytes(range(3))
        for wrong in (0, "0", slice(2), {0: 1}, None):
            for kind in (dataset, dataset + dataset, Subset(dataset, [0])):
                with self.assertRaisesRegex(TypeError, "is not the numbers of samples: want a list"):
                    kind[wrong]
        with self.assertRaisesRegex(IndexError, "sample 3 of 3"):
            dataset[[0, 3]]
        with self.assertRaisesRegex(NotImplementedError, "Dataset: define process"):
            Dataset(dataset.fnames)[[0]]

    def test_concat(self):
        first, second = of_bytes(range(100)), of_bytes([i * 2 for i in range(100)])
        values = list(range(100)) + [i * 2 for i in range(100)]
        for dataset in (ConcatDataset([first, second]), first + second, ConcatDataset(iter([first, second]))):
            self.assertIs(type(dataset), ConcatDataset)
            self.assertEqual((len(dataset), dataset.cumulative_sizes), (200, [100, 200]))
            self.assertEqual(dataset[list(range(200))], [bytes([v]) for v in values])
            for order in ([199, 0, 100, 99], [5, 5, 105, 5, 105], [-1, -200, 199, 0], []):
                self.assertEqual(dataset[order], [bytes([values[i]]) for i in order])
            for wrong in (200, -201):
                with self.assertRaisesRegex(IndexError, "sample %d of 200" % wrong):
                    dataset[[0, wrong]]
        three = first + second + of_bytes([7])
        self.assertEqual((len(three), three[[200, 3, 200, 103]]), (201, [b"\7", b"\3", b"\7", b"\6"]))
        self.assertEqual(ConcatDataset.cumsum(["ab", "", "c"]), [2, 2, 3])
        empty = of_bytes([])
        self.assertEqual(ConcatDataset([empty, first, empty, second, empty])[[0, 99, 100, 199]], [b"\0", b"c", b"\0", bytes([198])])
        with self.assertRaisesRegex(ValueError, "no datasets"):
            ConcatDataset([])
        class Short(Bytes):
            def process(self, indices, data):
                return data[1:]

        with self.assertRaisesRegex(ValueError, "dataset 1 of 2, a Short, returned 1 samples for 2 numbers"):
            (first + Short(second.fnames))[[100, 0, 101]]
        for other in (Pairs(3), [1]):
            with self.assertRaisesRegex(TypeError, "%s cannot be concatenated" % type(other).__name__):
                first + other

    def test_subset(self):
        dataset = of_bytes(range(100))
        indices = torch.randint(100, (50,), generator=seeded()).tolist()
        subset = Subset(dataset, indices)
        self.assertEqual(len(subset), 50)
        self.assertEqual([subset[[i]] for i in range(50)], [[bytes([i])] for i in indices])
        self.assertEqual(subset[[7, 7, -1]], [bytes([indices[i]]) for i in (7, 7, -1)])
        self.assertEqual((subset + dataset)[[0, 50]], [bytes([indices[0]]), b"\0"])
        for of_others in (tuple(indices), array("q", indices), torch.tensor(indices), torch.tensor(indices).numpy()):
            self.assertEqual(Subset(dataset, of_others)[[1, 3]], [bytes([indices[1]]), bytes([indices[3]])])
        part = torch.utils.data.random_split(dataset, [60, 40])[0]
        got = [b for batch in DataLoader(part, 8, collate_fn=list) for b in batch] if hasattr(part, "__getitems__") else part[list(range(60))]
        self.assertEqual(got, [bytes([i]) for i in part.indices])

    def test_pickle(self):
        for dataset in (Pickled(pairs(9)), Own(pairs(9)), Pickled(pairs(5)) + Own(pairs(4)), Subset(Own(pairs(9)), [2, 3])):
            again = pickle.loads(pickle.dumps(dataset))
            self.assertEqual((again[[1, 0]], len(again)), (dataset[[1, 0]], len(dataset)))


class Registry(unittest.TestCase):
    def test_registry(self):
        class A(ReaderRegistry):
            def __init__(self, one, two):
                self.r1, self.r2 = FileReader(one), FileReader(two)

        class B(Dataset):
            def __init__(self, one, two):
                self.another = A(one, two)
                self.reader1, self.reader2 = FileReader(one), FileReader(two)

            def __len__(self):
                return self.reader1.n

        path = support.write(support.scratch() / "x.ffr", [b"12345"] * 100)
        b = B(path, path)
        self.assertEqual(b.ffreaders(), [b.reader1, b.reader2, b.another.r1, b.another.r2])
        self.assertEqual(Subset(b, [0]).ffreaders(), b.ffreaders())
        self.assertEqual((b + b).ffreaders(), 2 * b.ffreaders())
        del b.reader1, b.another.r2
        self.assertEqual(b.ffreaders(), [b.reader2, b.another.r1])


class Loader(unittest.TestCase):
    def test_as_torch(self):
        """The batches of torch's loader, also of a dataset of torch."""
        path = pairs(101)
        for workers in (0, 2):
            for drop_last in (False, True):
                want = torch.utils.data.DataLoader(Pairs(101), 8, drop_last=drop_last)
                for dataset in (Pickled(path), Own(path), Pairs(101), Subset(Own(path), range(101))):
                    loader = DataLoader(dataset, batch_size=8, shuffle=False, num_workers=workers, drop_last=drop_last)
                    self.assertEqual(len(loader), len(want))
                    self.assertEqual(lists(loader), lists(want))

    def test_batch_at_once(self):
        """One call has all numbers of a batch."""
        calls = []

        class Counted(Bytes):
            def process(self, indices, data):
                calls.append(list(indices))
                return super().process(indices, data)

        dataset = Counted(support.write(support.scratch() / "x.ffr", [b"x"] * 10))
        for loader in (DataLoader(dataset, 4, collate_fn=list), ffconvert.DataLoader(dataset, 4, collate_fn=list)):
            self.assertEqual([len(batch) for batch in loader], [4, 4, 2])
            self.assertEqual(calls, [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]])
            calls.clear()

    def test_set_step(self):
        for shuffle in (True, False):
            for workers in (0, 2):
                for batch_size in (1, 4):
                    with self.subTest(shuffle=shuffle, workers=workers, batch_size=batch_size):
                        n = batch_size * 25
                        want = torch.utils.data.DataLoader(Pairs(n), batch_size, shuffle, num_workers=workers, generator=seeded())
                        loader = DataLoader(Pickled(pairs(n)), batch_size=batch_size, shuffle=shuffle, num_workers=workers, generator=seeded())
                        self.assertEqual(len(loader), 25)
                        loader.set_step(5)
                        self.assertEqual(len(loader), 20)
                        self.assertEqual(lists(loader), lists(want)[5:])
                        self.assertEqual(lists(loader), lists(want)[5:])  # it stays
                        loader.set_step(0)
                        self.assertEqual(len(loader), 25)
                        epochs = lists(loader), lists(loader)
                        self.assertEqual(epochs, (lists(want), lists(want)))
                        self.assertEqual(epochs[0] != epochs[1], shuffle)

    def test_nothing_is_read_for_steps_left_out(self):
        calls = []

        class Counted(Bytes):
            def process(self, indices, data):
                calls.extend(indices)
                return super().process(indices, data)

        loader = DataLoader(Counted(support.write(support.scratch() / "x.ffr", [b"x"] * 10)), 2, collate_fn=list)
        loader.set_step(3)
        self.assertEqual((len(list(loader)), calls), (2, [6, 7, 8, 9]))
        for wrong in (-1, 6):
            with self.assertRaisesRegex(ValueError, "step %d: an epoch has 5" % wrong):
                loader.set_step(wrong)

    def test_skippable(self):
        loader = DataLoader(Pickled(pairs(10)), 2, skippable=False, num_workers=2)
        with self.assertRaisesRegex(ValueError, "skippable=False"):
            loader.set_step(1)
        self.assertEqual(len(lists(loader)), 5)

    def test_resumed_training(self):
        """The loop of its README: from a step of an epoch on, then whole epochs."""
        loader = DataLoader(Own(pairs(40)), batch_size=4, shuffle=True, num_workers=2, generator=seeded())
        loader.set_step(7)
        sizes = []
        for _ in range(3):
            sizes.append(len(lists(loader)))
            loader.set_step(0)
        self.assertEqual(sizes, [3, 10, 10])

    def test_samplers(self):
        """A DistributedSampler has the samples of its rank, and set_epoch counts."""
        dataset = Pickled(pairs(40))
        sampler = torch.utils.data.DistributedSampler(dataset, num_replicas=2, rank=1, shuffle=True)
        loader = DataLoader(dataset, 5, sampler=sampler, num_workers=1)
        self.assertIs(loader.sampler, sampler)
        epochs = []
        for epoch in (0, 1):
            sampler.set_epoch(epoch)
            epochs.append([i for batch in lists(loader) for i in batch[0]])
            self.assertEqual(epochs[-1], [2 * i for i in sampler])
        self.assertNotEqual(*epochs)
        batches = [[3, 1], [2], [1, 1, 1]]
        self.assertEqual([b[0] for b in lists(DataLoader(dataset, batch_sampler=batches))], [[6, 2], [4], [2, 2, 2]])
        with self.assertRaisesRegex(ValueError, "a sampler has its own order"):
            DataLoader(dataset, 5, shuffle=True, sampler=sampler)

    def test_forked(self):
        """Datasets that cannot be pickled go to workers, whatever the start method is."""
        dataset = Pickled(pairs(12), transform=lambda pair: pair[0])
        before = torch.multiprocessing.get_start_method(allow_none=True)
        try:
            torch.multiprocessing.set_start_method("spawn", force=True)
            self.assertEqual([batch.tolist() for batch in DataLoader(dataset, 6, num_workers=2)], [[0, 2, 4, 6, 8, 10], [12, 14, 16, 18, 20, 22]])
        finally:
            torch.multiprocessing.set_start_method(before, force=True)

    def test_read_before_fork(self):
        """A reader that has read goes to workers, which FFRecord's own does not survive."""
        dataset = Pickled(pairs(12))
        dataset[[0, 1, 2, 3]]
        self.assertEqual(len(lists(DataLoader(dataset, 4, num_workers=2, persistent_workers=True, prefetch_factor=3))), 3)

    def test_own_order(self):
        """With a seed the order is that of ffconvert, and can be saved."""
        dataset = Pickled(pairs(40))
        whole = lists(DataLoader(dataset, 4, shuffle=True, seed=7))
        self.assertEqual(whole, lists(ffconvert.DataLoader(dataset, 4, shuffle=True, seed=7)))
        loader = DataLoader(dataset, 4, shuffle=True, seed=7, workers="threads", num_workers=2)
        batches = iter(loader)
        begun = [[column.tolist() for column in next(batches)] for _ in range(3)]
        again = DataLoader(dataset, 4, shuffle=True, seed=7)
        again.load_state_dict(loader.state_dict())
        self.assertEqual(begun + lists(again), whole)
        with self.assertRaisesRegex(TypeError, "the order of BatchSampler is not known"):
            DataLoader(dataset, 4, shuffle=True).state_dict()

    def test_error_of_worker(self):
        class Bad(Bytes):
            def process(self, indices, data):
                raise KeyError("mine")

        for workers in (0, 1):
            with self.assertRaisesRegex(KeyError, "mine"):
                list(DataLoader(Bad(pairs(4)), 2, num_workers=workers))


if __name__ == "__main__":
    unittest.main()
