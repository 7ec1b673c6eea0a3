"""bucket.py PACKAGE PATH CACHE SIZE EPOCHS: goes through epochs in random order, by two threads of the package's DataLoader. PATH is a directory, or a URL
whose samples CACHE keeps up to SIZE bytes of, which is "" for all. EPOCHS may be 0: the dataset is opened. Prints samples, the seconds of each epoch, those until
the dataset is open and until the first batch is there, the bytes that came from the object store in each epoch, and the peak memory of this process."""
import json, sys, time

package, path, cache, size, epochs = sys.argv[1:]
sys.path.insert(0, package)
import ffconvert
from ffconvert import Reader


def fetched(reader):
    return sum(remote.fetched() for remote in reader._remotes if remote)


def peak():
    return next(1024 * int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM:"))


options = {"cache": cache, "cache_size": size or None} if cache else {}
start = time.perf_counter()
if epochs == "0":
    with Reader(path, **options) as reader:
        opened = time.perf_counter() - start
        print(json.dumps({"samples": len(reader), "opened": opened, "memory": peak()}))
        sys.exit()

from ffconvert import DataLoader, Dataset

start = time.perf_counter()
dataset = Dataset(path, encoding=None, transform=len, **options)
opened = time.perf_counter() - start
loader = DataLoader(dataset, batch_size=128, shuffle=True, num_workers=2, workers="threads", collate_fn=list)
first = None
seconds, came = [], []
before = fetched(dataset.reader)
for epoch in range(int(epochs)):
    begin, samples = time.perf_counter(), 0
    for got in loader:
        samples += len(got)
        first = first or time.perf_counter() - start
    seconds.append(time.perf_counter() - begin)
    now = fetched(dataset.reader)
    came.append(now - before)
    before = now
print(json.dumps({"samples": samples, "seconds": seconds, "opened": opened, "first": first, "came": came, "memory": peak()}))
