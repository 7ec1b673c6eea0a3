package direct

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

// Blocks are aligned, in memory that can be written. A sparse block takes only the pages that were used.
func TestBlocks(t *testing.T) {
	t.Parallel()
	for name, newBlocks := range map[string]func(int) (*Blocks, error){"one mapping": NewBlocks, "sparse": NewSparseBlocks} {
		b, err := newBlocks(5)
		if err != nil || len(b.Empty) != 5 {
			t.Fatalf("%s: %d blocks, %v", name, len(b.Empty), err)
		}
		for i, block := range b.Empty {
			if len(block) != 0 || cap(block) != blockSize {
				t.Errorf("%s: block %d: %d bytes of %d", name, i, len(block), cap(block))
			}
			block[:1][0] = byte(i)
		}
		if name == "sparse" {
			checkSparse(t, b)
		}
		if err := errors.Join(b.Free(), b.Free()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// checkSparse checks that blocks of which the first byte was written have a page each.
func checkSparse(t *testing.T, b *Blocks) {
	t.Helper()
	huge, _ := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled")
	if strings.Contains(string(huge), "[always]") {
		need.Missing(t, "a system without huge pages for all memory")
	}
	pages, err := os.Open("/proc/self/pagemap") // 8 bytes each; the last bit says that it is there
	if err != nil {
		need.Missing(t, err)
	}
	defer pages.Close()
	for i, block := range b.Empty {
		var address int64
		if _, err := fmt.Sscanf(fmt.Sprintf("%p", block), "0x%x", &address); err != nil {
			t.Fatal(err)
		}
		page := int64(os.Getpagesize())
		entries := make([]byte, 8*blockSize/page)
		if _, err := pages.ReadAt(entries, 8*address/page); err != nil {
			need.Missing(t, err)
		}
		n := 0
		for at := 7; at < len(entries); at += 8 {
			n += int(entries[at] >> 7)
		}
		if n != 1 {
			t.Errorf("block %d takes %d pages, want 1", i, n)
		}
	}
}
