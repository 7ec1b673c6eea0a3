# python3 examples/dump.py MODULE:DATASET | ffconvert cbor - out/
import hashlib, importlib, io, sys
import cbor2 # pip install cbor2; numpy where the dataset has arrays

def stored(name, value):
    """The name of the field and its value: of a picture a PNG file, of an array an npy file."""
    if getattr(value, "ndim", -1) == 0:
        return name, value.item() # a number of numpy or torch
    file = io.BytesIO()
    if getattr(value, "mode", None) in ("1", "L", "LA", "I", "I;16", "P", "RGB", "RGBA") and hasattr(value, "save"):
        value.save(file, "PNG")
        suffix = "png"
    elif hasattr(value, "__array__") or hasattr(value, "__array_interface__"):
        import numpy
        numpy.save(file, numpy.asarray(value), allow_pickle=False)
        suffix = "npy"
    else:
        return name, value
    return name if name.split(".")[-1] == suffix else f"{name}.{suffix}", file.getvalue()

def nested(encoder, value):
    name, plain = stored("", value)
    if plain is value:
        raise TypeError(f"{type(value)} is no value of CBOR: turn it into bytes, text, numbers, lists and dicts")
    encoder.encode(plain)

def fields(sample):
    if isinstance(sample, tuple): # a field for each element, by its name or its number
        sample = zip(getattr(sample, "_fields", map(str, range(len(sample)))), sample)
    elif not isinstance(sample, dict):
        sample = {"value": sample}
    return dict(stored(name, value) for name, value in dict(sample).items())

def items(dataset):
    if hasattr(dataset, "__len__") and hasattr(dataset, "__getitem__"):
        return (dataset[i] for i in range(len(dataset))) # as a DataLoader of torch takes them
    return dataset

sys.path.insert(0, "") # for a MODULE of the current directory
module, _, name = sys.argv[1].partition(":")
dataset = getattr(importlib.import_module(module), name)
count, digest = 0, hashlib.sha256()

def put(item):
    b = cbor2.dumps(item, default=nested)
    digest.update(b)
    sys.stdout.buffer.write(b)

put({"__begin__": {}}) # promises the end mark: without it the samples are refused
for sample in items(dataset() if callable(dataset) else dataset):
    put({"__key__": f"{count:08d}", **fields(sample)})
    count += 1
put({"__end__": {"count": count, "sha256": digest.hexdigest()}})
