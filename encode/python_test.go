package encode

import (
	"fmt"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/python"
)

// pythonScript answers each request, a record, with what one of the readers reads. canon
// writes what canonSample writes.
const pythonScript = `
import struct, pickle, pickletools
import msgpack, cbor2, numpy
def canon(x):
    if x is None: return "n"
    if x is True: return "true"
    if x is False: return "false"
    if type(x) is int: return "i%d" % x
    if type(x) is float: return "nan" if x != x else "f" + struct.pack(">d", x).hex()
    if type(x) is str: return "s" + x.encode("utf-8").hex()
    if type(x) is bytes: return "b" + x.hex()
    if type(x) is list: return "[" + ",".join(map(canon, x)) + "]"
    if type(x) is dict: return "{" + ",".join(canon(k) + ":" + canon(v) for k, v in x.items()) + "}"
    return "? " + repr(type(x))
def record(x):
    assert type(x) is dict
    return ";".join(canon(k) + "=" + canon(v) for k, v in x.items())
def unframed(b): # a frame is a hint for reading
    at = [pos for op, _, pos in pickletools.genops(b) if op.name == "FRAME"]
    return b[:at[0]] + b[at[0] + 9:] if at else b
readers = {
    "m": lambda b: record(msgpack.unpackb(b, strict_map_key=False)),
    "c": lambda b: record(cbor2.loads(b)),
    "p": lambda b: record(pickle.loads(b)),
    "o": lambda b: [op.name for op, _, _ in pickletools.genops(b)],
    "t": lambda b: [repr(pickle.loads(b)), unframed(pickletools.optimize(pickle.dumps(pickle.loads(b), 4))).hex()],
    "r": lambda b: canon(numpy.frombuffer(b, dtype="<f8").tolist()),
}
def reply(data):
    try:
        return read(data)
    except Exception as e:
        return repr(e)
`

// startPython starts a Python that reads records with the reader of that letter.
func startPython(t testing.TB, reader byte) *python.Process {
	t.Helper()
	return python.Start(t, pythonScript+fmt.Sprintf("read = readers[%q]\n", reader), "msgpack", "cbor2", "numpy")
}
