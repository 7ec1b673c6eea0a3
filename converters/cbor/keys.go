package cbor

import "strings"

// keys are strings of their own, cut from larger ones: an allocation for some hundred of
// them. One that is kept keeps up to keysBlock bytes.
type keys struct{ block strings.Builder }

const keysBlock = 4 << 10 // bytes

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
