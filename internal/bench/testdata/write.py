"""write.py PACKAGE KIND FILE SIZE N: writes N samples of SIZE bytes. KIND is convert, by the package's convert; workers, by the same with two processes; writer, by
ffconvert.ffrecord.FileWriter; original, by that of the package ffrecord, which lies in PACKAGE; or source, which writes the MessagePack that convert gives the program.
Prints samples and seconds without imports."""
import json, os, sys, time

package, kind, file, size, n = sys.argv[1:]
sys.path.insert(0, package)
size, n = int(size), int(n)
block = os.urandom(1 << 24)


class Samples:
    def __len__(self):
        return n

    def __getitem__(self, i):
        if i >= n:
            raise IndexError(i)
        at = i * 977 % (len(block) - size)
        return {"bin": block[at:at + size], "cls": i % 1000}


samples = Samples()
if kind in ("writer", "original"):
    if kind == "writer":
        from ffconvert.ffrecord import FileWriter
    else:
        from ffrecord import FileWriter
    start = time.perf_counter()
    writer = FileWriter(file, n)
    for i in range(n):
        writer.write_one(samples[i]["bin"])
    writer.close()
elif kind == "source":
    from ffconvert.stored import packed
    start = time.perf_counter()
    with open(file, "wb") as f:
        for i in range(n):
            f.write(packed(samples[i], "%08d" % i))
else:
    from ffconvert import convert
    start = time.perf_counter()
    convert(samples, file, num_workers=2 * (kind == "workers"))
print(json.dumps({"samples": n, "seconds": [time.perf_counter() - start]}))
