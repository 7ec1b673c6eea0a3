package tar

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
)

// Every byte of a header counts, also one among zeros.
func TestCheckSumCountsEveryByte(t *testing.T) {
	t.Parallel()
	for i := range blockSize {
		for _, c := range []byte{1, 0x7f, 0xff} {
			b := make([]byte, blockSize)
			if i >= 148 && i < 156 {
				continue // the checksum itself
			}
			copy(b[148:156], fmt.Sprintf("%06o\x00 ", 8*' '+int(c)))
			b[i] = c
			if err := checkSum(b); err != nil {
				t.Errorf("byte %d is %#x: %v", i, c, err)
			}
			b[i] = 0
			if err := checkSum(b); !errors.Is(err, converters.ErrMalformed) {
				t.Errorf("byte %d is 0 and not %#x: %v", i, c, err)
			}
		}
	}
}

func TestCheckSumOfTheLargestBytes(t *testing.T) {
	t.Parallel()
	b := make([]byte, blockSize)
	for i := range b {
		b[i] = 0xff
	}
	copy(b[148:156], fmt.Sprintf("%06o\x00 ", (blockSize-8)*0xff+8*' '))
	if err := checkSum(b); err != nil {
		t.Error(err)
	}
}

// A header is parsed as if it were the first, whatever byte of the header before it differs, with and without its checksum.
func TestTemplate(t *testing.T) {
	t.Parallel()
	first := block(typeRegular, "a/b.jpg", 300)
	for at := range blockSize {
		for _, c := range []byte{0, ' ', '/', '1', '7', 'x', 0x80, 0xff} {
			for _, right := range []bool{true, false} {
				b := slices.Clone(first)
				if b[at] = c; right {
					sum(b)
				}
				var like template
				for i, b := range [][]byte{first, b, first, block(typeDirectory, "a/", 0), b} {
					got, err := like.parse(b, nil)
					want, wrong := parseHeader(b, nil)
					if fmt.Sprint(got, err) != fmt.Sprint(want, wrong) {
						t.Fatalf("header %d, with byte %d = %q: %v, error %v, want %v, error %v", i, at, c, got, err, want, wrong)
					}
				}
			}
		}
	}
}
