"""Some samples of a dataset.

>>> cats = Dataset("out").where("class=cat and jpg.size<1MiB")
>>> len(cats), cats[0], list(cats.keys())
"""

from __future__ import annotations

from array import array
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Sequence

from .identity import digest_of_some
from .numbered import Numbered

__all__ = ["Subset"]


class Subset(Numbered):
    """The samples of a Dataset that have these numbers in it, in this order: what Dataset.where returns.

    Loaders, samplers and Order take it as they take a torch.utils.data.Subset of the same numbers, and a state of one is a state of the other. dataset is the whole, and says what
    classes and fields there are; indices are the numbers, 8 bytes each.
    """

    def __init__(self, dataset: Any, indices: Iterable[int]) -> None:
        self.dataset = dataset
        self.indices: "array[int]" = array("q", indices)
        n = len(dataset)
        for i in (min(self.indices, default=0), max(self.indices, default=0)):
            if self.indices and not 0 <= i < n:
                raise IndexError("sample %d of %d" % (i, n))

    def __len__(self) -> int:
        """Number of samples."""
        return len(self.indices)

    @property
    def shards(self) -> List[int]:
        """The number of samples, in a list: its order is that of one shard."""
        return [len(self)]

    @property
    def digest(self) -> str:
        """The digest of these samples, as torch's Subset of them has it: docs/order.md."""
        return digest_of_some(self.dataset, self.indices)

    def keys(self) -> Iterator[str]:
        """The keys of all samples, in order, from the indexes. LookupError if samples have none."""
        wanted = set(self.indices)
        keys: Dict[int, str] = {i: key for i, key in enumerate(self.dataset.keys()) if i in wanted}
        return (keys[i] for i in self.indices)

    def where(self, expression: str) -> "Subset":
        """Those for which an expression holds, too: Dataset.where."""
        found = set(self.dataset.where(expression).indices)
        return Subset(self.dataset, [i for i in self.indices if i in found])

    @property
    def coming(self) -> Optional[Callable[[Optional[Sequence[int]]], None]]:
        """As that of the Dataset."""
        inner: Any = getattr(self.dataset, "coming", None)
        if inner is None:
            return None

        def coming(numbers: Optional[Sequence[int]]) -> None:
            inner(None if numbers is None else [self.indices[i] for i in numbers])
        return coming

    def __getitems__(self, indices: Sequence[int]) -> List[Any]:
        """Several samples, in the order that is asked."""
        samples: List[Any] = self.dataset.__getitems__([self.indices[i] for i in indices])
        return samples

    def _typed(self, index: int) -> Any:
        return self.dataset._typed(self.indices[index])

    def _of_key(self, key: str) -> List[int]:
        found = set(self.dataset._of_key(key))
        return [n for n, i in enumerate(self.indices) if i in found] if found else []

    def __repr__(self) -> str:
        return "<%s: %d of the %d samples of %r>" % (type(self).__name__, len(self), len(self.dataset), self.dataset)
