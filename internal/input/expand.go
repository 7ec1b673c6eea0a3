package input

import (
	"math"
	"strconv"
)

// expand calls next with buf followed by each name of the sequence in turn, until
// next returns false, which it then returns. next must not keep its argument.
func (seq sequence) expand(buf []byte, next func([]byte) bool) bool {
	for i, it := range seq {
		if it.single() {
			buf = append(buf, it.literal...)
			continue
		}
		rest := seq[i+1:]
		return it.expand(buf, func(b []byte) bool { return rest.expand(b, next) })
	}
	return next(buf)
}

func (it item) single() bool {
	return it.choices == nil && it.ints == nil
}

func (it item) expand(buf []byte, next func([]byte) bool) bool {
	switch {
	case it.choices != nil:
		for _, c := range it.choices {
			if !c.expand(buf, next) {
				return false
			}
		}
	case it.ints != nil:
		for i := range it.ints.n {
			if !next(it.ints.append(buf, i)) {
				return false
			}
		}
	}
	return true
}

// append appends value i as Python's %0*d prints it.
func (r *intRange) append(buf []byte, i int64) []byte {
	v := r.start + i*r.step
	if r.width == 0 {
		return strconv.AppendInt(buf, v, 10)
	}
	var digits [24]byte
	d := strconv.AppendInt(digits[:0], v, 10)
	width := r.width
	if v < 0 {
		buf = append(buf, '-')
		d = d[1:]
		width--
	}
	for range width - len(d) {
		buf = append(buf, '0')
	}
	return append(buf, d...)
}

// count returns the number of names in the sequence, at most MaxInt64.
func (seq sequence) count() int64 {
	n := int64(1)
	for _, it := range seq {
		switch {
		case it.choices != nil:
			var sum int64
			for _, c := range it.choices {
				sum = addSat(sum, c.count())
			}
			n = mulSat(n, sum)
		case it.ints != nil:
			n = mulSat(n, it.ints.n)
		}
	}
	return n
}

// addSat and mulSat saturate at MaxInt64; a must not be negative and b must be positive.
func addSat(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

func mulSat(a, b int64) int64 {
	if a > math.MaxInt64/b {
		return math.MaxInt64
	}
	return a * b
}
