package encode

import (
	"cmp"
	"fmt"
)

// Defaults of Limits.
const (
	DefaultMaxDecode = 16 << 20 // bytes
	DefaultMaxDepth  = 32
)

// The range of Limits.MaxDepth is what the CBOR library takes.
const (
	leastDepth = 4
	mostDepth  = 1<<16 - 1
)

// Limits bound what Options.Decode takes of one field. A value may need a hundred times
// the memory of its bytes (a list of empty lists): hence the first. The second bounds the
// stack.
type Limits struct {
	// MaxDecode is the most bytes that a field may have to be decoded. Text, which takes
	// no more than its bytes, has no such limit. 0: DefaultMaxDecode.
	MaxDecode int64

	// MaxDepth is how many lists and maps may lie in one another, 4 to 65,535.
	// 0: DefaultMaxDepth.
	MaxDepth int
}

// check refuses limits that cannot be kept, and makes those that are the default 0.
func (l Limits) check() (Limits, error) {
	l = l.filled()
	switch {
	case l.MaxDecode < 0:
		return l, fmt.Errorf("fields of at most %d bytes cannot be decoded", l.MaxDecode)
	case l.MaxDepth < leastDepth || l.MaxDepth > mostDepth:
		return l, fmt.Errorf("depth %d of what is decoded: want %d to %d", l.MaxDepth, leastDepth, mostDepth)
	}
	if l.MaxDecode == DefaultMaxDecode {
		l.MaxDecode = 0
	}
	if l.MaxDepth == DefaultMaxDepth {
		l.MaxDepth = 0
	}
	return l, nil
}

// filled is the limits with their defaults.
func (l Limits) filled() Limits {
	return Limits{cmp.Or(l.MaxDecode, DefaultMaxDecode), cmp.Or(l.MaxDepth, DefaultMaxDepth)}
}
