"""examples/train.py, killed at random steps and started again, does what it does undisturbed."""

import os
import random
import subprocess
import sys
import time
import unittest

import torch

from tests import support

TRAIN = support.ROOT / "examples" / "train.py"
STEPS = 45


class Example(unittest.TestCase):
    def train(self, checkpoint, kill_after=None):
        """Runs the script, kills it once it has printed so many lines, and returns all that it has printed."""
        env = {**os.environ, "PYTHONPATH": str(support.ROOT / "python"), "OMP_NUM_THREADS": "1"}
        printed, said = support.scratch() / "stdout", support.scratch() / "stderr"
        with open(printed, "w") as out, open(said, "w") as err:
            p = subprocess.Popen([sys.executable, str(TRAIN), str(support.tars()), str(checkpoint)], stdout=out, stderr=err, env=env)
            while p.poll() is None:
                if kill_after and len(printed.read_text().splitlines()) >= kill_after:
                    p.kill()
                time.sleep(0.005)
        self.assertIn(p.returncode, (0, -9) if kill_after else (0,), said.read_text())
        return printed.read_text().splitlines()

    def test_killed_and_resumed(self):
        work, draw = support.scratch(), random.Random()
        want = self.train(work / "whole")
        self.assertEqual(len(want), STEPS)
        got = []
        for kill_after in (draw.randrange(2, 15), draw.randrange(2, 15)):
            got += self.train(work / "killed", kill_after)
        got += self.train(work / "killed")
        # A step that was saved at the moment of a kill is not done again, though it was not printed.
        self.assertEqual(got, [line for line in want if line in got])
        self.assertGreaterEqual(len(got), STEPS - 2)
        whole, killed = (torch.load(work / name) for name in ("whole", "killed"))
        self.assertTrue(torch.equal(whole["model"]["weight"], killed["model"]["weight"]), "the weights differ")
        self.assertEqual(whole["loader"], killed["loader"])

    def test_length(self):
        self.assertLessEqual(len(TRAIN.read_text().splitlines()), 30)


if __name__ == "__main__":
    unittest.main()
