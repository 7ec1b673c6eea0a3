# The pictures of testdata/shapes, as a dataset that dump.py and stream.py can iterate.
import pathlib

def train():
    root = pathlib.Path(__file__).resolve().parent.parent / "testdata" / "shapes"
    for path in sorted(root.glob("*/*.jpg")):
        yield {"__key__": path.relative_to(root).with_suffix("").as_posix(), "jpg": path.read_bytes(), "class": path.parent.name}
