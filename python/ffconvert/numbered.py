"""What Dataset and Subset have in common: samples[i] is one, samples[[i, j]] are several, samples["train/000017"] is the one of a key."""

from __future__ import annotations

from html import escape
from operator import index as _index
from typing import Any, List, Sequence

from .shown import page

__all__ = ["Numbered"]


class Numbered:
    """Samples that are numbered from 0. A subclass defines the first four methods."""

    def __len__(self) -> int:
        """Number of samples."""
        raise NotImplementedError

    def __getitems__(self, indices: Sequence[int]) -> List[Any]:
        """Several samples by their numbers, 0 or more, in the order that is asked. torch calls it."""
        raise NotImplementedError

    def _typed(self, index: int) -> Any:
        """A sample before transform."""
        raise NotImplementedError

    def _of_key(self, key: str) -> List[int]:
        """The numbers of the samples that have a key."""
        raise NotImplementedError

    def __getitem__(self, index: Any) -> Any:
        """One sample; of a slice, a list, a tuple, a range or an array a list of samples. A negative number counts from the end, a text is a key.

        IndexError if there is no such sample; KeyError if no sample has the key, or several; TypeError for bools.
        """
        if hasattr(index, "tolist"):
            index = index.tolist()
        if isinstance(index, slice):
            index = range(*index.indices(len(self)))
        if isinstance(index, (list, tuple, range)):
            return self.__getitems__([self._number(i) for i in index])
        return self.__getitems__([self._number(index)])[0]

    def _number(self, index: Any) -> int:
        if isinstance(index, str):
            return self._single(index)
        if isinstance(index, bool):
            raise TypeError("a bool is not the number of a sample: give numbers in place of a mask")
        i = _index(index)
        if not -len(self) <= i < len(self):
            raise IndexError("sample %d of %d" % (i, len(self)))
        return i % len(self)

    def _single(self, key: str) -> int:
        """The number of the only sample that has a key."""
        found = self._of_key(key)
        if len(found) == 1:
            return found[0]
        if found:
            raise KeyError("%r is the key of %d samples: %s%s; choose one by its number"
                           % (key, len(found), ", ".join(map(str, found[:5])), " …" if len(found) > 5 else ""))
        raise KeyError("%r: %s" % (key, self._why_none()))

    def _why_none(self) -> str:
        """Why no sample has a key."""
        return "no sample has this key"

    def __contains__(self, key: object) -> bool:
        """Whether a sample has this key. All indexes are searched, which takes some 20 ms a million samples. TypeError if it is no text."""
        if not isinstance(key, str):
            raise TypeError("a key is a text, not of the type %s" % type(key).__name__)
        return bool(self._of_key(key))

    def _repr_html_(self) -> str:  # what a notebook shows
        try:
            return page(self)
        except Exception as e:
            return "<p>%s</p>" % escape("%r: its samples cannot be shown: %s" % (self, e))
