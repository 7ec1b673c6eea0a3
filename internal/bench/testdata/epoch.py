"""epoch.py PACKAGE KIND PATH WORKERS NUMBER EPOCHS FORM: goes through epochs in random order, by the DataLoader of torch over files (KIND files), or by that of
the package over shards (verified, plain). FORM is bytes, where a sample becomes its size in the worker that has read it, so that reading is what is measured; or
tensor, where it is a picture. Prints samples, the seconds of each epoch without imports, and the memory of all its processes."""
import functools, json, os, sys, time

package, kind, path, workers, number, epochs, form = sys.argv[1:]
sys.path.insert(0, package)
import torch.utils.data
from ffconvert import DataLoader, Dataset
from ffconvert.pictures import FORMS

decode = len if form == "bytes" else FORMS["tensor"]()
batch = 128 if form == "bytes" else 64


class Files(torch.utils.data.Dataset):
    def __init__(self, root):
        self.paths = sorted(os.path.join(d, name) for d, _, names in os.walk(root) for name in names)

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        with open(self.paths[i], "rb") as f:
            return decode(f.read())


def memory(field, file):
    """The sum of a field of this process and its workers, in bytes."""
    workers = [pid for task in os.listdir("/proc/self/task") for pid in open("/proc/self/task/%s/children" % task).read().split()]
    lines = [line for pid in [os.getpid(), *workers] for line in open("/proc/%s/%s" % (pid, file))]
    return sum(1024 * int(line.split()[1]) for line in lines if line.startswith(field))


if kind == "files":
    make, dataset = torch.utils.data.DataLoader, Files(path)
else:
    make = functools.partial(DataLoader, workers=workers)
    if form == "bytes":
        dataset = Dataset(path, check_data=kind == "verified", encoding=None, transform=len)
    else:
        dataset = Dataset(path, fields=["jpg"], decode="tensor", transform=lambda sample: sample["jpg"])
loader = make(dataset, batch_size=batch, shuffle=True, num_workers=int(number), **{"collate_fn": list} if form == "bytes" else {})
rss = pss = 0
seconds = []
for epoch in range(int(epochs)):
    start, samples, steps = time.perf_counter(), 0, len(loader)
    for step, got in enumerate(loader, 1):
        samples += len(got)
        if step == steps - 1 and form != "bytes":  # while the workers are there
            rss, pss = memory("VmHWM:", "status"), memory("Pss:", "smaps_rollup")
    seconds.append(time.perf_counter() - start)
print(json.dumps({"samples": samples, "seconds": seconds, "rss": rss, "pss": pss}))
