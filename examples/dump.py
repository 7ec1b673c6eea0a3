# python3 examples/dump.py MODULE:DATASET out/
import importlib, sys
import ffconvert # the package of the wheel; PYTHONPATH=python and FFCONVERT=bin/ffconvert in a clone

sys.path.insert(0, "") # for a MODULE of the current directory
module, _, name = sys.argv[1].partition(":")
print(ffconvert.convert(getattr(importlib.import_module(module), name), sys.argv[2]))
