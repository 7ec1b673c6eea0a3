# Follows the reader of docs/reading.md. Compares every sample of OUT with what tarfile
# reads from TARS..., and prints how many there were.
import glob, os, re, sys, tarfile

def unpack(b):
    """The part of MessagePack that a record uses: a map of str to str and bin."""
    pos = 0
    def take(n):
        nonlocal pos
        pos += n
        return b[pos - n:pos]
    def number(n):
        return int.from_bytes(take(n), "big")
    def item():
        t = number(1)
        if t >> 4 == 0x8: return {item(): item() for _ in range(t & 15)}
        if t == 0xde: return {item(): item() for _ in range(number(2))}
        if t >> 5 == 0x5: return take(t & 31).decode()
        if t in (0xd9, 0xda, 0xdb): return take(number(1 << t - 0xd9)).decode()
        if t in (0xc4, 0xc5, 0xc6): return take(number(1 << t - 0xc4))
        raise ValueError(f"type {t:#x}")
    value = item()
    assert pos == len(b), "bytes behind the record"
    return value

def source(paths):
    """The samples of WebDataset tars, grouped as webdataset does."""
    for path in paths:
        sample = None
        for m in tarfile.open(path):
            match = re.match(r"^((?:.*/|)[^.]+)[.]([^/]*)$", m.name)
            if not m.isreg() or not match or re.match("__[^/]*__($|/)", m.name):
                continue
            key, suffix = match[1], match[2].lower()
            if sample is not None and sample["__key__"] != key:
                yield sample
                sample = None
            sample = sample or {"__key__": key}
            sample[suffix] = tarfile.open(path).extractfile(m).read()
        yield sample

out, tars = sys.argv[1], sys.argv[2:]
n = 0
want = source(tars)
for shard in sorted(glob.glob(os.path.join(out, "*.ffr"))):
    for data in samples(shard):
        got, expected = unpack(data), next(want)
        assert list(got.items()) == list(expected.items()), expected["__key__"]
        n += 1
assert next(want, None) is None, "samples are missing"
print(n)
