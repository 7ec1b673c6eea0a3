package export

import (
	"bytes"
	"hash/maphash"
)

// A keySet is the set of the keys of a tar, as hashes of 16 bytes: the chance that two keys have equal hashes is
// less than one in 10^24 in a tar of a million. While keys come in increasing order it is a list of hashes; after
// that, a hash table with open addressing, at most three quarters full.
type keySet struct {
	seeds [2]maphash.Seed
	last  []byte
	list  [][2]uint64
	slots [][2]uint64 // length is a power of two; zero: empty slot
	n     int         // number of hashes in slots
}

func newKeySet() *keySet {
	return &keySet{seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}}
}

// add adds a key and reports whether it is new.
func (s *keySet) add(key []byte) bool {
	hash := [2]uint64{maphash.Bytes(s.seeds[0], key) | 1, maphash.Bytes(s.seeds[1], key)}
	if s.slots == nil {
		if len(s.list) == 0 || bytes.Compare(key, s.last) > 0 {
			s.list = append(s.list, hash)
			s.last = append(s.last[:0], key...)
			return true
		}
		s.rehash(s.list)
		s.list = nil
	}
	if s.n >= len(s.slots)/4*3 {
		s.rehash(s.slots)
	}
	return s.put(hash)
}

// rehash makes a table of the hashes with room for as many more.
func (s *keySet) rehash(hashes [][2]uint64) {
	slots := 16
	for slots/4*3 < 2*len(hashes) {
		slots *= 2
	}
	s.slots, s.n = make([][2]uint64, slots), 0
	for _, hash := range hashes {
		if hash != [2]uint64{} {
			s.put(hash)
		}
	}
}

// put adds a hash and reports whether it is new.
func (s *keySet) put(hash [2]uint64) bool {
	last := uint64(len(s.slots) - 1)
	for i := hash[1] & last; ; i = (i + 1) & last {
		switch s.slots[i] {
		case hash:
			return false
		case [2]uint64{}:
			s.slots[i] = hash
			s.n++
			return true
		}
	}
}
