"""Batches that threads make come in order, in bounded memory, and end when the loop ends."""

import _thread
import gc
import os
import random
import signal
import subprocess
import sys
import threading
import time
import unittest

from tests import support

from ffconvert.threads import Batches, probe


def wait_for(true, seconds=30):
    """Waits for an event that other threads make."""
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            return False
        time.sleep(0.001)
    return True


def ours():
    return [t for t in threading.enumerate() if t.name.startswith("ffconvert-")]


class Threads(unittest.TestCase):
    def tearDown(self):
        gc.collect()
        self.assertTrue(wait_for(lambda: not ours()), "threads that did not end: %s" % ours())

    def test_order(self):
        draw = random.Random(1)

        def fetch(i):
            time.sleep(draw.random() / 500)
            return i * i
        for workers, ahead in ((1, 1), (1, 5), (4, 8), (8, 2)):
            batches = Batches(range(100), fetch, workers, ahead)
            self.assertEqual(list(batches), [i * i for i in range(100)])
            self.assertEqual((list(batches), batches._rcvd_idx), ([], 100))
        self.assertEqual(list(Batches([], fetch, 2, 2)), [])

    def test_ahead(self):
        """So many are made before the loop wants them, and no more."""
        made = []
        batches = Batches(range(100), made.append, 3, 5)
        for i in range(20):
            next(batches)
            self.assertTrue(wait_for(lambda: len(made) == i + 5))
            time.sleep(0.002)
            self.assertEqual(len(made), i + 5)

    def test_at_once(self):
        """Each of the threads makes a batch at the same time."""
        meet = threading.Barrier(4)
        self.assertEqual(list(Batches(range(8), lambda i: (meet.wait(30), i)[1], 4, 8)), list(range(8)))

    def test_errors(self):
        class Odd(Exception):
            def __init__(self, a, b):  # cannot be made of a message
                super().__init__(a, b)

        def fetch(i):
            if i % 2:
                raise Odd(i, "odd")
            return i
        batches, got = Batches(range(10), fetch, 2, 4), []
        for _ in range(10):
            try:
                got.append(next(batches))
            except Odd as e:
                got.append(e.args)
        self.assertEqual(got, [i if i % 2 == 0 else (i, "odd") for i in range(10)])
        with self.assertRaises(StopIteration):
            next(batches)

    def test_left(self):
        """The threads of a loop that is left end, and what was not begun is not made."""
        made, go = [], threading.Event()

        def fetch(i):
            made.append(i)
            go.wait(30)
        batches = Batches(range(100), fetch, 2, 50, timeout=0.01)
        with self.assertRaisesRegex(RuntimeError, "no batch came in 0.01 seconds"):
            next(batches)
        self.assertTrue(wait_for(lambda: len(made) == 2))
        del batches
        gc.collect()
        go.set()
        self.assertTrue(wait_for(lambda: not ours()))
        self.assertEqual(made, [0, 1])

    def test_timeout(self):
        """A batch that is late comes with the next call."""
        go = threading.Event()
        batches = Batches(range(3), lambda i: (go.wait(30), i)[1], 1, 1, timeout=0.01)
        for _ in range(2):
            with self.assertRaisesRegex(RuntimeError, "timeout of the loader"):
                next(batches)
        go.set()
        batches._timeout = 30
        self.assertEqual(list(batches), [0, 1, 2])

    def test_exit(self):
        """A process whose last loop was left ends in order: threads end their batch first."""
        script = """if True:
            import time
            from ffconvert.threads import Batches
            def fetch(i):
                time.sleep(0.1 * i)
                if i == 3:
                    print("ended", flush=True)
            batches = Batches(range(10), fetch, 3, 4)
            next(batches), next(batches), next(batches)"""
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=support.ROOT / "python", timeout=60)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "ended\n", ""))

    def test_freed(self):
        """A batch that was given is the loop's alone."""
        class Batch:
            alive = 0

            def __init__(self, i):
                Batch.alive += 1

            def __del__(self):
                Batch.alive -= 1
        batches = Batches(range(50), Batch, 2, 3)
        for _ in range(40):
            next(batches)
            self.assertLessEqual(Batch.alive, 4)

    def test_fork(self):
        batches = Batches(range(10), lambda i: i, 2, 4)
        next(batches)
        pid = os.fork()
        if not pid:
            signal.alarm(30)
            try:
                next(batches)
            except RuntimeError as e:
                os._exit(0 if "another process" in str(e) and list(Batches(range(3), str, 2, 2)) == ["0", "1", "2"] else 1)
            os._exit(2)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)
        self.assertEqual(next(batches), 1)

    def test_interrupt(self):
        """Ctrl-C ends a loop, and its process, while threads are in a batch that takes long."""
        script = """if True:
            import threading, time
            from ffconvert.threads import Batches
            def fetch(i):
                if i == 0:
                    print("begun", flush=True)
                time.sleep(300)
            for _ in Batches(range(10), fetch, 2, 4):
                pass"""
        process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=support.ROOT / "python")
        self.assertEqual(process.stdout.readline(), "begun\n")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, -signal.SIGINT)
        self.assertIn("KeyboardInterrupt", err)

    def test_interrupt_before_waiting(self):
        """So does one that came just before the loop began to wait, which wakes nothing up: interrupt_main is such a signal."""
        ended, late = threading.Event(), []

        def fetch(i):
            wait_for(lambda: sys._current_frames()[threading.main_thread().ident].f_code is threading.Condition.wait.__code__)
            time.sleep(0.05)  # from its code to its lock: were it not there yet, the signal would be an easy one
            _thread.interrupt_main()
            if not ended.wait(30):
                late.append(i)
        try:
            with self.assertRaises(KeyboardInterrupt):
                next(Batches(range(10), fetch, 1, 1))
        finally:
            ended.set()
        self.assertEqual(late, [])


class Lock(unittest.TestCase):
    def test_probe(self):
        """What computes in Python holds its lock, what waits does not."""
        def compute():
            end = time.thread_time() + 0.2
            while time.thread_time() < end:
                sum(range(100))
        held = probe(compute)
        waits = probe(lambda: time.sleep(0.2))
        self.assertGreaterEqual(held.seconds, 0.2)
        self.assertGreater(held.held, 0.5)
        self.assertLess(waits.held, held.held)
        with self.assertRaises(ZeroDivisionError):
            probe(lambda: 1 // 0)


if __name__ == "__main__":
    unittest.main()
