package cbor

import "strings"

const keysBlock = 4 << 10 // bytes

// keep returns a copy of a key in a block of keysBlock bytes: one allocation for some hundred keys. A key that stays referenced
// keeps its block in memory.
func keep(block *strings.Builder, key []byte) string {
	if len(key) > keysBlock/4 {
		return string(key)
	}
	at := block.Len()
	if block.Cap()-at < len(key) {
		block.Reset()
		block.Grow(keysBlock)
		at = 0
	}
	block.Write(key)
	return block.String()[at:]
}
