# python3 examples/stream.py MODULE:DATASET | ffconvert cbor - out/
# What a program does that pipes its samples, in Python without our package: its first item promises an end mark, so what dies is refused.
import hashlib, importlib, sys
import cbor2 # pip install cbor2

sys.path.insert(0, "") # for a MODULE of the current directory
module, _, name = sys.argv[1].partition(":")
count, digest = 0, hashlib.sha256()

def put(item):
    b = cbor2.dumps(item)
    digest.update(b)
    sys.stdout.buffer.write(b)

put({"__begin__": {}})
for sample in getattr(importlib.import_module(module), name)(): # a function that yields dicts
    put({"__key__": f"{count:08d}", **sample})
    count += 1
put({"__end__": {"count": count, "sha256": digest.hexdigest()}})
