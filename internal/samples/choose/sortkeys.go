package choose

import (
	"encoding/binary"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/place"
)

// maxSortKey limits the value by which a sample is sorted, in bytes: all are held in memory until the plan is made.
const maxSortKey = 64 << 10

// SortKeys are what the chosen samples of a part are sorted by, as texts whose bytes have the order: whole numbers and
// others by their values, then texts by their bytes, then samples that have none. They take the bytes of a text, or 9 of
// a number, and 8 for each sample.
type SortKeys struct {
	text []byte
	ends []int
}

// At returns what the i-th chosen sample is sorted by.
func (k *SortKeys) At(i int) []byte {
	from := 0
	if i > 0 {
		from = k.ends[i-1]
	}
	return k.text[from:k.ends[i]]
}

// What the keys of numbers, of texts and of samples without a value begin with.
const (
	sortNumber = iota
	sortText
	sortNone
)

// Sorted reports whether the options, which may be nil, sort samples.
func (o *Options) Sorted() bool { return o != nil && o.Sort != "" }

// AddSortKey adds what a chosen sample is sorted by, if the options sort.
func (c *Chooser) AddSortKey(k *SortKeys, s *converters.Sample) error {
	if !c.opts.Sorted() {
		return nil
	}
	v, ok, err := c.sort.get(s, c)
	if err != nil {
		return fmt.Errorf("sort: %w", err)
	}
	c.sorted.saw(ok)
	switch {
	case !ok:
		k.text = append(k.text, sortNone)
	case v.num.ok:
		k.text = append(k.text, sortNumber)
		k.text = binary.BigEndian.AppendUint64(k.text, ascending(v.num.f))
	case len(v.txt) > maxSortKey:
		return fmt.Errorf("sort: %w: its %s has %d bytes, more than %d", converters.ErrLimit, c.sort, len(v.txt), maxSortKey)
	default:
		k.text = append(append(k.text, sortText), v.txt...)
	}
	k.ends = append(k.ends, len(k.text))
	return nil
}

// sorted tells whether samples with the value that the order needs were seen, and samples without it.
type sorted struct{ with, without atomic.Bool }

func (s *sorted) saw(has bool) {
	seen := &s.without
	if has {
		seen = &s.with
	}
	if !seen.Load() { // most samples write nothing
		seen.Store(true)
	}
}

// err returns an error if there were samples, and none has the subject: its name is probably mistyped.
func (s *sorted) err(by subject) error {
	if s.with.Load() || !s.without.Load() {
		return nil
	}
	return place.Options("option sort: no chosen sample has %q; %s", by, hintDecoded)
}

// ascending returns a number with the order of f.
func ascending(f float64) uint64 {
	bits := math.Float64bits(f + 0) // -0 is 0
	if bits>>63 != 0 {
		return ^bits
	}
	return bits | 1<<63
}
