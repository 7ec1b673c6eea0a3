"""The package as a command, and what it imports."""

import ast
import os
import subprocess
import sys
import unittest

from tests import support

import ffconvert

PACKAGE = support.ROOT / "python" / "ffconvert"


def python(*args):
    return subprocess.run([sys.executable, *args], capture_output=True, text=True, cwd=support.ROOT / "python", env={**os.environ, "PYTHONPATH": ""})


class Main(unittest.TestCase):
    def test_version(self):
        done = python("-m", "ffconvert", "--version")
        self.assertEqual(done.stdout, "ffconvert %s (Python %d.%d)\n" % (ffconvert.__version__, *sys.version_info[:2]))

    def test_no_program(self):
        done = python("-c", "import sys, ffconvert.__main__ as m; m.os.access = lambda *_: False; sys.argv = ['', 'tar']; sys.exit(m.main())")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("this package is the reader alone; install a wheel", done.stderr)

    def test_info(self):
        """What there is has a version or a path, what there is not a reason; and torch is not imported for it."""
        script = "import sys, ffconvert; i = ffconvert.info(); print(i['ffconvert'], i['native helper'], i['msgpack'], 'torch' in sys.modules, sep='\\n')"
        for native, want in (("0", "none: FFCONVERT_NATIVE=0 leaves it out"), (os.environ.get("FFCONVERT_NATIVE", ""), None)):
            done = subprocess.run([sys.executable, "-c", "import sys; sys.modules['msgpack'] = None; " + script], capture_output=True, text=True,
                                  cwd=support.ROOT / "python", env={**os.environ, "FFCONVERT_NATIVE": native})
            self.assertEqual(done.stdout.split("\n"), [ffconvert.__version__, native if want is None else want, "none", "False", ""], done.stderr)
        self.assertNotIn("", ffconvert.info().values())  # cbor2 has no __version__

    def test_imports(self):
        """The package alone imports nothing that takes seconds."""
        done = python("-c", "import sys, ffconvert; print('torch' in sys.modules)")
        self.assertEqual(done.stdout, "False\n", done.stderr)
        done = python("-c", "import sys; sys.modules['torch'] = None; import ffconvert\ntry: ffconvert.DataLoader\nexcept ImportError as e: print(e.name)")
        self.assertRegex(done.stdout, "^torch", done.stderr)
        with self.assertRaises(AttributeError):
            ffconvert.nothing
        for name in ffconvert.__all__:
            if name != "DataLoader":
                self.assertTrue(getattr(ffconvert, name).__doc__, name)

    def test_grammar(self):
        """Python 3.9 can parse it."""
        files = sorted(PACKAGE.glob("*.py"))
        self.assertGreater(len(files), 10)
        for f in files:
            ast.parse(f.read_text(), str(f), feature_version=(3, 9))


if __name__ == "__main__":
    unittest.main()
