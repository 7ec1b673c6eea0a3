package cbor

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
)

// A generator makes random items, in all the ways that they can be written. It is no
// part of what it tests: it writes bytes from the specifications' tables.
type generator struct {
	*rand.Rand
	pack bool // MessagePack
	any  bool // what has no form in Go too: tags, extensions, simple values, bytes as keys
}

// sequence is up to 20 items, half of them samples of fields.
func (g generator) sequence() (b []byte) {
	names := g.names(1 + g.IntN(40))
	for i := range g.IntN(20) {
		if g.IntN(2) == 0 {
			b = g.value(b, 0)
			continue
		}
		n := g.IntN(len(names) + 1)
		key := g.IntN(n + 2) // where it comes; n+1: nowhere
		size := n
		if key <= n {
			size++
		}
		var open bool
		b, open = g.begin(b, size, true)
		for at := range n + 1 {
			if at == key {
				b = g.text(b, "__key__", false)
				b = g.text(b, fmt.Sprint("key-", i), false)
			}
			if at < n {
				b = g.text(b, names[at], false)
				b = g.value(b, 1)
			}
		}
		if open {
			b = append(b, 0xff)
		}
		if g.IntN(4) == 0 {
			g.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		}
		if i == 0 {
			names = g.names(1 + g.IntN(5))
		}
	}
	return b
}

func (g generator) names(n int) (names []string) {
	for i := range n {
		names = append(names, [...]string{"x", "grüß", "image.jpg", "__url__", "漢"}[g.IntN(5)]+fmt.Sprint(i))
	}
	return names
}

// value appends one item that is depth deep in others.
func (g generator) value(b []byte, depth int) []byte {
	n := 12
	if depth > 3 {
		n = 8
	}
	switch g.IntN(n) {
	case 0, 1:
		return g.number(b, g.Uint64()>>g.IntN(64))
	case 2:
		return g.negative(b, g.Uint64()>>(1+g.IntN(63)))
	case 3:
		return g.float(b)
	case 4, 5:
		return g.bytes(b, g.size())
	case 6:
		return g.text(b, g.words(), true)
	case 7:
		return g.other(b, depth)
	case 8, 9:
		n := g.IntN(8)
		b, open := g.begin(b, n, false)
		for range n {
			b = g.value(b, depth+1)
		}
		if open {
			b = append(b, 0xff)
		}
		return b
	}
	n = g.IntN(8)
	b, open := g.begin(b, n, true)
	mixed := g.IntN(3) == 0
	for i := range n { // no two keys are equal, in Python's eyes neither
		switch k := g.IntN(5); {
		case mixed && k == 0:
			b = g.number(b, uint64(1000+i))
		case mixed && k == 1:
			b = g.negative(b, uint64(1000+i))
		case mixed && k == 2 && g.any:
			b = g.bytes(b, 20+i)
		default:
			b = g.text(b, fmt.Sprint(g.words(), i), depth > 0) // no field has a name in chunks
		}
		b = g.value(b, depth+1)
	}
	if open {
		b = append(b, 0xff)
	}
	return b
}

// size is that of a string: small mostly, at times larger than a read.
func (g generator) size() int {
	return [...]int{0, 1, 5, 23, 24, 31, 32, 100, 255, 256, 3000, smallRead, 70_000}[min(g.IntN(14), g.IntN(14), g.IntN(14), 12)]
}

func (g generator) words() string {
	var s []byte
	for range g.IntN(4) * g.IntN(8) {
		s = append(s, [...]string{"a", "ü", "漢", "🂡", "x", " "}[g.IntN(6)]...)
	}
	return string(s)
}

// other is what is left: nothing, truth, and what only one of the formats has.
func (g generator) other(b []byte, depth int) []byte {
	k := g.IntN(7)
	switch {
	case g.pack && k < 3:
		return append(b, [...]byte{0xc0, 0xc2, 0xc3}[k])
	case g.pack && g.any:
		n := [...]int{1, 2, 4, 8, 16, 0, 3, 300}[g.IntN(8)]
		switch f := g.IntN(2); {
		case n > 0 && n&(n-1) == 0 && f == 0:
			b = append(b, 0xd4+byte(math.Log2(float64(n))))
		case n < 256 && f == 0:
			b = append(b, 0xc7, byte(n))
		default:
			b = binary.BigEndian.AppendUint16(append(b, 0xc8), uint16(n))
		}
		return g.noise(append(b, byte(1+g.IntN(100))), n)
	case g.pack:
		return append(b, 0xc3)
	case k < 3:
		return append(b, 0xf4+byte(k))
	case k == 3 && g.any: // undefined
		return append(b, 0xf7)
	case k == 4: // a big integer that is none
		return g.noise(g.head(append(b, 0xc2+byte(g.IntN(2))), 2, 7), 7)
	case k == 5 && g.any:
		return g.value(g.head(b, 6, 10_000+g.Uint64N(1<<40)), depth+1)
	case k == 6 && g.any:
		return append(b, 0xf8, byte(32+g.IntN(224)))
	}
	return g.value(append(b, 0xd9, 0xd9, 0xf7), depth)
}

