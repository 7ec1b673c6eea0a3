package converters

import (
	"math"
	"testing"
)

// A map keeps the order of its pairs, and has no key twice, few or many.
func TestMapBuilder(t *testing.T) {
	t.Parallel()
	var b MapBuilder
	if m := b.Map(); m == nil || len(m) != 0 {
		t.Errorf("an empty map is %#v", m)
	}
	for i := range int64(3 * manyPairs) {
		if !b.Add(100-i, i) {
			t.Fatalf("key %d is refused", 100-i)
		}
		for j := range i + 1 {
			if b.Add(100-j, nil) {
				t.Fatalf("key %d of %d comes twice", 100-j, i)
			}
		}
		if i == 1 || i == 2*manyPairs {
			for _, key := range []any{math.NaN(), "k", nil, true, 0.5, uint64(math.MaxUint64)} {
				if first := i == 1; b.Add(key, nil) != first || b.Add(key, nil) {
					t.Errorf("key %v, pair %d", key, i)
				}
			}
		}
	}
	m := b.Map()
	if len(m) != 3*manyPairs+6 || m[0] != (Pair{int64(100), int64(0)}) || m[3].Key != "k" || m[len(m)-1].Value != int64(3*manyPairs-1) {
		t.Errorf("%v", m)
	}
}
