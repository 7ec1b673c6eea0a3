package stage

import (
	"archive/tar"
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"os/exec"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

var compressions = []string{"gzip", "zstd", "bzip2", "xz"}

// smallTar is a tar of two members, the same bytes every time.
func smallTar(t testing.TB) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i := range 2 {
		body := fmt.Appendf(nil, "member %d of a small tar", i)
		must(t, w.WriteHeader(&tar.Header{Name: fmt.Sprintf("%d.txt", i), Mode: 0o644, Size: int64(len(body)), Format: tar.FormatUSTAR}))
		_, err := w.Write(body)
		must(t, err)
	}
	must(t, w.Close())
	return b.Bytes()
}

// smallTarBzip2 is smallTar as bzip2 -9 wrote it: no Go package writes bzip2.
const smallTarBzip2 = `QlpoOTFBWSZTWfgyCMEAAD/bkcqAQAF3hAAIcwaeQAQAARAACCAAlUJRT1HqAaA0ANAqqeimahoAPSeo0epkshNdaCMQcOM2KaDm3tqgQYQyNhoam4zKYCiIsqhgRIkxEUQcHk4aC4qpUVQwo9qkFnx0dWrVdubCaT8ukc+JF5AQ/F3JFOFCQ+DIIwQ=`

// compress makes a compressed file of data. bzip2 knows smallTar alone.
func compress(t testing.TB, compression string, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	var err error
	switch compression {
	case "":
		return data
	case "gzip":
		w = gzip.NewWriter(&b)
	case "zstd":
		w, err = zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1))
	case "xz":
		w, err = xz.WriterConfig{DictCap: 1 << 16}.NewWriter(&b)
	case "bzip2":
		raw, err := base64.StdEncoding.DecodeString(smallTarBzip2)
		must(t, err)
		return raw
	default:
		t.Fatalf("no writer of %q", compression)
	}
	must(t, err)
	_, err = w.Write(data)
	must(t, err)
	must(t, w.Close())
	return b.Bytes()
}

// command runs a compressor that CI installs; elsewhere it may be missing.
func command(t testing.TB, data []byte, name string, args ...string) []byte {
	t.Helper()
	c := exec.Command(need.Tool(t, name), args...)
	c.Stdin = bytes.NewReader(data)
	out, err := c.Output()
	must(t, err)
	return out
}
