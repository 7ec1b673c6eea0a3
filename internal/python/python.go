// Package python asks Python what its own libraries make of data. Only tests import it.
//
//	py := python.Start(t, `
//	import msgpack
//	def reply(request):
//	    return msgpack.unpackb(request)
//	`, "msgpack")
//	var got []any
//	py.Ask([]byte("\x92\x01\x02"), &got) // [1, 2]
//
// The interpreter is Debian's, with the modules that Debian packages: the first Python of
// the search path may be another and have none. A script answers until its test ends: to
// start one takes longer than many answers. On its standard input and output are
//
//	┌────────────────────────┬──────────┐        ┌────────────────┬──────┐
//	│ length u32             │ request  │ ─────► │ answer, JSON   │ '\n' │
//	│ 4, little-endian       │ length   │        │                │ 1    │
//	└────────────────────────┴──────────┘        └────────────────┴──────┘
package python

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/ffconvert/ffconvert/internal/need"
)

const interpreter = "/usr/bin/python3"

// serve follows each script. What it imports is its own.
const serve = `
def _serve():
    import json, struct, sys
    while head := sys.stdin.buffer.read(4):
        request = sys.stdin.buffer.read(*struct.unpack("<I", head))
        print(json.dumps(reply(request)), flush=True)
_serve()
`

// Path returns the path of the interpreter, which has the modules. Without it or one of
// them the test is skipped; where CI is set it fails.
func Path(t testing.TB, modules ...string) string {
	t.Helper()
	script := ""
	for _, m := range modules {
		script += "import " + m + "\n"
	}
	out, err := exec.Command(interpreter, "-c", script).CombinedOutput()
	if err != nil {
		need.Missing(t, fmt.Sprintf("%s: %v\n%s", interpreter, err, out))
	}
	return interpreter
}

// A Process is a Python that runs. It belongs to the goroutine of its test.
type Process struct {
	t   testing.TB
	in  io.Writer
	out *bufio.Reader
}

// Start runs a script that defines reply(request), which takes bytes and returns what JSON
// can hold. It needs what Path needs. Python ends when the test does, and the test fails
// if it ends with an error.
func Start(t testing.TB, script string, modules ...string) *Process {
	t.Helper()
	cmd := exec.Command(Path(t, modules...), "-c", script+serve)
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
			t.Errorf("%s: %v\n%s", interpreter, err, stderr.Bytes())
		}
	})
	return &Process{t, in, bufio.NewReader(out)}
}

// Ask decodes into answer, as json.Unmarshal does, what the script replies to a request of
// less than 4 GiB. If there is no reply or it does not fit, the test ends.
func (p *Process) Ask(request []byte, answer any) {
	p.t.Helper()
	frame := append(binary.LittleEndian.AppendUint32(nil, uint32(len(request))), request...)
	if _, err := p.in.Write(frame); err != nil {
		p.t.Fatalf("ask Python: %v", err)
	}
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		p.t.Fatalf("ask Python: %v", err)
	}
	if err := json.Unmarshal(line, answer); err != nil {
		p.t.Fatalf("ask Python: %v: %.200s", err, line)
	}
}
