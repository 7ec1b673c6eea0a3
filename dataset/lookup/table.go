package lookup

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/bits"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"

	"github.com/ffconvert/ffconvert/dataset"
)

// The table of keys, .ffconvert/keys, little-endian. It is derived from the indexes, and made anew where it is not
// that of the dataset, or damaged. Nothing of it is believed: the index has the key of the sample that it leads to.
//
//	0     8    magic
//	8     32   SHA-256 of the names, sizes and checksums of all indexes
//	40    8    N, samples
//	48    4    CRC-32 of bytes 0 to 48; zeros up to 4096
//	4096       pages of 4096 bytes: 511 entries of 8 bytes, the number of the page (u32), CRC-32 of the bytes before it
//
// An entry is the upper bits of the XXH64 of a key and, in as many lower bits as N-1 has, the number of the sample.
// Entries ascend, so that a key is found by interpolation; the last page is filled up with ones.
const (
	tableMagic  = "FFKEYS\x00\x02" // 1 had the batches of indexes, too
	pageSize    = 4096
	pageEntries = (pageSize - 8) / 8
	headSum     = 48 // where the CRC of the head is
)

// ErrKeys means that a file is not the table of keys of its dataset, or is damaged.
var ErrKeys = errors.New("not the table of keys of this dataset")

// keys is the table of keys of a dataset, for it and its forks.
type keys struct {
	of     *Dataset
	making chan struct{} // has an element while a table is made
	made   atomic.Int64  // tables

	progress func(done, total int64) // of a table that a search makes; nil: nobody asks
}

// identity is the SHA-256 that a table has of its dataset.
func (k *keys) identity() [sha256.Size]byte {
	h := sha256.New()
	for i := range k.of.shards {
		s := &k.of.shards[i]
		name, _ := filepath.Rel(k.of.Dir, s.index) // whatever the directory is called
		fmt.Fprintf(h, "%q %d %d %08x\n", "/"+filepath.ToSlash(name), s.samples, s.sum.Bytes, s.sum.CRC)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// A table is an open table of keys.
type table struct {
	file    dataset.File
	size    int64
	samples int64
	pages   int64
	shift   int // bits of an entry that are the number of a sample
	page    [pageSize]byte
}

// shiftOf returns the lower bits of an entry that hold the number of one of n samples.
func shiftOf(n int64) int { return bits.Len64(uint64(n - 1)) }

func pagesOf(n int64) int64 { return (n + pageEntries - 1) / pageEntries }

// A tablePlace is where a table may be.
type tablePlace struct {
	dir       string
	make      bool   // dir, if it is not there
	name, tmp string // in it: of the table, and of the directory for temporary ones
}

// places returns where the table of the dataset may be, the best place first.
func (k *keys) places() (all []tablePlace) {
	d := k.of
	if d.manifest == nil {
		return nil
	}
	if d.whole {
		all = append(all, tablePlace{dir: d.Dir, name: dataset.KeysName, tmp: dataset.TmpDir})
	}
	if d.opts.TableDir != "" {
		all = append(all, tablePlace{dir: d.opts.TableDir, make: true, name: fmt.Sprintf("%x.keys", k.identity()), tmp: "tmp"})
	}
	return all
}

// open opens the table of the dataset. It is [ErrKeys] if there is none.
func (k *keys) open() (*table, error) {
	for _, p := range k.places() {
		if t, err := k.openAt(p); err == nil {
			return t, nil
		}
	}
	return nil, ErrKeys
}

func (k *keys) openAt(p tablePlace) (*table, error) {
	root, err := os.OpenRoot(p.dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if st, err := root.Lstat(p.name); err != nil || !st.Mode().IsRegular() {
		return nil, ErrKeys
	}
	f, err := root.Open(p.name)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	t := &table{file: f, size: st.Size()}
	if err := t.load(k); err != nil {
		f.Close()
		return nil, err
	}
	return t, nil
}

func (t *table) close() { t.file.Close() }

// load checks the head.
func (t *table) load(k *keys) error {
	head := t.page[:]
	if _, err := t.file.ReadAt(head, 0); err != nil {
		return ErrKeys
	}
	id := k.identity()
	n := binary.LittleEndian.Uint64(head[40:])
	switch {
	case string(head[:8]) != tableMagic, !bytes.Equal(head[8:40], id[:]), n != uint64(k.of.Len()),
		crc32.ChecksumIEEE(head[:headSum]) != binary.LittleEndian.Uint32(head[headSum:]):
		return ErrKeys
	}
	t.samples, t.pages, t.shift = int64(n), pagesOf(int64(n)), shiftOf(int64(n))
	if t.size != pageSize*(1+t.pages) {
		return ErrKeys
	}
	return nil
}

// read reads page p.
func (t *table) read(p int64) error {
	if _, err := t.file.ReadAt(t.page[:], pageSize*(1+p)); err != nil {
		return ErrKeys
	}
	sum := pageSize - 4
	if binary.LittleEndian.Uint32(t.page[sum-4:]) != uint32(p) || crc32.ChecksumIEEE(t.page[:sum]) != binary.LittleEndian.Uint32(t.page[sum:]) {
		return ErrKeys
	}
	return nil
}

// entry returns an entry of the page that was read.
func (t *table) entry(i int) uint64 { return binary.LittleEndian.Uint64(t.page[8*i:]) }

// seek returns the first page with a last entry not less than least, the number of pages if there is none.
//
// XXH64 spreads keys evenly, so that the page is near where the value says; from a page near it the next guess is
// nearer. After a few guesses the range is halved, so that no table takes more than some 30 reads.
func (t *table) seek(least uint64) (int64, error) {
	lo, hi := int64(0), t.pages // pages before lo end too early, pages from hi on do not
	at, _ := bits.Mul64(least, uint64(t.pages))
	for guess, tries := int64(at), 0; lo < hi; tries++ {
		if tries > 4 {
			guess = lo + (hi-lo)/2
		}
		guess = min(max(guess, lo), hi-1)
		if err := t.read(guess); err != nil {
			return 0, err
		}
		switch first, last := t.entry(0), t.entry(pageEntries-1); {
		case last < least:
			more, _ := bits.Mul64(least-last, uint64(t.pages))
			lo = guess + 1
			guess = lo + int64(more)
		case first < least:
			return guess, nil
		default:
			less, _ := bits.Mul64(first-least, uint64(t.pages))
			hi = guess
			guess -= 1 + int64(less)
		}
	}
	return lo, nil
}

// candidates calls use with the number of each sample that may have a key of this hash, in order.
func (t *table) candidates(ctx context.Context, key string, use func(n int64) (bool, error)) error {
	mask := uint64(1)<<t.shift - 1
	least := xxhash.Sum64String(key) &^ mask
	p, err := t.seek(least)
	for ; err == nil && p < t.pages; p++ {
		if err := errors.Join(ctx.Err(), t.read(p)); err != nil {
			return err
		}
		page := t.page // use may read others
		for i := range pageEntries {
			e := binary.LittleEndian.Uint64(page[8*i:])
			if e < least {
				continue
			}
			n := int64(e & mask)
			if e&^mask != least || p*pageEntries+int64(i) >= t.samples {
				return nil
			}
			if n >= t.samples {
				return ErrKeys
			}
			if more, err := use(n); err != nil || !more {
				return err
			}
		}
	}
	return err
}
