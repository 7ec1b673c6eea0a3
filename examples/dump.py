# python3 examples/dump.py MODULE:DATASET | ffconvert cbor - out/
import importlib, sys
import cbor2 # pip install cbor2

sys.path.insert(0, "") # for a MODULE of the current directory
module, _, name = sys.argv[1].partition(":")
dataset = getattr(importlib.import_module(module), name)
for i, sample in enumerate(dataset() if callable(dataset) else dataset):
    sample = sample if isinstance(sample, dict) else {"value": sample}
    item = {"__key__": f"{i:08d}", **sample}
    cbor2.dump(item, sys.stdout.buffer, default=lambda encoder, x: encoder.encode(x.tolist()))
