package export

import "hash/maphash"

// A keySet is the set of the keys of a tar, 16 bytes of hash for each: two keys are taken for one by a chance of
// less than one in 10^24 in a tar of a million.
type keySet struct {
	seeds [2]maphash.Seed
	keys  map[[2]uint64]struct{}
}

// newKeySet returns an empty set with room for n keys.
func newKeySet(n int64) *keySet {
	return &keySet{[2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, make(map[[2]uint64]struct{}, min(n, 1<<20))}
}

// add adds a key and reports whether it is new.
func (s *keySet) add(key string) bool {
	hash := [2]uint64{maphash.String(s.seeds[0], key), maphash.String(s.seeds[1], key)}
	if _, there := s.keys[hash]; there {
		return false
	}
	s.keys[hash] = struct{}{}
	return true
}
