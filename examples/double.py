# ffconvert tar --filter 'python3 examples/double.py' …: a filter of the standard library alone. Each sample becomes two.
import struct, sys

def load(read):
    first = read(1)
    if not first:
        raise EOFError
    major, n = first[0] >> 5, first[0] & 31
    raw = read(1 << n - 24) if n in (24, 25, 26, 27) else b""
    n = int.from_bytes(raw, "big") if raw else n
    if major == 7:
        return struct.unpack(">d", raw)[0] if raw else {20: False, 21: True, 22: None}[n]
    if major == 5:
        return {load(read): load(read) for _ in range(n)}
    if major == 4:
        return [load(read) for _ in range(n)]
    return (lambda: n, lambda: -1 - n, lambda: read(n), lambda: read(n).decode())[major]()

def dump(x):
    head = lambda major, n: bytes([major << 5 | 27]) + n.to_bytes(8, "big")
    if x is None or isinstance(x, bool):
        return {False: b"\xf4", True: b"\xf5", None: b"\xf6"}[x]
    if isinstance(x, int):
        return head(0, x) if x >= 0 else head(1, -1 - x)
    if isinstance(x, float):
        return b"\xfb" + struct.pack(">d", x)
    if isinstance(x, bytes):
        return head(2, len(x)) + x
    if isinstance(x, str):
        return head(3, len(x.encode())) + x.encode()
    if isinstance(x, dict):
        return head(5, len(x)) + b"".join(dump(k) + dump(v) for k, v in x.items())
    return head(4, len(x)) + b"".join(map(dump, x))

while True:
    try:
        sample = load(sys.stdin.buffer.read)
    except EOFError:
        break
    key = sample["__key__"]
    answer = [{**sample, "__key__": f"{key}-{side}", "side": side} for side in ("a", "b")]
    sys.stdout.buffer.write(dump(answer))
    sys.stdout.buffer.flush()
