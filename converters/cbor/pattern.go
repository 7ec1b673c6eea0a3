package cbor

import (
	"encoding/binary"
	"unicode/utf8"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/heads"
)

// An outline has the size of an item and the place of its key.
type outline struct {
	size        int // of the item, bytes
	key, keyEnd int // place of the text of its key; 0: none
}

// A pattern describes items of one structure. Most items have the structure of a recent one, and
// comparing a few words takes a fraction of the time of a walk from head to head (BenchmarkIndex,
// "small").
//
// An item matches if it has the same heads, except for small numbers, the same names of entries, and
// ASCII in all other text. Such an item is well-formed and within the limits, and its key is in the
// same place.
type pattern struct {
	outline
	words []maskedWord // empty: it does not match anything
	used  int64        // patterns.uses when this one last matched or was learned
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

// patterns has a pattern for each of the most recent structures.
type patterns struct {
	known [4]pattern
	last  int   // index of the one that matched last
	uses  int64 // number of matches and of items learned
	due   int   // misses until the next item is learned; a hit reduces it too
	lack  int   // hits still needed to gain what the last learning cost
	idle  int   // items until matching is tried again
}

// Learning costs as much as several hits gain, and matching costs a little too. If the items have many
// structures, few items are learned and most are not matched.
const (
	hitsPerLearn   = 8
	missesPerLearn = 64
	idleItems      = 8 * missesPerLearn
)

// match returns the outline of the item at the start of b, if it has a known pattern.
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

// use records that q was matched or learned.
func (p *patterns) use(q *pattern) {
	p.uses++
	q.used = p.uses
}

// missed records an item that did not match. It reports whether to learn it.
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

// learn makes a pattern of a well-formed item, if the item is short, without tags, and with definite
// lengths only. The pattern replaces the least recently used one.
func (p *patterns) learn(t *heads.Forms, item []byte) {
	var b, bits [patternSize + heads.Max]byte
	if len(item) > patternSize {
		return
	}
	copy(b[:], item)
	o, ok := outlineOf(t, b[:], bits[:])
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

// outlineOf returns the outline of the item at the start of b, and sets in m the bits that determine it.
func outlineOf(t *heads.Forms, b []byte, m mask) (o outline, ok bool) {
	var (
		left     = 1  // items that remain
		entries  int  // of these, names and values of the entries of the outermost map
		keyValue = -1 // what entries will be after the value of the key's entry
	)
	for ; left > 0; left-- {
		from, h := o.size, t.Parse(b[o.size:])
		at := from + int(h.Size)
		outer := left == entries
		if outer {
			entries--
		}
		o.size = at
		if h.Kind <= heads.Null {
			m.scalar(t, from, b[from])
			continue
		}
		m.set(from, at, everyBit)
		switch h.Kind {
		case heads.Bytes, heads.Extension:
			o.size += int(h.Arg)
		case heads.Text:
			o.size += int(h.Arg)
			text := b[at:o.size]
			switch name := outer && entries%2 == 1; {
			case name:
				m.set(at, o.size, everyBit)
				if string(text) == converters.KeyField {
					keyValue = entries - 1
				}
			case outer && entries == keyValue:
				o.key, o.keyEnd = at, o.size
				fallthrough
			default:
				m.text(at, text)
			}
		case heads.Array:
			left += int(h.Arg)
		case heads.Map:
			left += 2 * int(h.Arg)
			if from == 0 {
				entries = 2 * int(h.Arg)
			}
		case heads.Simple:
		default:
			return o, false
		}
	}
	return o, true
}

// A mask has the significant bits of each byte of an item.
type mask []byte

const (
	highBit  = 1 << 7
	everyBit = 1<<8 - 1
)

// set marks these bits of the bytes from from to to-1.
func (m mask) set(from, to int, bits byte) {
	for i := from; i < to; i++ {
		m[i] = bits
	}
}

// text marks the text at from. ASCII matches any other ASCII of the same length.
func (m mask) text(from int, text []byte) {
	bits := byte(highBit)
	for _, c := range text {
		if c >= utf8.RuneSelf {
			bits = everyBit
		}
	}
	m.set(from, from+len(text), bits)
}

// scalar marks the first byte of a scalar's head, at from: as few leading bits as ensure a scalar with
// a head of the same size.
func (m mask) scalar(t *heads.Forms, from int, first byte) {
	bits := byte(everyBit)
	for block := 2; block < len(t); block *= 2 {
		wider := -byte(block)
		at := int(first & wider)
		for i := at; i < at+block; i++ {
			if h := t.Of(byte(i)); h.Kind > heads.Null || h.Size != t.Of(first).Size {
				m.set(from, from+1, bits)
				return
			}
		}
		bits = wider
	}
	m.set(from, from+1, bits)
}
