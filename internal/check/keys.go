package check

import (
	"hash/maphash"
	"unicode"
	"unicode/utf8"
)

// A keyHash has two hashes of the key of a sample. Both are 0 for a sample without a key.
type keyHash struct {
	fold  uint64 // hash of the case-folded key
	exact uint64 // hash of the key
}

// folded appends key to b with each letter replaced by the least of its case variants (Unicode
// simple folding). Bytes that are not UTF-8 stay unchanged.
func folded(b []byte, key string) []byte {
	for i := 0; i < len(key); {
		if c := key[i]; c < utf8.RuneSelf {
			if 'a' <= c && c <= 'z' {
				c -= 'a' - 'A'
			}
			b = append(b, c)
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(key[i:])
		if r == utf8.RuneError && n == 1 {
			b = append(b, key[i])
		} else {
			least := r
			for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
				least = min(least, next)
			}
			b = utf8.AppendRune(b, least)
		}
		i += n
	}
	return b
}

// partKeys holds the key hashes of a part; the hash of a sample is at its ordinal minus before. The hashes are in
// pieces of keysPiece, so that growing copies at most one piece and wastes less than one.
type partKeys struct {
	pieces   [][]keyHash
	before   int64 // samples before the first one with a key
	reported bool  // the source reports repeated keys within the part
}

const keysPiece = 8192

// add adds a key. The seed is random, so that a dataset cannot be made to have colliding hashes.
func (p *partKeys) add(key string, seed maphash.Seed) {
	if key == "" && len(p.pieces) == 0 {
		p.before++
		return
	}
	var hash keyHash
	if key != "" {
		var buf [256]byte
		hash = keyHash{maphash.Bytes(seed, folded(buf[:0], key)), maphash.String(seed, key)}
	}
	last := len(p.pieces) - 1
	if last < 0 || len(p.pieces[last]) == keysPiece {
		var room int // the first piece grows as needed
		if last >= 0 {
			room = keysPiece
		}
		p.pieces = append(p.pieces, make([]keyHash, 0, room))
		last++
	}
	p.pieces[last] = append(p.pieces[last], hash)
}
