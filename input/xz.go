package input

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"io"
	"slices"

	"github.com/ulikunitz/xz/lzma"
)

// An xzReader reads the .xz container, https://tukaani.org/xz/xz-file-format.txt,
// version 1.2.1: any number of streams, each any number of LZMA2 blocks, an index
// and a footer. The container is read here, and only LZMA2 by the library, because
// the library allocates the dictionary that a header asks for, up to 4 GiB, and
// keeps the whole index.
//
//	stream  header: magic(6) flags(2) CRC32(4) of flags
//	block   size/4-1(1) flags(1) sizes(vli…) filters, zeros to 4, CRC32(4) of the header;
//	        LZMA2 data, zeros to 4, check(0, 4, 8 or 32) of the decompressed bytes
//	index   00 count(vli) count × {unpadded size(vli), size(vli)}, zeros to 4, CRC32(4)
//	footer  CRC32(4) of the next six, index size/4-1(4), flags(2), "YZ"
//	padding zeros, a multiple of 4
type xzReader struct {
	src *bufio.Reader
	err error

	maxWindow int64 // of the dictionary, bytes

	started  bool // the first stream header has been read
	inStream bool
	flags    [2]byte
	blocks   uint64
	records  hash.Hash // what the index must say of the blocks so far

	block     io.Reader // nil between blocks
	in        countedReader
	out       uint64 // bytes of the block decompressed so far
	headerLen uint64
	wantIn    int64 // what the block header says; -1 where it does not
	wantOut   int64
	check     hash.Hash // nil for none
}

var (
	errXZ         = errors.New("a field of the container is wrong")
	errXZChecksum = errors.New("a checksum does not match")
	errXZFilter   = errors.New("a filter or check that is not supported")
	errDictionary = errors.New("dictionary over the limit")
)

// Read returns io.EOF once the last stream's footer has been checked and nothing
// but padding follows.
func (x *xzReader) Read(p []byte) (int, error) {
	for x.err == nil {
		if x.block == nil {
			x.err = x.next()
			continue
		}
		n, err := x.block.Read(p)
		if x.check != nil {
			x.check.Write(p[:n])
		}
		x.out += uint64(n)
		if err == io.EOF {
			err = x.endBlock()
		}
		if x.err = err; n > 0 {
			return n, nil
		}
	}
	return 0, x.err
}

// next reads what stands between blocks, up to the next block's data or the end.
func (x *xzReader) next() error {
	if !x.inStream {
		return x.beginStream()
	}
	size, err := x.src.ReadByte()
	if err != nil {
		return unexpected(err)
	}
	if size == 0 {
		x.inStream = false
		return x.endStream()
	}
	return x.beginBlock(size)
}

func (x *xzReader) beginStream() error {
	var h [12]byte
	if x.started {
		for { // padding between streams, and after the last
			if _, err := io.ReadFull(x.src, h[:4]); err != nil {
				return err
			}
			if h[0] != 0 {
				break
			}
			if !allZero(h[:4]) {
				return errGarbage
			}
		}
		if string(h[:4]) != xzMagic[:4] {
			return errGarbage
		}
	} else if _, err := io.ReadFull(x.src, h[:4]); err != nil {
		return unexpected(err)
	}
	if _, err := io.ReadFull(x.src, h[4:]); err != nil {
		return unexpected(err)
	}
	switch {
	case string(h[:6]) != xzMagic:
		return errGarbage
	case crc32.ChecksumIEEE(h[6:8]) != binary.LittleEndian.Uint32(h[8:]):
		return errXZChecksum
	case h[6] != 0 || h[7] > 15:
		return errXZFilter
	}
	x.flags = [2]byte(h[6:8])
	x.started, x.inStream = true, true
	x.blocks, x.records = 0, sha256.New()
	return nil
}

// beginBlock reads the rest of a block header and opens the block.
func (x *xzReader) beginBlock(size byte) error {
	h := make([]byte, (int(size)+1)*4) // at most 1,024 bytes
	h[0] = size
	if _, err := io.ReadFull(x.src, h[1:]); err != nil {
		return unexpected(err)
	}
	body, sum := h[:len(h)-4], h[len(h)-4:]
	if crc32.ChecksumIEEE(body) != binary.LittleEndian.Uint32(sum) {
		return errXZChecksum
	}
	flags := body[1]
	f := fields{rest: body[2:]}
	x.wantIn, x.wantOut = -1, -1
	if flags&0x40 != 0 {
		x.wantIn = int64(f.vli())
	}
	if flags&0x80 != 0 {
		x.wantOut = int64(f.vli())
	}
	// One filter, LZMA2 (0x21), whose one byte of properties is the dictionary's size.
	if flags&0x3f != 0 || f.vli() != 0x21 || f.vli() != 1 {
		return errXZFilter
	}
	property := f.byte()
	if f.bad || !allZero(f.rest) {
		return errXZ
	}
	dict, err := lzma.DecodeDictCap(property)
	if err != nil {
		return errXZ
	}
	if dict > x.maxWindow {
		return errDictionary
	}
	// A block of a few bytes needs no window of megabytes; a small file could have any
	// number of them.
	if x.wantOut >= 0 {
		dict = min(dict, x.wantOut)
	} else if n, ok := x.contents(); ok {
		dict = min(dict, n)
	}
	x.in = countedReader{r: x.src}
	x.block, err = lzma.Reader2Config{DictCap: int(max(dict, lzma.MinDictCap))}.NewReader2(&x.in)
	if err != nil {
		return unexpected(err)
	}
	x.out, x.headerLen = 0, uint64(len(h))
	x.check, err = newCheck(x.flags[1])
	return err
}

