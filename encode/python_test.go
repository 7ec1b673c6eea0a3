package encode

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"testing"
)

// pythonScript answers each request with a line of JSON. A request is its length, a letter
// that says how to read the record, the record. canon writes what canonSample writes.
const pythonScript = `
import sys, struct, json, pickle, pickletools
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
    if type(x) is dict: return "{" + ",".join(sorted(canon(k) + ":" + canon(v) for k, v in x.items())) + "}"
    return "? " + repr(type(x))
def record(x):
    assert type(x) is dict
    return ";".join(canon(k) + "=" + canon(v) for k, v in x.items())
readers = {
    "m": lambda b: record(msgpack.unpackb(b, strict_map_key=False)),
    "c": lambda b: record(cbor2.loads(b)),
    "p": lambda b: record(pickle.loads(b)),
    "o": lambda b: [op.name for op, _, _ in pickletools.genops(b)],
    "r": lambda b: canon(numpy.frombuffer(b, dtype="<f8").tolist()),
}
while True:
    head = sys.stdin.buffer.read(4)
    if len(head) < 4:
        break
    request = sys.stdin.buffer.read(struct.unpack("<I", head)[0])
    try:
        answer = readers[chr(request[0])](request[1:])
    except Exception as e:
        answer = repr(e)
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
`

// A python is one long-running Python process.
type python struct {
	t   testing.TB
	in  io.WriteCloser
	out *bufio.Reader
}

// startPython needs Python with msgpack, cbor2 and numpy, as Debian has them. In CI they
// must be there.
func startPython(t testing.TB) *python {
	t.Helper()
	path := "/usr/bin/python3"
	if err := exec.Command(path, "-c", "import msgpack, cbor2, numpy").Run(); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	cmd := exec.Command(path, "-c", pythonScript)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("python3: %v: %s", err, stderr.Bytes())
		}
	})
	return &python{t, in, bufio.NewReader(out)}
}

// ask has one record read and decodes the answer.
func (p *python) ask(how byte, record []byte, answer any) {
	p.t.Helper()
	head := append(binary.LittleEndian.AppendUint32(nil, uint32(1+len(record))), how)
	if _, err := p.in.Write(append(head, record...)); err != nil {
		p.t.Fatal(err)
	}
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		p.t.Fatal(err)
	}
	if err := json.Unmarshal(line, answer); err != nil {
		p.t.Fatalf("%.200s: %v", line, err)
	}
}
