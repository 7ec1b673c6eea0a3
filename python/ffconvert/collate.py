"""Makes a batch of samples, as torch's default_collate does, and names the field of them that cannot be put together."""

from __future__ import annotations

from typing import Any, Dict, List, Sequence

from torch.utils.data import default_collate

__all__ = ["collate"]


def collate(samples: List[Any]) -> Any:
    """A batch of the samples of a step. Samples that are dicts must have the same fields: torch would take those of the first sample, and
    lose the others. Of no samples it is an empty list."""
    return _together(samples, "") if samples else samples


def _together(values: Any, where: str) -> Any:
    """where leads from a sample to one of the values, as in ['json']['size']."""
    if all(isinstance(value, dict) for value in values):
        _check_names(values, where)
        return {name: _together([value[name] for value in values], "%s[%r]" % (where, name)) for name in values[0]}
    if all(type(value) is tuple for value in values) and len(set(map(len, values))) == 1:
        return [_together(column, "%s[%d]" % (where, i)) for i, column in enumerate(zip(*values))]
    try:
        return default_collate(values)
    except Exception as e:
        raise ValueError("%s: %s; make them alike in transform=, leave the field out by Dataset(fields=[…]), or make batches by collate_fn="
                         % (_name(where), _difference(values) or "torch cannot make a batch of these: %s" % e)) from e


def _check_names(samples: Sequence[Dict[Any, Any]], where: str) -> None:
    names = samples[0].keys()
    if all(sample.keys() == names for sample in samples):
        return
    counts: Dict[Any, int] = {}
    for sample in samples:
        for name in sample:
            counts[name] = counts.get(name, 0) + 1
    ragged = {name: n for name, n in counts.items() if n < len(samples)}
    remedy = "Dataset(fields=[…]) leaves fields out"
    if len(ragged) > 1 and sum(ragged.values()) == len(samples):
        remedy += ", \"%s\" in it takes the first of these that a sample has" % ";".join(map(str, ragged))
    raise ValueError("%s: the samples of a batch have different fields: %s; %s; or make batches by collate_fn="
                     % (_name(where), ", ".join("%r in %d of %d" % (name, n, len(samples)) for name, n in ragged.items()), remedy))


def _name(where: str) -> str:
    return "sample" + where if where else "samples"


def _difference(values: Sequence[Any]) -> str:
    """How values differ in type or size, "" if they do not."""
    if any(hasattr(value, "getbands") for value in values):
        return "a batch of pictures of Pillow is none of numbers: Dataset(decode=\"tensor\") makes tensors of them"
    types = sorted({type(value).__name__ for value in values})
    if len(types) > 1 or types == ["NoneType"]:
        return "a batch has values of the type %s" % " and ".join(types)
    sizes = {tuple(value.shape) if hasattr(value, "shape") else (len(value),) for value in values if hasattr(value, "shape") or hasattr(value, "__len__")}
    if len(sizes) > 1:
        return "a batch has values of the sizes %s" % " and ".join(map(str, sorted(sizes)[:3])) + (" and others" if len(sizes) > 3 else "")
    return ""
