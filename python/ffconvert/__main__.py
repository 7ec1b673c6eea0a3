"""The command: python -m ffconvert --version, or any command of ffconvert where a wheel has brought the program."""

from __future__ import annotations

import os
import sys
import sysconfig
from typing import Optional

from . import __version__


def find_program() -> Optional[str]:
    """The path of the program that pip has installed with this package, None if there is none: a checkout has the package alone."""
    for directory in (sysconfig.get_path("scripts"), sysconfig.get_path("scripts", os.name + "_user")):
        program = os.path.join(directory, "ffconvert")
        if os.access(program, os.X_OK) and not os.path.isdir(program):
            return program
    return None


def main() -> int:
    """Runs the program with the arguments of this process, in its place."""
    if sys.argv[1:] == ["--version"]:
        print("ffconvert %s (Python %d.%d)" % (__version__, *sys.version_info[:2]))
        return 0
    program = find_program()
    if program is None:
        print("ffconvert: this package is the reader alone; install a wheel, which has the program, or build it: go install ./cmd/ffconvert", file=sys.stderr)
        return 1
    os.execv(program, [program, *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
