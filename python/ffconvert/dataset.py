"""A dataset of decoded samples, as PyTorch wants it.

>>> dataset = Dataset("out", fields=["jpg", "cls"], decode="tensor", transform=resize)
>>> dataset[7], dataset[[3, 1]], dataset["train/000017"]
"""

from __future__ import annotations

from html import escape
from operator import index as _index
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Union

from .decode import Decoder, decoder, directories_of, encoding_of, is_map
from .errors import DecodeError, named
from .fields import Choice, Fields
from .keys import Keys
from .manifest import read_manifest, read_meta
from .reader import Path, Reader
from .shard import MAX_SAMPLES
from .shown import describe, kind, page

__all__ = ["Dataset"]


class Dataset:
    """Samples by their numbers or keys: dataset[i] is one, dataset[[i, j]] a list of several, which are read at once.

    A record becomes a sample in three steps. encoding makes a value of its bytes, mostly a dict of fields: "auto", as manifest.json says; an encoding as
    decode.decoder has it; a function of the bytes (a uint8 array, or bytes without numpy); or None for the bytes themselves. decode makes values of fields that are
    bytes: "auto", by their suffixes, as fields.Fields has them, so that jpg is a PIL image, cls an int, txt a str; "tensor" (3 × height × width, uint8), "uint8" (height × width × 3), "pil" or
    "stored" for pictures; "raw" for bytes; or a dict of these, or of functions of bytes, by patterns of names: {"seg.png": "stored", "*.wav": read_sound}.
    transform is a function of a sample, called last.

    fields: which fields to keep, of samples that are dicts; "jpg;png" keeps the first of these that a sample has, as "jpg". One that a sample lacks is an error, and
    one that is left out is not decoded. max_samples: as Reader has it.

    A subclass may define process(indices, data), as for ffrecord.torch.Dataset, in place of the three steps: it is given the bytes of several samples, and
    returns a list of as many. A Dataset goes to other processes as its Reader does. Any number of threads may read from it, if transform, and functions that were given,
    may be called by as many.

    Errors of opening and reading are those of Reader. DecodeError if bytes are not what they are decoded as, with file, sample and field. An error of transform keeps its
    type, where that can be made of a message, and names file and sample.
    """

    def __init__(self, files: Union[Path, Iterable[Path]], check_data: bool = True, *, encoding: Union[str, Decoder, None] = "auto",
                 decode: Union[Choice, Mapping[str, Choice]] = "auto", transform: Optional[Callable[[Any], Any]] = None, fields: Optional[Sequence[str]] = None, max_samples: int = MAX_SAMPLES) -> None:
        if isinstance(fields, str):
            raise TypeError("fields=%r: want a list of names" % fields)
        self.decode = _fields_of(decode)
        #: Reads the records.
        self.reader: Reader = Reader(files, check_data, max_samples=max_samples)
        self.transform = transform
        self._chosen = None if fields is None else [field.split(";") for field in fields]
        self._found: Dict[str, Any] = {}  # what was read of manifests, descriptions and indexes
        self.encoding: Optional[Decoder] = decoder(encoding) if isinstance(encoding, str) and encoding != "auto" else encoding  # type: ignore[assignment]
        if encoding == "auto":
            replaced = type(self).process is not Dataset.process
            self.encoding = None if replaced else encoding_of(self.reader.files)
        if self._chosen is not None and self.encoding is None:
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

    @property
    def fields(self) -> List[str]:
        """The names of the fields that samples have before transform; with fields= these, in all samples. Else those of the first sample come
        first, and then those of meta.json that others have. Empty where records are not decoded to dicts."""
        if self._chosen is not None:
            return [names[0] for names in self._chosen]
        if "fields" not in self._found:
            first = self.encoding(self.reader.read_one(0)) if self.encoding is not None and self.reader.n else None
            names = dict.fromkeys(first if isinstance(first, dict) else ())
            if names and is_map(self.encoding):
                for members in self._described("fields"):
                    names.update(dict.fromkeys(members.get("fields", ())))
            self._found["fields"] = list(names)
        return list(self._found["fields"])

    @property
    def classes(self) -> List[str]:
        """The names of the classes in meta.json: a sample with the label i is of the class classes[i]. Empty if there are none. ValueError if
        several directories have different ones."""
        if "classes" not in self._found:
            lists = [members.get("classes", []) for members in self._described("classes")]
            if any(classes != lists[0] for classes in lists):
                raise ValueError("%s: they have different classes" % ", ".join(self.reader.files[:3]))
            self._found["classes"] = lists[0] if lists else []
        return list(self._found["classes"])

    @property
    def class_to_idx(self) -> Dict[str, int]:
        """The label of each class, by its name."""
        return {name: i for i, name in enumerate(self.classes)}

    def _described(self, name: str) -> Iterator[Dict[str, Any]]:
        """A member of each meta.json that there is."""
        for directory in directories_of(self.reader.files):
            manifest = read_manifest(directory)
            if manifest is not None:
                yield read_meta(directory, manifest, name)

    def keys(self) -> Iterator[str]:
        """Yields the keys of all samples, in order, from the indexes in index/. LookupError if samples have none."""
        return iter(self._keys())

    def _keys(self) -> Keys:
        if "keys" not in self._found:
            self._found["keys"] = Keys(self.reader.files, self.reader.shards)
        return self._found["keys"]  # type: ignore[no-any-return]

    def __contains__(self, key: object) -> bool:
        """Whether a sample has this key. All indexes are searched, which takes some 20 ms a million samples. TypeError if it is no text."""
        if not isinstance(key, str):
            raise TypeError("a key is a text, not of the type %s" % type(key).__name__)
        return bool(self._keys().find(key))

    def __repr__(self) -> str:
        shards = len(self.reader.shards)
        files = ", ".join(map(repr, self.reader.files[:3])) + (", …" if len(self.reader.files) > 3 else "")
        try:
            first = self._typed(0) if self.fields and len(self) else {}
            fields = ", with the fields " + ", ".join("%s (%s)" % (name, kind(first[name])) if name in first else name for name in self.fields) if self.fields else ""
        except Exception as e:  # a repr is what one debugs with
            fields = ", fields not known: %s" % e
        return "<%s of %s: %d sample%s in %d shard%s%s>" % (type(self).__name__, files, len(self), "s" * (len(self) != 1), shards, "s" * (shards != 1), fields)

    def describe(self) -> str:
        """Lines of text about the dataset, and of each field what the first sample has: print(dataset.describe())."""
        return describe(self)

    def _repr_html_(self) -> str:  # what a notebook shows
        try:
            return page(self)
        except Exception as e:
            return "<p>%s</p>" % escape("%r: its samples cannot be shown: %s" % (self, e))

    def _typed(self, index: int) -> Any:
        """A sample before transform."""
        record = self.reader.read_one(index)
        return record if self.encoding is None else self._decoded(index, record)

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
            return self._keys().number(index)
        if isinstance(index, bool):
            raise TypeError("a bool is not the number of a sample: give numbers in place of a mask")
        i = _index(index)
        if not -len(self) <= i < len(self):
            raise IndexError("sample %d of %d" % (i, len(self)))
        return i % len(self)

    def __getitems__(self, indices: Sequence[int]) -> List[Any]:
        """Several samples by their numbers, 0 or more, in the order that is asked. torch calls it."""
        data = self.reader.read(indices)
        if type(self).process is Dataset.process:
            return self.process(indices, data)
        try:
            return self.process(indices, data)
        except Exception as e:
            raise named(e, "process of the samples %s%s" % (", ".join(map(str, indices[:16])), ", …" if len(indices) > 16 else "")) from e

    def process(self, indices: Sequence[int], data: List[Any]) -> List[Any]:
        """Makes samples of the bytes of records: data has one for each number, as Reader.read returns them."""
        if self.encoding is not None:
            data = [self._decoded(i, record) for i, record in zip(indices, data)]
        return data if self.transform is None else [self._transformed(i, sample) for i, sample in zip(indices, data)]

    def _decoded(self, index: int, record: Any) -> Any:
        try:
            return self.decode(_choose(self.encoding(record), self._chosen))  # type: ignore[misc]
        except Exception as e:
            path, number = self.reader.where(index)
            why = str(e) if isinstance(e, DecodeError) else "%s: %s" % (type(e).__name__, e)
            raise DecodeError("%s: sample %d: %s" % (path, number, why)) from e

    def _transformed(self, index: int, sample: Any) -> Any:
        try:
            return self.transform(sample)  # type: ignore[misc]
        except Exception as e:
            raise named(e, "%s: sample %d: transform" % self.reader.where(index)) from e


def _fields_of(decode: Any) -> Fields:
    if decode is None or callable(decode) or isinstance(decode, str) and decode.partition(":")[0] in ("msgpack", "cbor", "arrow", "pickle") or (
            isinstance(decode, str) and decode.startswith("raw:")):
        raise ValueError("decode=%r: decode is for fields, encoding for records: encoding=%r, or decode=\"raw\" for fields that stay bytes" % (decode, decode))
    return Fields(decode)


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
