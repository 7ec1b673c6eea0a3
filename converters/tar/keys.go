package tar

import (
	"context"
	"fmt"
	"hash/maphash"
	"math"
	"math/bits"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
)

// keys is the set of the keys of a part: an offset for each. While keys come in ascending order, as most writers sort or
// number samples, none can come again. At the first other one all are put into a hash table with open addressing, for
// which they are read again at their offsets, as a key with an equal hash is. New memory is what costs here, a page
// fault for each 4 KiB (BenchmarkIndex).
type keys struct {
	offs              [][]int64 // offsets of the samples, chunk in each but the last
	n                 int       // samples
	last              []byte    // the key that was added last
	byBytes, byLength bool      // all were ascending by their bytes; by their lengths, then bytes: 9 before 10

	seed  maphash.Seed
	slots []slot // nil while keys ascend; a power of two of them, at least a quarter of them free

	file  converters.File
	part  converters.Part
	again scan.Window // to read keys again
	key   []byte      // that was read again

	members   members
	prefix    string // common prefix of all keys; members have the rest
	maxHeader int64
}

// A slot is free if sample is 0.
type slot struct {
	hash   uint32
	sample uint32 // its number plus 1
}

const (
	fewKeys = 64      // slots of the smallest table
	chunk   = 8 << 10 // offsets
)

func newKeys(f converters.File, p converters.Part, maxHeader int64) *keys {
	return &keys{byBytes: true, byLength: true, seed: maphash.MakeSeed(), file: f, part: p, maxHeader: maxHeader}
}

// add adds the key of a sample at off. If an earlier sample has the key, add returns its offset.
func (k *keys) add(ctx context.Context, key string, off int64) (first int64, again bool, err error) {
	if k.slots == nil && !k.ascends(key) {
		if err := k.tabulate(ctx); err != nil {
			return 0, false, err
		}
	}
	if k.slots != nil {
		if k.n >= len(k.slots)/4*3 {
			k.grow()
		}
		hash := k.hash(key)
		i := k.probe(int(hash), hash)
		for ; k.slots[i].sample != 0; i = k.probe(i+1, hash) {
			first := k.off(int(k.slots[i].sample) - 1)
			there, err := k.read(first)
			if err != nil || string(there) == key {
				return first, err == nil, err
			}
		}
		k.slots[i] = slot{hash, uint32(k.n + 1)}
	}
	if k.n == math.MaxUint32 {
		return 0, false, fmt.Errorf("%w: a tar of more than %d samples", converters.ErrLimit, k.n)
	}
	if k.n%chunk == 0 {
		k.offs = append(k.offs, make([]int64, 0, min(chunk, k.part.Size/blockSize)))
	}
	tail := &k.offs[len(k.offs)-1]
	*tail = append(*tail, off)
	k.last = append(k.last[:0], key...)
	k.n++
	return 0, false, nil
}

// ascends reports whether a key continues an order of all keys.
func (k *keys) ascends(key string) bool {
	if k.n > 0 {
		more := key > string(k.last)
		k.byBytes = k.byBytes && more
		k.byLength = k.byLength && (len(key) > len(k.last) || len(key) == len(k.last) && more)
	}
	return k.byBytes || k.byLength
}

func (k *keys) hash(key string) uint32 { return uint32(maphash.String(k.seed, key)) }

// probe returns the first slot from i on that has the hash or is free.
func (k *keys) probe(i int, hash uint32) int {
	for mask := len(k.slots) - 1; ; i++ {
		if s := &k.slots[i&mask]; s.sample == 0 || s.hash == hash {
			return i & mask
		}
	}
}

// insert puts a sample into the table, whose key no other has.
func (k *keys) insert(s slot) {
	i := k.probe(int(s.hash), s.hash)
	for k.slots[i].sample != 0 {
		i = k.probe(i+1, s.hash)
	}
	k.slots[i] = s
}

// tabulate puts all keys into a new table. It reads all headers again, and ends with ctx.
func (k *keys) tabulate(ctx context.Context) error {
	k.slots = make([]slot, max(fewKeys, 1<<bits.Len(uint(2*k.n))))
	k.again.Reset(k.file, k.part.Size, k.off(0), scan.Sizes{First: headerRead, Usual: headerReads})
	for i := range k.n {
		if i%1024 == 0 && ctx.Err() != nil {
			return &converters.Error{Where: k.part.Name, Off: k.off(i), Err: ctx.Err()}
		}
		k.again.Skip(k.off(i) - k.again.Offset())
		key, err := k.next()
		if err != nil {
			return err
		}
		k.insert(slot{k.hash(string(key)), uint32(i + 1)})
	}
	return nil
}

func (k *keys) grow() {
	old := k.slots
	k.slots = make([]slot, 2*len(old))
	for _, s := range old {
		if s.sample != 0 {
			k.insert(s)
		}
	}
}

// off returns the offset of sample i.
func (k *keys) off(i int) int64 { return k.offs[i/chunk][i%chunk] }

// read returns the key of the sample at off, valid until the next call.
func (k *keys) read(off int64) ([]byte, error) {
	k.again.Reset(k.file, k.part.Size, off, scan.Sizes{Usual: headerReads})
	return k.next()
}

// next returns the key of the sample that begins where the window is.
func (k *keys) next() ([]byte, error) {
	var m member
	k.members.reset(&k.again, k.part, k.maxHeader)
	if _, err := k.members.next(&m); err != nil {
		return nil, err
	}
	there, _, _ := splitName(m.name)
	k.key = append(append(k.key[:0], k.prefix...), there...)
	return k.key, nil
}
