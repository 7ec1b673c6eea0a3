package choose

import (
	"encoding/binary"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/place"
)

// maxSortKey limits the value by which a sample is sorted, in bytes: all values stay in memory until the plan is made.
const maxSortKey = 64 << 10

// SortKeys are the sort keys of the chosen samples of a part, as bytes with the order of the samples: numbers by
// value, then texts by their bytes, then samples without a value. They take the bytes of a text, or 9 for a
// number, and 8 per sample.
type SortKeys struct {
	text []byte
	ends []int
}

// At returns the sort key of the i-th chosen sample.
func (k *SortKeys) At(i int) []byte {
	from := 0
	if i > 0 {
		from = k.ends[i-1]
	}
	return k.text[from:k.ends[i]]
}

// First byte of the sort keys of numbers, of texts and of samples without a value.
const (
	sortNumber = iota
	sortText
	sortNone
)

// Sorted reports whether the options, which may be nil, sort samples.
func (o *Options) Sorted() bool { return o != nil && o.Sort != "" }

// AddSortKey adds the sort key of a chosen sample, if the options sort.
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

// sorted records whether samples with the value of the sort order were seen, and samples without it.
type sorted struct{ with, without atomic.Bool }

func (s *sorted) saw(has bool) {
	seen := &s.without
	if has {
		seen = &s.with
	}
	if !seen.Load() { // avoids a write for most samples
		seen.Store(true)
	}
}

// err returns an error if no sample has the value: its name is probably mistyped.
func (s *sorted) err(by subject) error {
	if s.with.Load() || !s.without.Load() {
		return nil
	}
	return place.Options("option sort: no chosen sample has %q; %s", by, hintDecoded)
}

// ascending maps f to a number with the same order.
func ascending(f float64) uint64 {
	bits := math.Float64bits(f + 0) // + 0 turns -0 into 0
	if bits>>63 != 0 {
		return ^bits
	}
	return bits | 1<<63
}
