package record

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/python"
)

// pyReader reads FFRecord as Python programs do, with nothing but the standard library.
const pyReader = `
import struct, sys, zlib
b = open(sys.argv[1], "rb").read()
checksum, n = struct.unpack_from("<Iq", b)
sums = struct.unpack_from("<%dI" % n, b, 12)
offs = struct.unpack_from("<%dq" % n, b, 12 + 4 * n) + (len(b),)
assert zlib.crc32(b[4:12 + 12 * n]) == checksum, "header"
assert offs[0] == 12 + 12 * n, "first offset"
for i in range(n):
    sample = b[offs[i]:offs[i + 1]]
    assert zlib.crc32(sample) == sums[i], i
    print(len(sample), sample.hex())
`

func TestPythonReads(t *testing.T) {
	t.Parallel()
	samples := append(f3Samples(), nil, noise(11, 70000), []byte("last"))
	path := onDisk(t, "a.ffr", shardOf(t, samples...))
	out, err := exec.Command(python.Path(t), "-c", pyReader, path).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if want := pyOutput(samples); strings.ReplaceAll(string(out), "\r", "") != want {
		t.Errorf("python read other samples:\n%.300s", out)
	}
}

func pyOutput(samples [][]byte) string {
	var b strings.Builder
	for _, s := range samples {
		fmt.Fprintf(&b, "%d %x\n", len(s), s)
	}
	return b.String()
}
