"""Pictures in the forms that training takes. Pillow decodes them, JPEGs for "tensor" torchvision where it is."""

from __future__ import annotations

import functools
import io
from typing import Any, Callable, Dict, cast

from .errors import DecodeError

try:
    import numpy as np
except ImportError:
    np = cast(Any, None)

__all__ = ["FORMS", "PICTURES", "pillow"]

#: The suffixes of fields that are pictures.
PICTURES = frozenset(("jpg", "jpeg", "jpe", "jfif", "png", "gif", "webp"))


@functools.lru_cache(maxsize=None)
def pillow() -> Any:
    """The module PIL.Image, None where it is not installed. It is imported when it is first wanted."""
    try:
        from PIL import Image
    except ImportError:
        return None
    return Image


def _stored(data: Any) -> Any:
    """The picture as its file has it: a palette's numbers, gray, 16 bits; of a GIF the first frame."""
    picture = _open(data)
    picture.load()
    return picture


def _open(data: Any) -> Any:
    """Reads the head of a picture. Other formats have decoders that start programs, or know no limit; Pillow refuses too many pixels."""
    return pillow().open(io.BytesIO(data), formats=("JPEG", "PNG", "GIF", "WEBP"))


def _pil(data: Any) -> Any:
    picture = _stored(data)
    if picture.mode == "RGB":
        return picture
    if picture.mode in ("I", "F") or picture.mode.startswith("I;"):
        raise DecodeError("a picture of the mode %s, which 8 bits of red, green and blue cannot hold: decode it as \"stored\"" % picture.mode)
    return picture.convert("RGB")


def _uint8(data: Any) -> Any:
    return np.array(_pil(data))


def _as_stored(data: Any) -> Any:
    return np.array(_stored(data))


_UNKNOWN = object()


class _Tensor:
    """A picture as a tensor. torch is imported when the first is decoded: unpickling needs none."""

    def __init__(self) -> None:
        self._jpeg: Any = _UNKNOWN

    def __reduce__(self) -> Any:
        return _Tensor, ()

    def __call__(self, data: Any) -> Any:
        import torch
        if self._jpeg is _UNKNOWN:
            self._jpeg = _jpeg_of_torchvision()
        if self._jpeg is not None and bytes(data[:3]) == b"\xff\xd8\xff":
            _open(data)
            try:
                return self._jpeg(torch.frombuffer(bytearray(data), dtype=torch.uint8))
            except RuntimeError:  # of CMYK, or damaged: Pillow decodes it, or says what is wrong
                pass
        return torch.from_numpy(_uint8(data)).permute(2, 0, 1).contiguous()


def _jpeg_of_torchvision() -> Any:
    try:
        from torchvision.io import ImageReadMode, decode_jpeg
    except (ImportError, RuntimeError):  # one of another torch
        return None
    return lambda data: decode_jpeg(data, mode=ImageReadMode.RGB).contiguous()


def _wants(form: str, make: Callable[[], Callable[[Any], Any]], *modules: Any) -> Callable[[], Callable[[Any], Any]]:
    def decoder() -> Callable[[Any], Any]:
        if pillow() is None or None in modules:
            raise ImportError("decode=%r needs the module %s" % (form, "Pillow" if pillow() is None else "numpy"))
        return make()
    return decoder


#: The forms: "pil", a PIL.Image.Image of the mode RGB; "uint8", an array of numpy, height × width × 3; "tensor", one of torch, 3 × height × width, uint8;
#: "stored", an array of the picture as its file has it, for masks and depths. Each makes a function of bytes; ImportError where a module is missing.
FORMS: Dict[str, Callable[[], Callable[[Any], Any]]] = {
    "pil": _wants("pil", lambda: _pil),
    "uint8": _wants("uint8", lambda: _uint8, np),
    "tensor": _wants("tensor", _Tensor, np),
    "stored": _wants("stored", lambda: _as_stored, np),
}
