"""Rows A7 and I3 of the fault table against Python: python3 -m tests.hostile [--full]

Hostile files and directories are opened and read in this process, whose address space is limited to 512 MiB. Each must be one exception of
one line that names the file, after little memory and time; what is read all the same must be what was written. Prints a line a row.
"""

import contextlib
import faulthandler
import itertools
import os
import pathlib
import random
import resource
import shutil
import signal
import socket
import struct
import sys
import time
import zlib
from hashlib import sha256

from tests import support

from ffconvert import DamageError, Dataset, DecodeError, Reader

MiB = 1 << 20
LIMIT = 512 * MiB  # of the address space
BEYOND = 64 * MiB  # of memory
SECONDS = 60  # of a case; a FIFO or /dev/zero would take longer
EDGES = [0, 1, 2, 3, 4, 5, -1, -2, 127, 128, 255, 256, 1 << 16, 1 << 25, 1 << 28, (1 << 31) - 1, 1 << 31, 1 << 32, 1 << 40, 1 << 60,
         ((1 << 63) - 1 - 12) // 12, ((1 << 63) - 1) // 12 + 1, (1 << 63) - 1, -1 << 63]
CLEAR = (DamageError, DecodeError, OSError, MemoryError, ValueError, LookupError)


ANY = object()  # whatever is read, all sums are right: a directory may say what it wants, as long as reading it is bounded


class Hangs(BaseException):
    """A case has taken too long. No code but that of a case catches it."""


def resident(reset=False):
    """The most bytes that were resident since the last reset."""
    if reset:
        with open("/proc/self/clear_refs", "w") as f:
            f.write("5")
    with open("/proc/self/status") as f:
        return next(1024 * int(line.split()[1]) for line in f if line.startswith("VmHWM"))


def mapped():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[0]) * resource.getpagesize()


class Row:
    """Counts the cases of a row, and what was wrong about them."""

    def __init__(self, row):
        self.row, self.cases, self.undetected, self.lost, self.peak, self.wrong = row, 0, 0, 0, 0, []

    def judge(self, name, path, read, want=None, measured=True):
        """Reads, which must fail or return want, in BEYOND bytes of memory if that is measured."""
        self.cases += 1
        before, got = resident(reset=True) if measured else 0, None
        signal.alarm(SECONDS)
        try:
            got = read()
            signal.alarm(0)
            if want is None or want is not ANY and got != want:
                self.undetected += 1
                self.wrong.append("%s: it was read: %.60r" % (name, got))
        except CLEAR as e:
            signal.alarm(0)
            text = str(e)
            if str(path) not in text or "\n" in text or len(text) > 1000:
                self.fail(name, "not clear: %r" % e)
        except BaseException as e:
            signal.alarm(0)
            self.fail(name, "%s: %s" % (type(e).__name__, e))
        del got
        if measured:
            self.measure(name, before)

    def measure(self, name, before):
        grown = resident() - before
        self.peak = max(self.peak, grown)
        if grown > BEYOND:
            self.fail(name, "it took %d MiB" % (grown / MiB))

    def fail(self, name, why):
        self.lost += 1
        self.wrong.append("%s: %s" % (name, why))

    def done(self):
        print("%s cases=%d undetected=%d lost=%d memory_mib=%d" % (self.row, self.cases, self.undetected, self.lost, self.peak / MiB))
        for line in self.wrong[:20]:
            print("    " + line)


def records(path, **options):
    """All samples of a file or directory."""
    with Reader(path, **options) as reader:
        return list(map(bytes, reader.read(range(len(reader)))))


def one(path, **options):
    """The number of samples of a file, and the last of them."""
    with Reader(path, **options) as reader:
        return reader.n, bytes(reader.read_one(reader.n - 1))


def shard(samples):
    path = support.scratch() / "a.ffr"
    support.write(path, samples)
    return path.read_bytes()


def some(cases, step):
    """Every case, or one of each step at a place that is drawn."""
    draw = random.Random(step)
    cases = list(cases)
    return cases if FULL else [cases[min(len(cases) - 1, i + draw.randrange(step))] for i in range(0, len(cases), step)]


