package tar

import (
	"hash/maphash"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
)

// keys is the set of the keys of a part: a hash of 64 bits and an offset for each. If two hashes are
// equal, the first key is read again at its offset. It is a hash table with open addressing, because a
// Go map makes the index of small samples a tenth slower (BenchmarkIndex).
type keys struct {
	seed  maphash.Seed
	slots []slot // a power of two of them, at least a quarter of them free
	used  int
	file  converters.File
	part  converters.Part
	again scan.Window // to read keys with equal hashes again

	prefix string // common prefix of all keys; members have the rest

	maxHeader int64
}

// A slot is free if end is 0.
type slot struct {
	hash uint64
	end  int64 // offset of the sample plus 1
}

const fewKeys = 64 // slots of a new table

func newKeys(f converters.File, p converters.Part, maxHeader int64) *keys {
	return &keys{seed: maphash.MakeSeed(), slots: make([]slot, fewKeys), file: f, part: p, maxHeader: maxHeader}
}

// add adds the key of a sample at off. If an earlier sample has the key, add returns its offset.
func (k *keys) add(key string, off int64) (first int64, again bool, err error) {
	if k.used >= len(k.slots)/4*3 {
		k.grow()
	}
	hash := maphash.String(k.seed, key)
	for i := hash; ; i++ {
		s := &k.slots[i&uint64(len(k.slots)-1)]
		if s.end == 0 {
			*s = slot{hash, off + 1}
			k.used++
			return 0, false, nil
		}
		if s.hash == hash {
			same, err := k.at(s.end-1, key)
			if err != nil || same {
				return s.end - 1, same, err
			}
		}
	}
}

func (k *keys) grow() {
	old := k.slots
	k.slots = make([]slot, 2*len(old))
	clear(k.slots) // writing a new page first avoids the two faults and the interrupt of other processors that reading it first costs
	for _, s := range old {
		if s.end == 0 {
			continue
		}
		i := s.hash
		for k.slots[i&uint64(len(k.slots)-1)].end != 0 {
			i++
		}
		k.slots[i&uint64(len(k.slots)-1)] = s
	}
}

// at reports whether the sample at off has this key.
func (k *keys) at(off int64, key string) (bool, error) {
	var w members
	k.again.Reset(k.file, k.part.Size, off, scan.Sizes{Usual: headerReads})
	w.reset(&k.again, k.part, k.maxHeader)
	var m member
	if _, err := w.next(&m); err != nil {
		return false, err
	}
	there, _, _ := splitName(m.name)
	return k.prefix+string(there) == key, nil
}
