// Package python runs functions of Python libraries in tests, to compare results. Only tests import it.
//
//	py := python.Start(t, `
//	import msgpack
//	def reply(request):
//	    return msgpack.unpackb(request)
//	`, "msgpack")
//	var got []any
//	py.Ask([]byte("\x92\x01\x02"), &got) // [1, 2]
//
// The interpreter is Debian's, with the modules that Debian packages; the first Python of the search
// path may be another one without modules. A script replies until its test ends, because starting it
// takes longer than many replies. Its standard input and output have
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

	"github.com/ffconvert/ffconvert/internal/test/need"
)

const interpreter = "/usr/bin/python3"

// serve is appended to each script. Its imports do not affect the script.
const serve = `
def _serve():
    import json, struct, sys
    while head := sys.stdin.buffer.read(4):
        request = sys.stdin.buffer.read(*struct.unpack("<I", head))
        print(json.dumps(reply(request)), flush=True)
_serve()
`

// Path returns the path of the interpreter. If it or one of the modules is missing, Path skips the
// test, or fails it if the environment variable CI is set.
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

// A Process is a running script. Only the goroutine of its test may use it.
type Process struct {
	t   testing.TB
	in  io.Writer
	out *bufio.Reader
}

// Start runs a script that defines reply(request), a function from bytes to a value that JSON can
// represent. Start skips or fails the test as Path does. The process ends with the test, and the test
// fails if the process ends with an error.
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

// Ask sends a request of less than 4 GiB to the script and decodes the reply into answer, as
// json.Unmarshal does. If that fails, Ask ends the test.
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
