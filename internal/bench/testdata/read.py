"""read.py PACKAGE KIND PATH: reads random batches of 128 samples, all of them or 100,000, verified, three times. KIND is ours or original, whose package
ffrecord lies in PACKAGE. Prints samples and the seconds of each time."""
import json, os, random, sys, time

package, kind, path = sys.argv[1:]
sys.path.insert(0, package)
if kind == "ours":
    from ffconvert import FileReader
else:
    from ffrecord import FileReader
reader = FileReader(sorted(os.path.join(path, name) for name in os.listdir(path) if name.endswith(".ffr")), check_data=True)
order = list(range(reader.n))
random.Random(1).shuffle(order)
order = order[:100_000]
seconds = []
for _ in range(3):
    start, size = time.perf_counter(), 0
    for i in range(0, len(order), 128):
        size += len(reader.read(order[i:i + 128])[0])
    seconds.append(time.perf_counter() - start)
print(json.dumps({"samples": len(order), "seconds": seconds}))
