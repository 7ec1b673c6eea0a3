"""Builds a wheel that carries the program: python3 python/wheel.py PROGRAM PLATFORM DIR [--native FILE] [--version V] [--licenses FILE]

PROGRAM is the static binary, PLATFORM one of linux-amd64, linux-arm64, darwin-amd64, darwin-arm64. The wheel has the package of this directory,
and the program as a script, so that pip puts it on PATH. The wheels for Linux carry the native helper, FILE of native/build.sh. V is the version of a release, which the package says too; FILE has the
licences of what is in the program. Nothing but Python is needed, no network, and equal input makes equal bytes.
make wheel calls it for each platform, make release with both options. Formats: PEP 427 (wheels), 425 and 600 (tags), 639 (licence files).
"""

import argparse
import base64
import hashlib
import pathlib
import re
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent

# The program is static, and needs no C library: any Linux since 3.2, musl or glibc; Go 1.26 needs macOS 12.
PLATFORMS = {
    "linux-amd64": ["manylinux_2_17_x86_64", "manylinux2014_x86_64", "musllinux_1_1_x86_64"],
    "linux-arm64": ["manylinux_2_17_aarch64", "manylinux2014_aarch64", "musllinux_1_1_aarch64"],
    "darwin-amd64": ["macosx_12_0_x86_64"],
    "darwin-arm64": ["macosx_12_0_arm64"],
}

METADATA = """\
Metadata-Version: 2.4
Name: ffconvert
Version: {version}
Summary: Turn machine-learning datasets into FFRecord shards, verify them, and train on them
License-Expression: Apache-2.0
{license_files}Requires-Python: >=3.9
Provides-Extra: torch
Requires-Dist: numpy; extra == "torch"
Requires-Dist: torch; extra == "torch"
Description-Content-Type: text/markdown

The command `ffconvert` and the package `ffconvert`, which reads the shards and feeds them to PyTorch. numpy, torch,
msgpack and cbor2 are used where they are installed, and not needed.
"""


VERSION_LINE = re.compile(r'^__version__ = "(.+)"$', re.M)


def files(version: str, tags: list, program: bytes, native: bytes, licenses: dict) -> dict:
    """The files of the wheel by their names: bytes and permissions."""
    info = "ffconvert-%s.dist-info/" % version
    all_files = {}
    for path in sorted((ROOT / "ffconvert").rglob("*")):
        if path.suffix == ".py" or path.name == "py.typed":
            data = path.read_bytes()
            if path.name == "__init__.py" and path.parent == ROOT / "ffconvert":
                data = VERSION_LINE.sub('__version__ = "%s"' % version, data.decode()).encode()
            all_files[path.relative_to(ROOT).as_posix()] = (data, 0o644)
    if native:
        all_files["ffconvert/libffconvert.so"] = (native, 0o644)
    all_files["ffconvert-%s.data/scripts/ffconvert" % version] = (program, 0o755)
    for name, data in licenses.items():
        all_files[info + "licenses/" + name] = (data, 0o644)
    license_files = "".join("License-File: %s\n" % name for name in licenses)
    all_files[info + "METADATA"] = (METADATA.format(version=version, license_files=license_files).encode(), 0o644)
    wheel = "Wheel-Version: 1.0\nGenerator: ffconvert wheel.py\nRoot-Is-Purelib: false\n" + "".join("Tag: py3-none-%s\n" % t for t in tags)
    all_files[info + "WHEEL"] = (wheel.encode(), 0o644)
    record = "".join("%s,sha256=%s,%d\n" % (name, base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode(), len(data))
                     for name, (data, _) in all_files.items())
    all_files[info + "RECORD"] = ((record + info + "RECORD,,\n").encode(), 0o644)
    return all_files


def build(program: pathlib.Path, platform: str, directory: pathlib.Path, native: pathlib.Path = None, version: str = "",
          licenses: pathlib.Path = None) -> pathlib.Path:
    """Writes the wheel, and returns its path."""
    if (native is None) == platform.startswith("linux"):
        raise SystemExit("wheel.py: %s: %s" % (platform, "its wheel carries the native helper: give --native" if native is None else "it has no native helper"))
    version = version or VERSION_LINE.search((ROOT / "ffconvert" / "__init__.py").read_text()).group(1)
    tags = PLATFORMS[platform]
    texts = {"LICENSE": (ROOT.parent / "LICENSE").read_bytes()}
    if native:
        path = ROOT / "native" / "LICENSE.libdeflate"
        texts[path.name] = path.read_bytes()
    if licenses:
        texts[licenses.name] = licenses.read_bytes()
    directory.mkdir(parents=True, exist_ok=True)
    wheel = directory / ("ffconvert-%s-py3-none-%s.whl" % (version, ".".join(tags)))
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as out:
        for name, (data, mode) in files(version, tags, program.read_bytes(), native.read_bytes() if native else b"", texts).items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix, which permissions belong to
            entry.external_attr = (0o100000 | mode) << 16
            out.writestr(entry, data)
    return wheel


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Build a wheel that carries the program.")
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("platform", choices=PLATFORMS)
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--native", type=pathlib.Path, help="the native helper of the platform, which native/build.sh builds")
    parser.add_argument("--version", default="", help="that of a release, as PEP 440 writes it")
    parser.add_argument("--licenses", type=pathlib.Path, help="file with the licences of what is in the program")
    given = parser.parse_args()
    print(build(given.program, given.platform, given.directory, given.native, given.version, given.licenses))
