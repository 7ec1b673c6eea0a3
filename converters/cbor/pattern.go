package cbor

import (
	"encoding/binary"
	"unicode/utf8"
)

// An outline says where in an item what a sample needs is.
type outline struct {
	size        int // of the item, bytes
	key, keyEnd int // where the text of its key is; 0: it has none
}

// A pattern is what an item has in common with those that are made like it. Most items
// are like one of the last: to compare some words then tells what a walk from head to head
// does, in a fraction of the time (BenchmarkIndex, "small").
//
// An item matches that has the same heads, small numbers aside, the same names of entries
// and ASCII in all other text. It is well-formed and within the limits then, and its key is
// where it was.
type pattern struct {
	outline
	words []maskedWord // none: it matches nothing
	used  int64        // uses of patterns up to when this one matched or was learned
}

// A maskedWord is eight bytes, in little-endian order.
type maskedWord struct{ mask, want uint64 }

const (
	wordSize    = 8   // bytes
	patternSize = 256 // bytes of the longest item that has a pattern
)

// matches reports whether b, which may be longer, begins with an item of the pattern.
func (p *pattern) matches(b []byte) bool {
	if len(p.words) == 0 || len(b) < len(p.words)*wordSize {
		return false
	}
	for i := range p.words {
		if binary.LittleEndian.Uint64(b[i*wordSize:])&p.words[i].mask != p.words[i].want {
			return false
		}
	}
	return true
}

// patterns are those of some kinds of items.
type patterns struct {
	known [4]pattern
	last  int   // that matched
	uses  int64 // so far
	due   int   // misses up to the next item that is learned; a hit counts as some
	lack  int   // hits that it takes to make up for the last that was
	idle  int   // items not to be looked at
}

// To learn costs what some hits gain, and to look for a match costs a little too: where
// items are of many kinds, few are learned, and most are not looked at.
const (
	hitsPerLearn   = 8
	missesPerLearn = 64
	idleItems      = 8 * missesPerLearn
)

// match returns the outline of the item that b begins with, if a pattern is known.
func (p *patterns) match(b []byte) (outline, bool) {
	if p.idle > 0 {
		p.idle--
		return outline{}, false
	}
	for i := range len(p.known) {
		i = (p.last + i) % len(p.known)
		if p.known[i].matches(b) {
			p.last = i
			p.use(&p.known[i])
			p.due -= missesPerLearn / hitsPerLearn
			p.lack--
			return p.known[i].outline, true
		}
	}
	return outline{}, false
}

func (p *patterns) use(q *pattern) {
	p.uses++
	q.used = p.uses
}

// missed notes an item that did not match. It reports whether to learn it.
func (p *patterns) missed() bool {
	if p.idle > 0 {
		return false
	}
	if p.due--; p.due > 0 {
		return false
	}
	if p.lack > 0 {
		p.idle, p.lack = idleItems, 0
		return false
	}
	p.due, p.lack = missesPerLearn, hitsPerLearn
	return true
}

// learn makes a pattern of a well-formed item, if it is short, without tags, and all its
// lengths are definite. The pattern takes the place of the one that was used least lately.
func (p *patterns) learn(t *forms, item []byte) {
	var b, bits [patternSize + headMax]byte
	if len(item) > patternSize {
		return
	}
	copy(b[:], item)
	o, ok := t.outline(b[:], bits[:])
	if !ok {
		return
	}
	to := &p.known[0]
	for i := range p.known {
		if p.known[i].used < to.used {
			to = &p.known[i]
		}
	}
	p.use(to)
	to.outline, to.words = o, to.words[:0]
	for at := 0; at < o.size; at += wordSize {
		mask := binary.LittleEndian.Uint64(bits[at:])
		to.words = append(to.words, maskedWord{mask, binary.LittleEndian.Uint64(b[at:]) & mask})
	}
}

// outline walks over the item that b begins with, and notes in m what it depends on.
func (t *forms) outline(b []byte, m mask) (o outline, ok bool) {
	var (
		left     = 1  // items to come
		entries  int  // of these, names and values of the entries of the item
		keyValue = -1 // entries, behind the value of the key's entry
	)
	for ; left > 0; left-- {
		from, h := o.size, t.parse(b[o.size:])
		at := from + int(h.size)
		outer := left == entries
		if outer {
			entries--
		}
		o.size = at
		if h.kind <= lastScalar {
			m.scalar(t, from, b[from])
			continue
		}
		m.set(from, at, everyBit)
		switch h.kind {
		case kindBytes, kindExtension:
			o.size += int(h.arg)
		case kindText:
			o.size += int(h.arg)
			text := b[at:o.size]
			switch name := outer && entries%2 == 1; {
			case name:
				m.set(at, o.size, everyBit)
				if string(text) == keyEntry {
					keyValue = entries - 1
				}
			case outer && entries == keyValue:
				o.key, o.keyEnd = at, o.size
				fallthrough
			default:
				m.text(at, text)
			}
		case kindArray:
			left += int(h.arg)
		case kindMap:
			left += 2 * int(h.arg)
			if from == 0 {
				entries = 2 * int(h.arg)
			}
		case kindSimple:
		default:
			return o, false
		}
	}
	return o, true
}

// A mask says which bits of an item's bytes matter.
type mask []byte

const (
	highBit  = 1 << 7
	everyBit = 1<<8 - 1
)

// set notes which bits of the bytes from from up to to matter.
func (m mask) set(from, to int, bits byte) {
	for i := from; i < to; i++ {
		m[i] = bits
	}
}

// text notes the text at from. Any other of ASCII may be there, if it is such.
func (m mask) text(from int, text []byte) {
	bits := byte(highBit)
	for _, c := range text {
		if c >= utf8.RuneSelf {
			bits = everyBit
		}
	}
	m.set(from, from+len(text), bits)
}

// scalar notes the head at from, that of a scalar, whose first byte is given. Any other
// scalar of a head as long may be there, as far as the leading bits of that byte tell it.
func (m mask) scalar(t *forms, from int, first byte) {
	bits := byte(everyBit)
	for block := 2; block < len(t); block *= 2 {
		wider := -byte(block)
		at := int(first & wider)
		for _, f := range t[at : at+block] {
			if f.kind > lastScalar || f.size != t[first].size {
				m.set(from, from+1, bits)
				return
			}
		}
		bits = wider
	}
	m.set(from, from+1, bits)
}