func (g generator) noise(b []byte, n int) []byte {
	for range n {
		b = append(b, byte(g.Uint32()))
	}
	return b
}

// head is one of CBOR, not always the shortest.
func (g generator) head(b []byte, major byte, n uint64) []byte {
	switch k := g.IntN(8); {
	case n < 24 && k < 4:
		return append(b, major<<5|byte(n))
	case n <= math.MaxUint8 && k < 5:
		return append(b, major<<5|24, byte(n))
	case n <= math.MaxUint16 && k < 6:
		return binary.BigEndian.AppendUint16(append(b, major<<5|25), uint16(n))
	case n <= math.MaxUint32 && k < 7:
		return binary.BigEndian.AppendUint32(append(b, major<<5|26), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(b, major<<5|27), n)
}

// packed is a head of MessagePack with the shortest argument that code has, or a longer
// one. codes are those of 1, 2, 4 and 8 bytes; 0: there is none.
func (g generator) packed(b []byte, codes [4]byte, n uint64) []byte {
	for i, code := range codes {
		bits := 8 << i
		if code == 0 || bits < 64 && n>>bits > 0 || i < 2 && g.IntN(4) == 0 {
			continue
		}
		b = append(b, code)
		for at := bits - 8; at >= 0; at -= 8 {
			b = append(b, byte(n>>at))
		}
		return b
	}
	panic("no code is long enough")
}

func (g generator) number(b []byte, n uint64) []byte {
	switch {
	case !g.pack:
		return g.head(b, 0, n)
	case n < 128 && g.IntN(2) == 0:
		return append(b, byte(n))
	case n < 128 && g.IntN(2) == 0:
		return append(b, 0xd0, byte(n))
	}
	return g.packed(b, [4]byte{0xcc, 0xcd, 0xce, 0xcf}, n)
}

// negative is −1−n; n is less than 2⁶³.
func (g generator) negative(b []byte, n uint64) []byte {
	switch {
	case !g.pack:
		return g.head(b, 1, n)
	case n < 32 && g.IntN(2) == 0:
		return append(b, ^byte(n))
	case n < 1<<7 && g.IntN(4) > 0:
		return append(b, 0xd0, ^byte(n))
	case n < 1<<15 && g.IntN(4) > 0:
		return binary.BigEndian.AppendUint16(append(b, 0xd1), ^uint16(n))
	case n < 1<<31 && g.IntN(4) > 0:
		return binary.BigEndian.AppendUint32(append(b, 0xd2), ^uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(b, 0xd3), ^n)
}

func (g generator) float(b []byte) []byte {
	codes := [...]byte{0xf9, 0xfa, 0xfb}
	if g.pack {
		codes = [...]byte{0xcb, 0xca, 0xcb}
	}
	k := g.IntN(3)
	b = append(b, codes[k])
	switch {
	case k == 0 && !g.pack:
		return binary.BigEndian.AppendUint16(b, uint16(g.Uint32()))
	case k == 1:
		return binary.BigEndian.AppendUint32(b, g.Uint32())
	}
	return binary.BigEndian.AppendUint64(b, g.Uint64())
}

func (g generator) bytes(b []byte, n int) []byte {
	switch {
	case g.pack:
		return g.noise(g.packed(b, [4]byte{0xc4, 0xc5, 0xc6}, uint64(n)), n)
	case g.IntN(8) > 0:
		return g.noise(g.head(b, 2, uint64(n)), n)
	}
	b = append(b, 0x5f)
	for range g.IntN(4) {
		b = g.noise(g.head(b, 2, uint64(n)), n)
	}
	return append(b, 0xff)
}

func (g generator) text(b []byte, s string, chunks bool) []byte {
	switch {
	case g.pack && len(s) < 32 && g.IntN(2) == 0:
		return append(append(b, 0xa0|byte(len(s))), s...)
	case g.pack:
		return append(g.packed(b, [4]byte{0xd9, 0xda, 0xdb}, uint64(len(s))), s...)
	case !chunks || g.IntN(8) > 0:
		return append(g.head(b, 3, uint64(len(s))), s...)
	}
	b = append(b, 0x7f)
	for _, r := range s {
		b = g.text(b, string(r), false)
	}
	return append(b, 0xff)
}

// begin is the head of a list or a map of n; open: a break is to follow.
func (g generator) begin(b []byte, n int, pairs bool) (_ []byte, open bool) {
	k := byte(0)
	if pairs {
		k = 1
	}
	switch {
	case g.pack && n < 16 && g.IntN(2) == 0:
		return append(b, 0x90-k<<4|byte(n)), false
	case g.pack:
		return g.packed(b, [4]byte{0, 0xdc + 2*k, 0xdd + 2*k}, uint64(n)), false
	case g.IntN(4) > 0:
		return g.head(b, 4+k, uint64(n)), false
	}
	return append(b, 0x9f+k<<5), true
}
