package converters

// A Map is a nested map: its pairs, in the order of the source. A [MapBuilder] makes one in
// which no key comes twice.
type Map []Pair

// A Pair is one entry of a Map. Key is a string, an int64, a uint64 above [math.MaxInt64], a
// float64, a bool or nil; Value is what [Nested] takes.
type Pair struct{ Key, Value any }

// A MapBuilder collects the pairs of one Map. The zero value is an empty one.
type MapBuilder struct {
	pairs Map
	keys  map[any]struct{} // of pairs, where they are many
}

// manyPairs is where comparing a key with all before it becomes slow.
const manyPairs = 16

// nan stands for the float64 keys that are not equal to themselves.
type nan struct{}

// Add appends a pair. It reports false, and appends nothing, where the key is there.
func (b *MapBuilder) Add(key, value any) bool {
	if b.has(key) {
		return false
	}
	b.pairs = append(b.pairs, Pair{key, value})
	return true
}

// Map returns the pairs that were added, never nil.
func (b *MapBuilder) Map() Map {
	if b.pairs == nil {
		return Map{}
	}
	return b.pairs
}

// has reports whether the key is there, and counts it in where they are many.
func (b *MapBuilder) has(key any) bool {
	key = identity(key)
	if len(b.pairs) < manyPairs {
		for i := range b.pairs {
			if identity(b.pairs[i].Key) == key {
				return true
			}
		}
		return false
	}
	if b.keys == nil {
		b.keys = make(map[any]struct{}, 2*manyPairs)
		for i := range b.pairs {
			b.keys[identity(b.pairs[i].Key)] = struct{}{}
		}
	}
	if _, ok := b.keys[key]; ok {
		return true
	}
	b.keys[key] = struct{}{}
	return false
}

// identity returns a key as == finds it again.
func identity(key any) any {
	if x, ok := key.(float64); ok && x != x {
		return nan{}
	}
	return key
}
