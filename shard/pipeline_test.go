package shard

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/record"
)

// pipelineInto returns a pipeline that writes n records to w, and a closing of all.
func pipelineInto(t *testing.T, w *memoryFile, n int64) (*pipeline, *record.Writer) {
	t.Helper()
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	o := &Output{root: root}
	for _, dir := range []string{tmpDir, indexDir} {
		if err := o.mkdir(dir); err != nil {
			t.Fatal(err)
		}
	}
	index, err := createIndex(root, "PART_00000.ffr", indexShape{keys: true}, testBuffers(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(index.discard)
	writer, err := record.NewWriter(w, n)
	if err != nil {
		t.Fatal(err)
	}
	p := newPipeline(writer, index)
	t.Cleanup(p.close)
	return p, writer
}

// Records of all sizes are appended in the order in which they were added, although their
// bytes are used again for the next.
func TestPipeline(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(5, 6))
	const n = 20_000
	file := &memoryFile{}
	p, w := pipelineInto(t, file, n)
	var want [][]byte
	buf := make([]byte, 3*smallRecord)
	for i := range n {
		size := rnd.IntN(40)
		if rnd.IntN(100) == 0 {
			size = rnd.IntN(len(buf))
		}
		data := buf[:size]
		for j := range data {
			data[j] = byte(i + j)
		}
		want = append(want, bytes.Clone(data))
		cut := rnd.IntN(size + 1)
		rec := encode.Record{Parts: [][]byte{data[:cut], data[cut:]}, Size: int64(size)}
		if err := p.add(1, &converters.Sample{Key: fmt.Sprint(i), Off: int64(i)}, &rec); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.settle(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.ffr")
	if err := os.WriteFile(path, file.data, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := record.Open(path, record.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for i, data := range want {
		if got, err := r.Read(i, nil); err != nil || !bytes.Equal(got, data) {
			t.Fatalf("record %d of %d bytes: %d bytes, error %v", i, len(data), len(got), err)
		}
	}
}

// A write that fails is told of, and closing after it does not hang.
func TestPipelineFails(t *testing.T) {
	t.Parallel()
	for fail := 2; fail <= 4; fail++ {
		p, _ := pipelineInto(t, &memoryFile{fail: fail}, 1<<20)
		rec := encode.Record{Parts: [][]byte{make([]byte, 1000)}, Size: 1000}
		var err error
		for range 10_000 {
			if err = p.add(0, &converters.Sample{}, &rec); err != nil {
				break
			}
		}
		if !errors.Is(err, errFull) {
			t.Errorf("write %d fails: %v", fail, err)
		}
		p.close()
		p.close()
	}
}

func testBuffers(t testing.TB) *buffers {
	t.Helper()
	b, err := newBuffers()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.free(); err != nil {
			t.Error(err)
		}
	})
	return b
}
