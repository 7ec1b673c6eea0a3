"""A dataset of decoded samples, as PyTorch wants it.

>>> dataset = Dataset("out", fields=["jpg", "cls"], decode="tensor", transform=resize)
>>> dataset[7], dataset[[3, 1]], dataset["train/000017"]
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Union

from .decode import Decoder, decoder, directories_of, encoding_of, is_map
from .errors import DamageError, DecodeError, named
from .fields import Choice, Fields
from .keys import Keys
from .manifest import read_manifest, read_meta
from .numbered import Numbered
from .reader import Path, Reader
from .shard import MAX_SAMPLES
from .shown import describe, kind

if TYPE_CHECKING:
    from .subset import Subset

__all__ = ["Dataset"]


class Dataset(Numbered):
    """Samples by their numbers or keys: dataset[i] is one, dataset[[i, j]] a list of several, which are read at once.

    A record becomes a sample in three steps. encoding makes a value of its bytes, mostly a dict of fields: "auto", as manifest.json says; an encoding as
    ffconvert.decoder has it; a function of the bytes (a uint8 array, or bytes without numpy); or None for the bytes themselves. decode makes values of fields that are
    bytes: "auto", by their suffixes, as docs/training.md has them, so that jpg is a PIL image, cls an int, txt a str; "tensor" (3 × height × width, uint8), "uint8" (height × width × 3), "pil" or
    "stored" for pictures; "raw" for bytes; or a dict of these, or of functions of bytes, by patterns of names: {"seg.png": "stored", "*.wav": read_sound}.
    transform is a function of a sample, called last.

    fields: which fields to keep, of samples that are dicts; "jpg;png" keeps the first of these that a sample has, as "jpg". One that a sample lacks is an error, and
    one that is left out is not decoded. max_samples, cache and cache_size: as Reader has them. cache is for URLs:
    Dataset("s3://bucket/data", cache="/nvme/cache", cache_size="200GB").

    A subclass may define process(indices, data), as for ffrecord.torch.Dataset, in place of the three steps: it is given the bytes of several samples, and
    returns a list of as many. A Dataset goes to other processes as its Reader does. Any number of threads may read from it, if transform, and functions that were given,
    may be called by as many.

    Errors of opening and reading are those of Reader. DecodeError if bytes are not what they are decoded as, with file, sample and field. An error of transform keeps its
    type, where that can be made of a message, and names file and sample.
    """

    def __init__(self, files: Union[Path, Iterable[Path]], check_data: bool = True, *, encoding: Union[str, Decoder, None] = "auto",
                 decode: Union[Choice, Mapping[str, Choice]] = "auto", transform: Optional[Callable[[Any], Any]] = None, fields: Optional[Sequence[str]] = None, max_samples: int = MAX_SAMPLES,
                 cache: Optional[Path] = None, cache_size: Union[int, str, None] = None) -> None:
        if isinstance(fields, str):
            raise TypeError("fields=%r: want a list of names" % fields)
        self.decode = _fields_of(decode)
        #: Reads the records.
        self.reader: Reader = Reader(files, check_data, max_samples=max_samples, cache=cache, cache_size=cache_size)
        self.transform = transform
        self._chosen = None if fields is None else [field.split(";") for field in fields]
        self._found: Dict[str, Any] = {}  # what was read of manifests, descriptions and indexes
        self._encoded = encoding if isinstance(encoding, str) else "auto"
        self.encoding: Optional[Decoder] = decoder(encoding) if isinstance(encoding, str) and encoding != "auto" else encoding  # type: ignore[assignment]
        if encoding == "auto":
            replaced = type(self).process is not Dataset.process
            self.encoding = None if replaced else encoding_of(self.reader.places("meta"))
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

    @property
    def meta(self) -> Dict[str, Any]:
        """What meta.json says of the dataset, of which a shard may be opened: fields, with the samples that have each and the bytes of these; classes and class_to_idx;
        columns, shape, dtype and added, where there are such. Empty without a manifest. Of several directories the numbers of fields are added, and what else differs is
        a ValueError."""
        if "meta" not in self._found:
            found = list(self._described())
            fields: Dict[str, Dict[str, int]] = {}
            for members in found:
                for name, counts in members.pop("fields", {}).items():
                    if not isinstance(counts, dict) or any(type(n) is not int for n in counts.values()):
                        raise DamageError("%s: its meta.json is not a description of ffconvert, or damaged" % ", ".join(self.reader.files[:3]))
                    fields[name] = {what: n + fields.get(name, {}).get(what, 0) for what, n in counts.items()}
            if any(members != found[0] for members in found):
                raise ValueError("%s: their meta.json differ" % ", ".join(self.reader.files[:3]))
            self._found["meta"] = {"fields": fields, **found[0]} if found else {}
        return copy.deepcopy(self._found["meta"])

    def _described(self, *names: str) -> Iterator[Dict[str, Any]]:
        """Members of each meta.json that there is, all of them without names."""
        for directory in directories_of(self.reader.places("meta")):
            manifest = read_manifest(directory)
            if manifest is not None:
                yield read_meta(directory, manifest, *names)

    def keys(self) -> Iterator[str]:
        """Yields the keys of all samples, in order, from the indexes in index/. LookupError if samples have none."""
        return iter(self._keys())

    def _keys(self) -> Keys:
        if "keys" not in self._found:
            self._found["keys"] = Keys(self.reader.places("indexes"), self.reader.shards)
        return self._found["keys"]  # type: ignore[no-any-return]

    def _of_key(self, key: str) -> List[int]:
        return self._keys().find(key)

    def _why_none(self) -> str:
        return self._keys().why_none()

    def where(self, expression: str) -> "Subset":
        """The samples for which an expression of docs/choosing.md holds: 'label=3 and jpg.size<1MiB', "key~^dogs/", "class='night heron'". It is for what is
        stored, whatever fields, decode and transform make of it; size is that of the record.

        The program `ffconvert ls` finds them: by the indexes, and where fields are compared it reads the records for which the rest holds. ValueError has its message,
        for an expression that is none, and for a field that no sample has. Of several files and directories each is asked by itself.
        """
        from .selection import numbers_where
        from .subset import Subset
        options = ["--max=samples=%d" % self.reader.max_samples] if self.reader.max_samples != MAX_SAMPLES else []
        if self._encoded in ("msgpack", "cbor", "arrow", "pickle"):  # where no manifest says it
            options.append("--records=" + self._encoded)
        return Subset(self, numbers_where(expression, self.reader.counted(), options))

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

    def _typed(self, index: int) -> Any:
        """A sample before transform."""
        record = self.reader.read_one(index)
        return record if self.encoding is None else self._decoded(index, record)

    @property
    def coming(self) -> Optional[Callable[[Optional[Sequence[int]]], None]]:
        """Reader.coming, which a BatchSampler calls; None if no sample is in an object store."""
        return self.reader.coming if self.reader.apart else None

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
