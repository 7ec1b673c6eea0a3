"""The memory of an epoch is that of some batches, however long the epoch is."""

import multiprocessing
import os
import re
import subprocess
import sys
import unittest

import numpy as np
import torch

from tests import support

from ffconvert import DataLoader, Dataset

MiB = 1 << 20
SAMPLE, BATCH, STEPS = MiB // 4, 16, 40


def private():
    """Bytes of memory, without that of files, of this process and the workers of its loader."""
    total = 0
    for pid in [os.getpid(), *(p.pid for p in multiprocessing.active_children())]:
        with open("/proc/%d/status" % pid) as f:
            total += sum(1024 * int(kib) for kib in re.findall(r"Rss(?:Anon|Shmem):\s+(\d+)", f.read()))
    return total


def epoch(path, workers):
    """Prints by how much memory grew from the tenth batch to the end of an epoch, and how many batches there were."""
    loader = DataLoader(Dataset(path, encoding=None, transform=torch.from_numpy), BATCH, shuffle=True, num_workers=workers)
    taken = []
    for batch in loader:
        assert batch.shape == (BATCH, SAMPLE)
        taken.append(private())
    print(max(taken[10:]) - max(taken[:10]), len(taken))


class Memory(unittest.TestCase):
    def test_epoch(self):
        """160 MiB of samples, in a process of its own: what other tests have freed would hide what is lost."""
        record = np.random.default_rng(1).bytes(SAMPLE)
        path = support.write(support.scratch() / "a.ffr", [record] * (BATCH * STEPS))
        for workers in (0, 2):
            with self.subTest(workers=workers):
                done = subprocess.run([sys.executable, "-m", "tests.test_memory", path, str(workers)], capture_output=True, text=True, timeout=120)
                self.assertEqual(done.returncode, 0, done.stderr)
                grown, batches = map(int, done.stdout.split())
                self.assertEqual(batches, STEPS)
                self.assertLess(grown, 8 * BATCH * SAMPLE, "bytes by which memory grew; a batch has %d" % (BATCH * SAMPLE))


if __name__ == "__main__":
    epoch(sys.argv[1], int(sys.argv[2]))
