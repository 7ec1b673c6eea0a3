package check

import (
	"sync/atomic"
	"testing"

	"github.com/ffconvert/ffconvert/converters/tar"
)

// A counted progress adds up what it is told.
type counted struct{ total, samples, bytes atomic.Int64 }

func (c *counted) Start(_ string, bytes int64) { c.total.Store(bytes) }
func (c *counted) Add(samples, bytes int64)    { c.samples.Add(samples); c.bytes.Add(bytes) }

// A part is told of once, by its size, whether it is walked or read too.
func TestProgress(t *testing.T) {
	t.Parallel()
	files := []file{tarOf("a.tar", "0.txt=abc", "0.cls=1", "1.txt=def"), tarOf("b.tar", "2.txt=ghi", "dir/")}
	size := int64(0)
	for _, f := range files {
		size += int64(len(f.data))
	}
	for _, deep := range []bool{false, true} {
		var c counted
		check(t, tar.Open(partsOf(t, files...), waived), Options{Deep: deep, Progress: &c})
		if c.total.Load() != size || c.bytes.Load() != size || c.samples.Load() != 3 {
			t.Errorf("deep %t: %d samples, %d of %d bytes; want %d", deep, c.samples.Load(), c.bytes.Load(), c.total.Load(), size)
		}
	}
}
