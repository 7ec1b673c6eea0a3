package converters

// A Map is a nested map with its pairs in the order of the source. Keys must be unique;
// [MapBuilder] ensures that.
type Map []Pair

// A Pair is one entry of a Map. Key is a string, an int64, a uint64 above [math.MaxInt64], a
// float64, a bool or nil. Value is of a type that [Nested] accepts.
type Pair struct{ Key, Value any }

// A MapBuilder builds a Map with unique keys. The zero value is ready to use.
type MapBuilder struct {
	pairs Map
	keys  map[any]struct{} // keys of pairs; nil if there are few
}

// manyPairs is the number of pairs from which MapBuilder looks up keys in a Go map.
const manyPairs = 16

// Add appends a pair. If the map has the key already, Add appends nothing and returns false.
func (b *MapBuilder) Add(key, value any) bool {
	if b.has(key) {
		return false
	}
	b.pairs = append(b.pairs, Pair{key, value})
	return true
}

// Map returns the pairs that were added. It is never nil.
func (b *MapBuilder) Map() Map {
	if b.pairs == nil {
		return Map{}
	}
	return b.pairs
}

// has reports whether the map has the key. If there are many pairs it also adds the key to b.keys.
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

// identity returns a key that == can compare: NaN is not equal to itself.
func identity(key any) any {
	if x, ok := key.(float64); ok && x != x {
		return struct{}{}
	}
	return key
}