def files(row):
    """A1 to A5: cuts, flipped bits, bytes at the end, sectors of zeros."""
    noise = random.Random(1)
    want = [b"", b"abcdefg", noise.randbytes(4097)]
    f3, path = shard(want), support.scratch() / "a.ffr"

    path.touch()
    fd = os.open(path, os.O_WRONLY)
    before = resident(reset=True)

    def case(name, data):
        os.ftruncate(fd, len(data))
        os.pwrite(fd, data, 0)
        row.judge(name, path, lambda: records(path), want if data == f3 else None, measured=False)
    case("sound", f3)
    for n in some(range(len(f3)), 8):
        case("cut at %d" % n, f3[:n])
    for bit in some(range(8 * len(f3)), 32):
        changed = bytearray(f3)
        changed[bit // 8] ^= 1 << bit % 8
        case("bit %d" % bit, changed)
    for n in some(range(1, 8193), 32):
        case("%d zeros more" % n, f3 + bytes(n))
        case("%d bytes more" % n, f3 + noise.randbytes(n))
    small = shard([b"", b"abc", noise.randbytes(49)])
    for a, b in some(itertools.combinations(range(8 * len(small)), 2), 640):
        changed = bytearray(small)
        changed[a // 8] ^= 1 << a % 8
        changed[b // 8] ^= 1 << b % 8
        case("bits %d and %d" % (a, b), changed)
    large = shard([noise.randbytes(1000) for _ in range(1024)])
    for size in (512, 4096):
        for at in some(range(0, len(large), size), 64):
            case("%d zeros at %d" % (size, at), large[:at] + bytes(len(large[at:at + size])) + large[at + size:])
    os.close(fd)
    row.measure("all of these", before)


def headers(row):
    """A7: N, offsets, sizes and checksums."""
    path = support.scratch() / "a.ffr"

    def case(name, data, **options):
        path.write_bytes(data)
        sound = data == sealed(0, b"")
        row.judge(name, path, lambda: records(path, **options), [] if sound else None)
    for n, size, fill, sum_ in some(itertools.product(EDGES, range(64), (b"\0", b"\x30"), ("no", "good", "bad")), 16):
        data = struct.pack("<Iq", 0, n) + fill * 52
        end = 12 + 12 * n if 0 < n < 5 else 12
        data = {"no": data, "good": sealed(n, data[12:end]) + data[end:], "bad": b"\1\2\3\4" + data[4:]}[sum_][:size]
        case("N=%d in %d bytes, %s checksum" % (n, size, sum_), data)
    want = [b"one", b"three", b"seven"]
    good = shard(want)
    for i, off, legacy in itertools.product(range(3), EDGES + [11, 12, 23, 24, 47, 49, 50, 51, 52, 56, 57, 60, 61, 62], (False, True)):
        table = bytearray(good[12:48])
        struct.pack_into("<q", table, 12 + 8 * i, off)
        data = sealed(3, bytes(table)) + good[48:]
        offsets = struct.unpack_from("<3q", table, 12)
        if data != good and not (legacy and offsets[0] == 48 and sorted((*offsets, len(data))) == [*offsets, len(data)]):
            case("offset %d is %d" % (i, off), b"\0\0\0\0" + data[4:] if legacy else data, check_data=not legacy)


def sealed(n, table):
    """The header of N samples, with its checksum."""
    body = struct.pack("<q", n) + table
    return struct.pack("<I", zlib.crc32(body)) + body


def sparse(row):
    """Files that claim 2**25 samples and more, and have the size for it, without the bytes."""
    for n in (1 << 20, 1 << 25, 1 << 27, 1 << 28, 1 << 32, 1 << 38):
        path = support.scratch() / "a.ffr"
        for first, checksum in itertools.product((0, 12 + 12 * n), (0, 1)):
            with open(path, "wb") as f:
                f.write(struct.pack("<Iq", checksum, n))
                f.seek(12 + 4 * n)
                f.write(struct.pack("<q", first))
                f.truncate(12 + 12 * n)
            if not FULL and first and n == 1 << 27:
                continue  # 1.5 GiB are read, to find that the checksum is wrong
            row.judge("N=%d, first offset %d" % (n, first), path, lambda: one(path))
        os.unlink(path)
    n, block = 1 << (25 if FULL else 21), 1 << 16  # a sound header whose samples are empty
    with open(path, "wb") as f:
        sum_ = zlib.crc32(struct.pack("<q", n))
        f.write(struct.pack("<Iq", 0, n))
        for piece in itertools.chain([bytes(4 * block)] * (n // block), [struct.pack("<q", 12 + 12 * n) * block] * (n // block)):
            sum_ = zlib.crc32(piece, sum_)
            f.write(piece)
        f.seek(0)
        f.write(struct.pack("<I", sum_))
    row.judge("N=%d, sound" % n, path, lambda: one(path), (n, b""))
    row.judge("N=%d, more than max_samples" % n, path, lambda: Reader(path, max_samples=n - 1))
    path.unlink()
    data = shard([b"x"])
    with open(path, "wb") as f:  # one sample of 1 TiB, of which nothing is there
        f.write(data)
        f.truncate(1 << (40 if FULL else 30))
        if not FULL:
            f.seek(0)
            f.write(b"\1")
    if not FULL:
        row.judge("a sample of 1 GiB", path, lambda: one(path))
    path.write_bytes(data)
    with open(path, "r+b") as f:
        f.truncate(1 << 40)
    row.judge("a sample of 1 TiB", path, lambda: one(path, check_data=False))
    path.unlink()


def odd(path, like=None):
    """Puts in the place of a file, one after another, what is none. Yields what it is; like is a file that a link may lead to."""
    def server():
        s = socket.socket(socket.AF_UNIX)
        with contextlib.closing(s):
            back = os.getcwd()
            os.chdir(path.parent)  # the name of a socket has 107 bytes at most
            try:
                s.bind(path.name)
            finally:
                os.chdir(back)

    def huge():
        path.touch()
        os.truncate(path, 1 << 40)

    def remote():
        shutil.copy(like, path.parent / "elsewhere")
        path.symlink_to(path.parent / "elsewhere")
    makes = {"FIFO": lambda: os.mkfifo(path), "directory": path.mkdir, "socket": server, "empty": path.touch, "1 TiB without bytes": huge}
    for name, to in (("/dev/zero", "/dev/zero"), ("/dev/tty", "/dev/tty"), ("itself", path.name), ("nothing", "nowhere"), ("a directory", ".")):
        makes["link to " + name] = lambda to=to: path.symlink_to(to)
    if like:
        makes["link to an equal file"] = remote
    for name, make in makes.items():
        if path.is_dir() and not path.is_symlink():
            path.rmdir()
        elif path.is_symlink() or path.exists():
            path.unlink()
        make()
        yield name


def with_manifest(out, change):
    """Changes the text of a manifest, and makes its last line right again."""
    text = (out / "manifest.json").read_bytes()
    body = change(text[:text.rindex(b'  "sha256": "')])
    (out / "manifest.json").write_bytes(body + b'  "sha256": "%s"\n}\n' % sha256(body).hexdigest().encode())


def read_all(out):
    """All that a Dataset gives."""
    data = Dataset(out)
    return data[:], data.fields, data.classes, list(data.keys()), data["000007"] if "000007" in data else None


def directories(row):
    """Datasets in which a file is another one, or none."""
    for source, name in ((support.tars(), "PART_00001.ffr"), (support.tars(), "manifest.json"), (support.tars(), "meta.json"),
                         (support.tars(), "index/PART_00001.arrow"), (numbers(), "manifest.json"), (numbers(), "meta.json")):
        out = copy_of(source)
        for what in odd(out / name, source / name):
            row.judge("%s: %s" % (name, what), out, lambda: read_all(out))
    path = support.scratch() / "a.ffr"
    for what in odd(path):
        row.judge("a file by its name: %s" % what, path, lambda: records(path))
    out = copy_of(support.tars())
    for a, b in itertools.permutations(sorted(out.glob("*.ffr")), 2):
        data = a.read_bytes(), b.read_bytes()
        a.write_bytes(data[1]), b.write_bytes(data[0])
        row.judge("%s and %s are swapped" % (a.name, b.name), out, lambda: records(out))
        a.write_bytes(data[0]), b.write_bytes(data[1])
    row.judge("a sound dataset", out, lambda: read_all(out), read_all(support.tars()))


def changed(row):
    """Manifests, descriptions and indexes that are cut or changed; then with a manifest that agrees with them."""
    for source, name in ((support.tars(), "manifest.json"), (support.tars(), "meta.json"), (numbers(), "meta.json"), (support.tars(), "index/PART_00000.arrow")):
        out = copy_of(source)
        good = (out / name).read_bytes()
        for n in some(range(len(good)), 16):
            for what, data in (("cut at", good[:n]), ("other", good[:n] + bytes([good[n] ^ 1 << n % 8]) + good[n + 1:])):
                (out / name).write_bytes(data)
                row.judge("%s: %s byte %d" % (name, what, n), out / name, lambda: read_all(out))
                if name != "manifest.json":
                    agreed(out, good, data)
                    row.judge("%s: %s byte %d, and the manifest agrees" % (name, what, n), out, lambda: read_all(out), ANY)
                    agreed(out, data, good)


NONSENSE = [b"0", b"-1", b"1e400", b"true", b"null", b'"x"', b"[]", b"{}", b"9" * 5000, b"[" * 100000, b"[[]" + b",[]" * (2 * MiB) + b"]",
            b"[[]" + b",\n[]" * (2 * MiB) + b"]", b'"' + b"x" * (9 * MiB) + b'"', b'"../x.ffr"', b'"\\ud83d\\ude00"', b"NaN", b""]


def nonsense(row):
    """Members of manifests and descriptions that are something else, with the right sums."""
    def place(text, name, value):
        """Another value of the first member with a name."""
        start = text.index(name)
        at = start + len(name)
        end = text.index(b"\n", at)
        if text[at:end] in (b"[", b"{"):
            indent = text[text.rindex(b"\n", 0, start):start]
            end = text.index(indent + (b"]" if text[at:end] == b"[" else b"}"), at) + len(indent) + 1
        elif text[end - 1:end] == b",":
            end -= 1
        return text[:at] + value + text[end:]
    for source in (support.tars(), numbers()):
        out = copy_of(source)
        manifest, meta = (out / "manifest.json").read_bytes(), (out / "meta.json").read_bytes()
        for name, value in itertools.product((b'"encoding": ', b'"samples": ', b'"bytes": ', b'"header_crc32": ', b'"name": ', b'"shards": ', b'"meta": ',
                                              b'"encode": ', b'"index": ', b'"crc32": ', b'"ffconvert_manifest": '), NONSENSE):
            (out / "manifest.json").write_bytes(manifest)
            with_manifest(out, lambda body: place(body, name, value))
            row.judge("manifest.json: %s%.20s" % (name.decode(), value.decode()), out, lambda: read_all(out), ANY)
        (out / "manifest.json").write_bytes(manifest)
        for name, value in itertools.product((b'"fields": ', b'"dtype": ', b'"shape": ', b'"columns": ', b'"classes": '), NONSENSE):
            if name in meta:
                data = place(meta, name, value)
            else:
                data = meta[:-3] + b",\n  " + name + value + b"\n}\n"
            (out / "meta.json").write_bytes(data)
            agreed(out, meta, data)
            row.judge("meta.json: %s%.20s" % (name.decode(), value.decode()), out, lambda: read_all(out), ANY)
            (out / "manifest.json").write_bytes(manifest)


def agreed(out, before, after):
    """Puts the size and checksum of a file that was changed into the manifest."""
    def pair(data, indent):
        return b'"bytes": %d,\n%s"crc32": %d' % (len(data), indent, zlib.crc32(data))
    with_manifest(out, lambda body: body.replace(pair(before, b"    "), pair(after, b"    ")).replace(pair(before, b" " * 8), pair(after, b" " * 8)))


def numbers():
    """A dataset of rows of numbers."""
    return support.converted("csv", "--rows-per-sample", "2", NUMBERS)


def copy_of(out):
    return pathlib.Path(shutil.copytree(out, support.scratch() / "out"))


if __name__ == "__main__":
    FULL = "--full" in sys.argv
    NUMBERS = str(support.scratch() / "rows.csv")
    with open(NUMBERS, "w") as f:
        f.write("1,2\n3,4\n5,6\n")
    support.tars(), numbers()  # the program needs more than the limit

    faulthandler.cancel_dump_traceback_later()  # each case has a limit of its own

    def hangs(*_):
        raise Hangs
    signal.signal(signal.SIGALRM, hangs)
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))
    for name, parts in (("A7 [python]", [headers]), ("I3", [files, sparse, directories, changed, nonsense])):
        row = Row(name)
        for part in parts:
            began = time.monotonic()
            part(row)
            print("%s: %.1f s" % (part.__name__, time.monotonic() - began), file=sys.stderr)
        row.done()
    print("mapped: %d MiB of %d" % (mapped() / MiB, LIMIT / MiB), file=sys.stderr)
