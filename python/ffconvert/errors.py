"""What goes wrong with a dataset. All of these can be made of their message alone, as torch does for errors of its workers."""

from __future__ import annotations

from typing import Optional

__all__ = ["DamageError", "DecodeError"]


class DamageError(Exception):
    """A file is damaged, is missing, or is not the one that was opened.

    path is the file, sample the number of the sample in it and offset its byte there, where these are known. The message has all of
    them; the attributes are None where the error comes from a process of a DataLoader.
    """

    def __init__(self, message: str, path: Optional[str] = None, sample: Optional[int] = None, offset: Optional[int] = None) -> None:
        super().__init__(message)
        self.path, self.sample, self.offset = path, sample, offset


class DecodeError(ValueError):
    """The bytes of a sample are sound, but are not what they are decoded as. The message has file, sample and field, where these are known."""


def named(error: Exception, where: str) -> Exception:
    """The same error with a place before its message: of the same type, or a RuntimeError where that cannot be made of a message, as torch
    does with errors of workers. A StopIteration would end a loop without a word, and is a RuntimeError, too."""
    message = "%s: %s: %s" % (where, type(error).__name__, error)
    if not isinstance(error, StopIteration):
        try:
            return type(error)(message)
        except Exception:  # its arguments are others
            pass
    return RuntimeError(message)


def placed(error: Exception, where: str) -> Exception:
    """A TypeError or ValueError of our own with a place before its message; a ValueError where its type cannot be made of a message."""
    message = "%s: %s" % (where, error)
    try:
        return type(error)(message)
    except Exception:
        return ValueError(message)
