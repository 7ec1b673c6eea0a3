"""Datasets that are given the numbers of a batch: dataset[[3, 1]] is a list of two samples.

>>> class Pickled(Dataset):
...     def process(self, indices, data):
...         return [pickle.loads(record) for record in data]
>>> Pickled("train.ffr")[[3, 4, 1, 0]]
"""

from __future__ import annotations

import bisect
import itertools
from typing import Any, Dict, Iterable, List, Sequence, Sized, Tuple, Union

import torch.utils.data

from ...reader import Path, Reader
from ..fileio import FileReader

__all__ = ["ConcatDataset", "Dataset", "ReaderRegistry", "Subset"]


class ReaderRegistry:
    """Knows the readers that its attributes are, and those of attributes that are registries themselves."""

    def ffreaders(self) -> List[Reader]:
        """The readers: its own first."""
        values = list(vars(self).values())
        inner = [value.ffreaders() for value in values if isinstance(value, ReaderRegistry)]
        return list(itertools.chain([value for value in values if isinstance(value, Reader)], *inner))


class Dataset(torch.utils.data.Dataset, ReaderRegistry):
    """The samples of FFRecord files, for a subclass that defines process; or one that defines __len__, and __getitem__ for a list of numbers.

    fnames is a file, a directory, or a list of files; check_data=False leaves out the CRC of samples. The loaders here, of ffconvert and of torch 2 read a
    batch at once. For dicts of fields, without a subclass, there is ffconvert.Dataset.
    """

    def __init__(self, fnames: Union[Path, Iterable[Path]], check_data: bool = True) -> None:
        self.fnames = fnames
        self.reader = FileReader(fnames, check_data)

    def __len__(self) -> int:
        """Number of samples."""
        return self.reader.n

    def __getitem__(self, indices: Any) -> Any:
        """Samples in the order of a list or tuple of numbers, which may come twice."""
        _check(indices)
        return self.process(indices, self.reader.read(indices))

    def __getitems__(self, indices: Sequence[int]) -> Any:
        """As __getitem__, of which it has the samples: loaders call it."""
        return self[list(indices)]

    def process(self, indices: Sequence[int], data: List[Any]) -> List[Any]:
        """Makes samples of the bytes of records, as many: uint8 arrays, or bytes without numpy."""
        raise NotImplementedError("%s: define process(indices, data), or __getitem__" % type(self).__name__)

    def __add__(self, other: Any) -> "ConcatDataset":  # pyright: ignore[reportIncompatibleMethodOverride]
        """The samples of both."""
        return ConcatDataset([self, other])


class Subset(Dataset):
    """The samples of a dataset that have these numbers in it, in this order."""

    def __init__(self, dataset: Dataset, indices: Sequence[int]) -> None:
        self.dataset, self.indices = dataset, indices

    def __len__(self) -> int:
        return len(self.indices)

    def __getitem__(self, indices: Any) -> Any:
        _check(indices)
        return self.dataset[[self.indices[i] for i in indices]]


class ConcatDataset(Dataset):
    """The samples of several datasets, numbered through all of them. A negative number counts from the end."""

    def __init__(self, datasets: Iterable[Dataset]) -> None:
        self.datasets: List[Dataset] = list(datasets)
        if not self.datasets:
            raise ValueError("no datasets")
        for dataset in self.datasets:
            if not isinstance(dataset, Dataset):
                raise TypeError("a %s cannot be concatenated: want datasets of ffrecord.torch" % type(dataset).__name__)
        #: Number of samples of the first dataset, of the first two, and so on.
        self.cumulative_sizes: List[int] = self.cumsum(self.datasets)

    @staticmethod
    def cumsum(sequence: Iterable[Sized]) -> List[int]:
        """The sums of the lengths up to each of these."""
        return list(itertools.accumulate(map(len, sequence)))

    def ffreaders(self) -> List[Reader]:
        """The readers of all datasets."""
        return [reader for dataset in self.datasets for reader in dataset.ffreaders()]

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, indices: Any) -> Any:
        _check(indices)
        wanted: Dict[int, Tuple[List[int], List[int]]] = {}  # by dataset: numbers of samples in it, and their places in the result
        for place, index in enumerate(indices):
            k, number = self._find(index)
            numbers, places = wanted.setdefault(k, ([], []))
            numbers.append(number)
            places.append(place)
        samples: List[Any] = [None] * len(indices)
        for k, (numbers, places) in sorted(wanted.items()):
            found = self.datasets[k][numbers]
            if len(found) != len(numbers):
                raise ValueError("dataset %d of %d, a %s, returned %d samples for %d numbers: it must return one for each"
                                 % (k, len(self.datasets), type(self.datasets[k]).__name__, len(found), len(numbers)))
            for place, sample in zip(places, found):
                samples[place] = sample
        return samples

    def _find(self, index: int) -> Tuple[int, int]:
        """The dataset of a sample, and its number in that."""
        number = index + len(self) if index < 0 else index
        if not 0 <= number < len(self):
            raise IndexError("sample %d of %d" % (index, len(self)))
        k = bisect.bisect_right(self.cumulative_sizes, number)
        return k, number - (self.cumulative_sizes[k - 1] if k else 0)


def _check(indices: Any) -> None:
    if not isinstance(indices, (list, tuple)):
        raise TypeError("a %s is not the numbers of samples: want a list, dataset[[7]] for one" % type(indices).__name__)
