"""The command: python -m ffconvert --version, or any command of ffconvert where the package carries the program."""

from __future__ import annotations

import os
import sys

from . import __version__


def main() -> int:
    """Runs the program of the package with the arguments of this process."""
    if sys.argv[1:] == ["--version"]:
        print("ffconvert %s (Python %d.%d)" % (__version__, *sys.version_info[:2]))
        return 0
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "ffconvert")
    if not os.access(program, os.X_OK):
        print("ffconvert: this package is the reader alone; %s: no such program" % program, file=sys.stderr)
        return 1
    os.execv(program, [program, *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
