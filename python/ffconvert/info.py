"""What the package found on this machine."""

from __future__ import annotations

import importlib
import os
import platform
from typing import Dict

from . import __version__, native
from .__main__ import find_program

__all__ = ["info"]


def info() -> Dict[str, str]:
    """What the package has and uses here, by name: paths of the program and the native helper, versions of modules; or "none" and the reason. torch and torchvision are not
    imported for it.

    >>> for name, what in ffconvert.info().items():
    ...     print(name, what)
    """
    found = {"ffconvert": __version__, "python": platform.python_version(), "program": os.environ.get("FFCONVERT") or find_program() or "none: pip has installed none",
             "native helper": "none: " + native.missing if native.library is None else native.library._name}
    for name in ("numpy", "msgpack", "cbor2", "PIL", "torch", "torchvision"):
        found[name] = _version(name)
    return found


def _version(name: str) -> str:
    if name in ("torch", "torchvision"):  # an import takes seconds
        return _installed(name, "none")
    try:
        module = importlib.import_module(name)
    except ImportError:
        return "none"
    version = getattr(module, "__version__", getattr(module, "version", None))
    if version is None:
        return _installed(name, "of an unknown version")
    return version if isinstance(version, str) else ".".join(map(str, version))


def _installed(name: str, other: str) -> str:
    from importlib import metadata
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return other
