"""A dataset of decoded samples, as PyTorch wants it.

>>> dataset = Dataset("out", fields=["jpg", "cls"], transform=to_tensors)
>>> dataset[7], dataset[[3, 1]]
"""

from __future__ import annotations

from operator import index as _index
from typing import Any, Callable, Iterable, List, Optional, Sequence, Union

from .decode import Decoder, decoder, encoding_of
from .errors import DecodeError
from .reader import Path, Reader

__all__ = ["Dataset"]


class Dataset:
    """Samples by their numbers: dataset[i] is one, dataset[[i, j]] a list of several, which are read at once.

    decode: "auto", as manifest.json says; an encoding as decode.decoder has it; a function of the bytes of a record (a uint8 array, or bytes
    without numpy); or None for the bytes themselves. fields: which fields to keep, of samples that are dicts; "jpg;png" keeps
    the first of these that a sample has, as "jpg". One that a sample lacks is an error. transform: a function of a sample, called last.

    A subclass may define process(indices, data), as for ffrecord.torch.Dataset: it is given the bytes of several samples, and returns a
    list of as many. A Dataset goes to other processes as its Reader does.
    """

    def __init__(self, files: Union[Path, Iterable[Path]], check_data: bool = True, *, decode: Union[str, Decoder, None] = "auto",
                 transform: Optional[Callable[[Any], Any]] = None, fields: Optional[Sequence[str]] = None) -> None:
        if isinstance(fields, str):
            raise TypeError("fields=%r: want a list of names" % fields)
        self.reader = Reader(files, check_data)
        self.transform = transform
        self.fields = None if fields is None else [field.split(";") for field in fields]
        self.decode: Optional[Decoder] = decoder(decode) if isinstance(decode, str) and decode != "auto" else decode  # type: ignore[assignment]
        if decode == "auto":
            replaced = type(self).process is not Dataset.process
            self.decode = None if replaced else encoding_of(self.reader.files)
        if self.fields is not None and self.decode is None:
            raise ValueError("fields are for samples that are decoded")

    def __len__(self) -> int:
        """Number of samples."""
        return self.reader.n

    @property
    def shards(self) -> List[int]:
        """Number of samples of each shard."""
        return self.reader.shards

    @property
    def digest(self) -> str:
        """The digest of the dataset, as docs/order.md defines it."""
        return self.reader.digest

    def __getitem__(self, index: Any) -> Any:
        """One sample, or a list of them. A negative number counts from the end. A mask of bools is an error."""
        if hasattr(index, "tolist"):
            index = index.tolist()
        if isinstance(index, slice):
            index = range(*index.indices(len(self)))
        if isinstance(index, (list, tuple, range)):
            return self.__getitems__([self._number(i) for i in index])
        return self.__getitems__([self._number(index)])[0]

    def _number(self, index: Any) -> int:
        if isinstance(index, bool):
            raise TypeError("a bool is not the number of a sample: give numbers in place of a mask")
        i = _index(index)
        if not -len(self) <= i < len(self):
            raise IndexError("sample %d of %d" % (i, len(self)))
        return i % len(self)

    def __getitems__(self, indices: Sequence[int]) -> List[Any]:
        """Several samples, in the order that is asked."""
        return self.process(indices, self.reader.read(indices))

    def process(self, indices: Sequence[int], data: List[Any]) -> List[Any]:
        """Makes samples of the bytes of these records."""
        if self.decode is not None:
            data = [self._decoded(i, record) for i, record in zip(indices, data)]
        return data if self.transform is None else [self.transform(sample) for sample in data]

    def _decoded(self, index: int, record: Any) -> Any:
        try:
            return _choose(self.decode(record), self.fields)  # type: ignore[misc]
        except Exception as e:
            path, number = self.reader.where(index)
            why = str(e) if isinstance(e, DecodeError) else "%s: %s" % (type(e).__name__, e)
            raise DecodeError("%s: sample %d: %s" % (path, number, why)) from e


def _choose(sample: Any, fields: Optional[List[List[str]]]) -> Any:
    if fields is None:
        return sample
    chosen = {}
    for names in fields:
        name = next((name for name in names if name in sample), None)
        if name is None:
            raise DecodeError("it has no field %s, but %s" % (" or ".join(names), ", ".join(map(str, sample))))
        chosen[names[0]] = sample[name]
    return chosen
