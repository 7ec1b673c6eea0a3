package csv

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

// What Python's csv module makes of a part, and float() of its values.
const pythonCSV = `
import sys, struct, json, csv, io
import numpy
csv.field_size_limit(1 << 30)
def bits(s):
    try:
        return struct.pack(">d", float(s)).hex()
    except ValueError:
        return ""
def reply(data):
    delimiter, text = data[:1].decode(), data[1:].decode("utf-8-sig")
    rows = [r for r in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True) if r]
    floats = [[bits(s) for s in r] for r in rows]
    packed = ["" if "" in f else numpy.array([float(s) for s in r]).tobytes().hex() for f, r in zip(floats, rows)]
    return {"Rows": rows, "Floats": floats, "Packed": packed}
while True:
    head = sys.stdin.buffer.read(4)
    if len(head) < 4:
        break
    sys.stdout.write(json.dumps(reply(sys.stdin.buffer.read(struct.unpack("<I", head)[0]))) + "\n")
    sys.stdout.flush()
`

// A pythonAnswer has the text, the float64 bits and, where all are numbers, the
// numpy array of each row.
type pythonAnswer struct {
	Rows   [][]string
	Floats [][]string
	Packed []string
}

// A python is one long-running Python process.
type python struct {
	t   testing.TB
	in  io.WriteCloser
	out *bufio.Reader
}

func startPython(t testing.TB) *python {
	t.Helper()
	const path = "/usr/bin/python3" // Debian's: it has numpy
	if err := exec.Command(path, "-c", "import numpy").Run(); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	cmd := exec.Command(path, "-c", pythonCSV)
	cmd.Env = append(os.Environ(), "PYTHONUTF8=1")
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

// ask has a part read.
func (p *python) ask(delimiter byte, part []byte) (a pythonAnswer) {
	p.t.Helper()
	request := binary.LittleEndian.AppendUint32(nil, uint32(1+len(part)))
	if _, err := p.in.Write(append(append(request, delimiter), part...)); err != nil {
		p.t.Fatal(err)
	}
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		p.t.Fatal(err)
	}
	if err := json.Unmarshal(line, &a); err != nil {
		p.t.Fatalf("%s: %v", line, err)
	}
	return a
}