// contents returns how many bytes the block decompresses to by the headers of its LZMA2
// chunks, where all of them lie in the buffer:
//
//	00                                                                        the end
//	01, 02  size-1(2), bytes as they are
//	80…ff   size-1(2, above them the control byte's low 5 bits) packed-1(2), from c0 on a byte of
//	        properties, packed bytes
func (x *xzReader) contents() (n int64, ok bool) {
	at := 0
	for {
		b, _ := x.src.Peek(at + 5) // fewer where the file or the buffer ends
		if len(b) <= at {
			return 0, false
		}
		c := b[at]
		if c == 0 {
			return n, true
		}
		if c > 2 && c < 0x80 || len(b) < at+5 {
			return 0, false
		}
		size := int(binary.BigEndian.Uint16(b[at+1:])) + 1
		if c < 0x80 {
			at += 3 + size
		} else {
			at += 5 + int(c>>6&1) + int(binary.BigEndian.Uint16(b[at+3:])) + 1
			size += int(c&0x1f) << 16
		}
		n += int64(size)
	}
}

// endBlock checks a block's sizes, padding and check.
func (x *xzReader) endBlock() error {
	x.block = nil
	if x.wantIn >= 0 && x.in.n != uint64(x.wantIn) || x.wantOut >= 0 && x.out != uint64(x.wantOut) {
		return errXZ
	}
	if err := x.zeros(x.in.n); err != nil {
		return err
	}
	unpadded := x.headerLen + x.in.n
	if x.check != nil {
		want := x.check.Sum(nil)
		if len(want) < sha256.Size {
			slices.Reverse(want) // the CRCs are little-endian
		}
		got := make([]byte, len(want))
		if _, err := io.ReadFull(x.src, got); err != nil {
			return unexpected(err)
		}
		if !bytes.Equal(got, want) {
			return errXZChecksum
		}
		unpadded += uint64(len(want))
	}
	x.blocks++
	x.record(x.records, unpadded, x.out)
	return nil
}

func (x *xzReader) record(h hash.Hash, unpadded, size uint64) {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], unpadded)
	binary.LittleEndian.PutUint64(b[8:], size)
	h.Write(b[:])
}

// endStream reads index and footer, which must say what the blocks were.
func (x *xzReader) endStream() error {
	index := summedReader{r: x.src, n: 1, sum: crc32.ChecksumIEEE([]byte{0})}
	count, err := index.vli()
	if err != nil {
		return err
	}
	if count != x.blocks {
		return errXZ
	}
	records := sha256.New()
	for range count {
		unpadded, err := index.vli()
		if err != nil {
			return err
		}
		size, err := index.vli()
		if err != nil {
			return err
		}
		x.record(records, unpadded, size)
	}
	if !bytes.Equal(records.Sum(nil), x.records.Sum(nil)) {
		return errXZ
	}
	for index.n%4 != 0 {
		if b, err := index.ReadByte(); err != nil {
			return unexpected(err)
		} else if b != 0 {
			return errXZ
		}
	}
	var f [16]byte // the index's CRC, then the footer
	if _, err := io.ReadFull(x.src, f[:]); err != nil {
		return unexpected(err)
	}
	switch {
	case binary.LittleEndian.Uint32(f[0:]) != index.sum,
		binary.LittleEndian.Uint32(f[4:]) != crc32.ChecksumIEEE(f[8:14]):
		return errXZChecksum
	case (uint64(binary.LittleEndian.Uint32(f[8:]))+1)*4 != index.n+4,
		[2]byte(f[12:14]) != x.flags, string(f[14:]) != "YZ":
		return errXZ
	}
	return nil
}

// zeros reads the padding of something n bytes long.
func (x *xzReader) zeros(n uint64) error {
	for ; n%4 != 0; n++ {
		if b, err := x.src.ReadByte(); err != nil {
			return unexpected(err)
		} else if b != 0 {
			return errXZ
		}
	}
	return nil
}

func newCheck(kind byte) (hash.Hash, error) {
	switch kind {
	case 0:
		return nil, nil
	case 1:
		return crc32.NewIEEE(), nil
	case 4:
		return crc64.New(crc64.MakeTable(crc64.ECMA)), nil
	case 10:
		return sha256.New(), nil
	}
	return nil, fmt.Errorf("%w: check %d", errXZFilter, kind)
}

func allZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
