"""What a person sees of a dataset: in a terminal, and in a notebook."""

from __future__ import annotations

import base64
import html
import io
from typing import TYPE_CHECKING, Any, Dict, List

if TYPE_CHECKING:
    from .dataset import Dataset
    from .numbered import Numbered

__all__ = ["describe", "kind", "page"]

#: Samples of a page, pixels of a thumbnail's longer side, and letters of a value that are shown.
_ROWS, _SIDE, _LETTERS = 8, 96, 60


def kind(value: Any) -> str:
    """What a value is, in a few words: "picture 96 × 88", "float32 2 × 3", "12 bytes", "int"."""
    if hasattr(value, "getbands"):
        return "picture %d × %d" % value.size
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return ("%s %s" % (str(value.dtype).replace("torch.", ""), " × ".join(map(str, value.shape)))).strip()
    if isinstance(value, (bytes, bytearray, memoryview)):
        return "%d bytes" % len(value)
    if isinstance(value, (list, tuple, dict)):
        return "%s of %d" % (type(value).__name__, len(value))
    return "None" if value is None else type(value).__name__


def describe(dataset: "Dataset") -> str:
    """Lines of text: samples, shards and bytes, classes, and of each field what the first sample has."""
    reader = dataset.reader
    lines = ["%d sample%s in %d shard%s, %s bytes" % (reader.n, "s" * (reader.n != 1), len(reader.shards), "s" * (len(reader.shards) != 1),
                                                     format(sum(shard.size for shard in reader._shards), ","))]
    lines += ["files    " + file for file in reader.files[:3]] + ["         and %d more" % (len(reader.files) - 3)] * (len(reader.files) > 3)
    lines.append("digest   " + reader.digest)
    classes = dataset.classes
    if classes:
        lines.append("classes  %d: %s" % (len(classes), _cut(", ".join(classes))))
    first = dataset._typed(0) if reader.n else None
    if isinstance(first, dict):
        width = max(map(len, dataset.fields), default=0)
        for name in dataset.fields:
            lines.append("field    %s  %s" % (name.ljust(width), _line(first[name]) if name in first else "not in the first sample"))
    elif first is not None:
        lines.append("sample   " + _line(first))
    return "\n".join(lines)


def _line(value: Any) -> str:
    plain = isinstance(value, (str, int, float, list, tuple, dict))
    return kind(value) + (": " + _cut(repr(value)) if plain else "")


def _cut(text: str) -> str:
    return text if len(text) <= _LETTERS else text[:_LETTERS] + "…"


def page(dataset: "Numbered") -> str:
    """HTML: a table of the first samples, with thumbnails of pictures. What is in samples is text there, whatever it says."""
    n = min(_ROWS, len(dataset))
    samples: List[Any] = [dataset._typed(i) for i in range(n)]
    rows: List[Dict[str, Any]] = [s if isinstance(s, dict) else {"": s} for s in samples]
    names = list(dict.fromkeys(name for row in rows for name in row))
    head = "".join("<th>%s</th>" % html.escape(str(name)) for name in ["#", *names])
    body = "".join("<tr><td>%d</td>%s</tr>" % (i, "".join("<td>%s</td>" % (_cell(row[name]) if name in row else "") for name in names))
                   for i, row in enumerate(rows))
    return "<p>%s</p><table><thead><tr>%s</tr></thead><tbody>%s</tbody></table>" % (html.escape(repr(dataset)), head, body)


def _cell(value: Any) -> str:
    if hasattr(value, "getbands"):
        small, file = value.copy(), io.BytesIO()
        small.thumbnail((_SIDE, _SIDE))
        small.save(file, "PNG")
        return '<img alt="%s" title="%s" src="data:image/png;base64,%s">' % (kind(value), kind(value), base64.b64encode(file.getvalue()).decode())
    return html.escape(_cut(value) if isinstance(value, str) else _cut(repr(value)) if isinstance(value, (int, float, list, tuple, dict)) else kind(value))
