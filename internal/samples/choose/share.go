package choose

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"path"
	"strconv"
	"strings"

	"github.com/ffconvert/ffconvert/internal/text"
)

// A share is a range of hashes: from ≤ hash < to.
type share struct {
	from, to uint64
	last     bool // the range has no upper end
}

func (s share) holds(hash uint64) bool { return hash >= s.from && (s.last || hash < s.to) }

var decimal = text.Pattern(`^[0-9]*\.?[0-9]+(e-[0-9]{1,2})?$`)

// fraction parses a number above 0 and at most 1, exactly.
func fraction(text string) (*big.Rat, error) {
	r := new(big.Rat)
	ok := len(text) <= 40 && decimal().MatchString(text)
	if ok {
		_, ok = r.SetString(text)
	}
	if !ok || r.Sign() <= 0 || r.Cmp(big.NewRat(1, 1)) > 0 {
		return nil, errors.New("want a number above 0, 1 at most, as in 0.1")
	}
	return r, nil
}

// edge returns the first hash above a fraction of all hashes; end is set if there is none.
func edge(r *big.Rat) (hash uint64, end bool) {
	all := new(big.Int).Lsh(big.NewInt(1), 64)
	n := new(big.Int).Mul(r.Num(), all)
	if n.Div(n, r.Denom()); n.Cmp(all) >= 0 {
		return 0, true
	}
	return n.Uint64(), false
}

func parseShare(text string) (share, error) {
	r, err := fraction(text)
	if err != nil {
		return share{}, err
	}
	to, last := edge(r)
	return share{to: to, last: last}, nil
}

// CheckFraction returns an error unless text is a fraction for Options.Sample.
func CheckFraction(text string) error {
	_, err := fraction(text)
	return err
}

// A side is one of the parts of a split.
type side struct {
	Name     string
	Fraction string // of all samples, as a decimal number: the same for .9, 0.90 and 9e-1
	share    share
}

// ParseSplit parses the sides of a split: "train=0.9,val=0.1". Their sum is at most 1.
func ParseSplit(text string) ([]side, error) {
	var sides []side
	sum := new(big.Rat)
	from := uint64(0)
	for item := range strings.SplitSeq(text, ",") {
		name, value, ok := strings.Cut(item, "=")
		if !ok {
			return nil, fmt.Errorf("%q is not NAME=FRACTION, as in train=0.9,val=0.1", item)
		}
		if err := checkName(name); err != nil {
			return nil, err
		}
		r, err := fraction(value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for i := range sides {
			if sides[i].Name == name {
				return nil, fmt.Errorf("%s is named twice", name)
			}
		}
		if sum.Add(sum, r).Cmp(big.NewRat(1, 1)) > 0 {
			all, _ := sum.Float64()
			return nil, fmt.Errorf("its sides make more than 1: %v", all)
		}
		to, last := edge(sum)
		digits, _ := r.FloatPrec()
		sides = append(sides, side{name, r.FloatString(digits), share{from, to, last}})
		from = to
	}
	return sides, nil
}

// A hasher hashes the identity of samples: the first 8 bytes, big-endian, of the SHA-256 of
//
//	purpose " " seed " " key
//
// with seed in decimal. For a sample without a key, the base name of its part, a zero byte and its ordinal in
// decimal replace the key. So the hash of a sample does not depend on the part that holds it or on other samples.
type hasher struct {
	base    string
	key     string
	ordinal int64
	buf     []byte
}

func (h *hasher) part(name string) {
	h.base, h.ordinal = path.Base(strings.ToValidUTF8(name, "\ufffd")), -1
}

func (h *hasher) next(key string) {
	h.key = key
	h.ordinal++
}

func (h *hasher) of(purpose string, seed uint64) uint64 {
	b := append(h.buf[:0], purpose...)
	b = append(b, ' ')
	b = strconv.AppendUint(b, seed, 10)
	b = append(b, ' ')
	if b = append(b, h.key...); h.key == "" {
		b = append(b, h.base...)
		b = append(b, 0)
		b = strconv.AppendInt(b, h.ordinal, 10)
	}
	h.buf = b
	sum := sha256.Sum256(b)
	return binary.BigEndian.Uint64(sum[:])
}
