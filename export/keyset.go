package export

import "hash/maphash"

// A keySet is the set of the keys of a tar, as hashes of 16 bytes: the chance that two keys have equal hashes is
// less than one in 10^24 in a tar of a million. While keys come in increasing order it is a list.
type keySet struct {
	seeds [2]maphash.Seed
	last  []byte
	list  [][2]uint64
	table map[[2]uint64]struct{} // nil: list has the keys
}

func newKeySet() *keySet {
	return &keySet{seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}}
}

// add adds a key and reports whether it is new.
func (s *keySet) add(key string) bool {
	hash := [2]uint64{maphash.String(s.seeds[0], key), maphash.String(s.seeds[1], key)}
	if s.table == nil {
		if len(s.list) == 0 || key > string(s.last) {
			s.list, s.last = append(s.list, hash), append(s.last[:0], key...)
			return true
		}
		s.table = make(map[[2]uint64]struct{}, 2*len(s.list))
		for _, hash := range s.list {
			s.table[hash] = struct{}{}
		}
		s.list = nil
	}
	before := len(s.table)
	s.table[hash] = struct{}{}
	return len(s.table) > before
}
