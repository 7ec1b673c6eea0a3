package cbor

import "strings"

// keys allocates strings in blocks, one allocation for some hundred keys. A key that stays referenced
// keeps its block of keysBlock bytes in memory.
type keys struct{ block strings.Builder }

const keysBlock = 4 << 10 // bytes

// keep returns a copy of b.
func (k *keys) keep(b []byte) string {
	if len(b) > keysBlock/4 {
		return string(b)
	}
	at := k.block.Len()
	if k.block.Cap()-at < len(b) {
		k.block.Reset()
		k.block.Grow(keysBlock)
		at = 0
	}
	k.block.Write(b)
	return k.block.String()[at:]
}
