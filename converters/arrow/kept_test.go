package arrow

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/convertertest"
	"github.com/ffconvert/ffconvert/internal/arrowipc"
	"github.com/ffconvert/ffconvert/internal/test/arrowtest"
)

// A compressed buffer is decompressed once, however many runs read the batch, and their rows are the same.
func TestRunsShareBuffers(t *testing.T) {
	t.Parallel()
	random := rand.NewChaCha8([32]byte{1})
	images := make([]arrowtest.Image, 40)
	for i := range images {
		images[i].Data = make([]byte, 20_000)
		random.Read(images[i].Data) // no codec makes it shorter
	}
	data := arrowtest.Write(arrowtest.File, arrowtest.LZ4, arrowtest.Batches(images, len(images))...)
	parts, open := convertertest.InMemory(".arrow", data)
	open, use := convertertest.Count(open)
	s, err := openSource(parts, Options{}, open)
	if err != nil {
		t.Fatal(err)
	}
	for i := range images {
		rows := 0
		for sample, err := range s.Read(t.Context(), converters.Run{First: int64(i), Count: 1}) {
			if err != nil || !bytes.Equal(sample.Fields[0].Value.Data(), images[i].Data) {
				t.Fatalf("row %d is another one, error %v", i, err)
			}
			rows++
		}
		if rows != 1 {
			t.Fatalf("%d rows in the run of row %d", rows, i)
		}
	}
	if n := use.Read.Load(); n > 2*int64(len(data)) {
		t.Errorf("read %d bytes of a file of %d in %d runs", n, len(data), len(images))
	}
}

// The oldest buffers go when those that are kept are over the limit. One over it is not kept.
func TestKept(t *testing.T) {
	t.Parallel()
	var k kept
	at := func(off int64) stored { return stored{0, arrowipc.Span{Off: off, Size: 1}} }
	for off := range int64(3) {
		k.put(at(off), make([]byte, 4), 10)
	}
	k.put(at(3), make([]byte, 11), 10)
	for off, want := range []bool{false, true, true, false} {
		if got := k.get(at(int64(off))) != nil; got != want {
			t.Errorf("buffer %d is kept: %v, want %v", off, got, want)
		}
	}
	if k.bytes != 8 {
		t.Errorf("%d bytes are kept, want 8", k.bytes)
	}
}
