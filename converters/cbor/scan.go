package cbor

import (
	"fmt"
	"unicode/utf8"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/window"
)

// What to do about a refusal.
const (
	hintDepth = "--max-depth"
	hintItem  = "--max-item-size"
	hintName  = "--max-name-size"
	hintRaw   = "--encode raw keeps the item's own bytes"
)

// A scanner walks the data items of one part. Index and Read both run it: there is one
// set of rules.
type scanner struct {
	window.Window
	opts      *Options
	forms     *forms
	part      string // its name, for errors
	whole     bool   // hold every item from its first byte, as Read does
	loadItem  bool   // Options.Load of ItemField
	mostHeads int64  // in an item whose values are decoded
	quickly   bool   // try quick first

	ordinal int64 // of the item in the part
	start   int64 // where it begins in the part, bytes
	depth   int   // maps and tags that the bottom of stack is in
	stack   []frame
	heads   int64 // of the item, about

	sample   converters.Sample
	keyed    bool // the item has a key
	keys     keys
	patterns patterns
	names    names
	spots    []spot // of the fields whose bytes are held or copied
	copied   []byte // bytes of fields, where the item is not held whole
}

// A frame is an array, map or tag that is not complete.
type frame struct {
	kind kind
	left uint64 // items to come, with the one at hand; of an open one: items so far, that one left out
}

func (f frame) open() bool { return f.kind == kindOpenArray || f.kind == kindOpenMap }

// head passes one head.
func (s *scanner) head() (head, error) {
	if s.Unread() < headMax {
		return s.headAtEdge()
	}
	h := s.forms.parse(s.Buf[s.Pos:])
	s.Pos += int(h.size)
	return h, nil
}

// headAtEdge is head where less bytes are at hand than one may have. It reads no byte
// behind the head that a read of the usual size does not bring.
func (s *scanner) headAtEdge() (head, error) {
	if err := s.need(1); err != nil {
		return head{}, err
	}
	if err := s.need(uint64(s.forms[s.Buf[s.Pos]].size)); err != nil {
		return head{}, err
	}
	var b [headMax]byte
	copy(b[:], s.Buf[s.Pos:])
	h := s.forms.parse(b[:])
	s.Pos += int(h.size)
	return h, nil
}

// claim checks that the item can have n bytes more.
func (s *scanner) claim(n uint64) error {
	at := s.Offset() - s.start
	if left := s.Size - s.Offset(); n > uint64(left) {
		return s.fail(fmt.Errorf("%w: byte %d of the item wants %d more, the part has %d", converters.ErrTruncated, at, n, left), "")
	}
	if int64(n) > s.opts.MaxItem-at {
		return s.tooLarge()
	}
	return nil
}

// need brings n bytes to hand.
func (s *scanner) need(n uint64) error {
	if err := s.claim(n); err != nil {
		return err
	}
	if err := s.Fill(int(n)); err != nil {
		return s.fail(err, "")
	}
	return nil
}

// skip passes n bytes, and reads them only where they are held.
func (s *scanner) skip(n uint64) error {
	if n <= uint64(s.Unread()) {
		s.Pos += int(n)
		return nil
	}
	if err := s.claim(n); err != nil {
		return err
	}
	if !s.Holds() {
		s.Skip(int64(n))
		return nil
	}
	if err := s.Fill(int(n)); err != nil {
		return s.fail(err, "")
	}
	s.Pos += int(n)
	return nil
}

// text passes n bytes of text.
func (s *scanner) text(n uint64) error {
	if n > uint64(s.Unread()) {
		return s.longText(n)
	}
	if !utf8.Valid(s.Buf[s.Pos : s.Pos+int(n)]) {
		return s.notUTF8()
	}
	s.Pos += int(n)
	return nil
}

// longText is text where less is at hand. What is not held is read in pieces.
func (s *scanner) longText(n uint64) error {
	if err := s.claim(n); err != nil {
		return err
	}
	if s.Holds() {
		if err := s.need(n); err != nil {
			return err
		}
	}
	for n > 0 {
		if s.Unread() < utf8.UTFMax {
			if err := s.need(min(n, utf8.UTFMax)); err != nil {
				return err
			}
		}
		b := s.Buf[s.Pos:]
		if uint64(len(b)) >= n {
			b = b[:n]
		} else {
			b = wholeRunes(b)
		}
		if !utf8.Valid(b) {
			return s.notUTF8()
		}
		s.Pos += len(b)
		n -= uint64(len(b))
	}
	return nil
}

// wholeRunes cuts a rune that is not complete off the end of b, which has utf8.UTFMax
// bytes or more.
func wholeRunes(b []byte) []byte {
	for i := len(b) - 1; i > len(b)-utf8.UTFMax; i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				return b[:i]
			}
			break
		}
	}
	return b
}

// walk passes the rest of a data item, whose head has been passed.
func (s *scanner) walk(h head) error {
	s.stack = s.stack[:0]
	for {
		s.heads++
		opened := false
		var err error
		if h.kind > lastScalar {
			if opened, err = s.content(h); err != nil {
				return err
			}
		}
		if !opened && s.complete() {
			return nil
		}
		if h, err = s.head(); err != nil {
			return err
		}
	}
}

// complete notes that an item is, and with it perhaps those around it. It reports
// whether all are.
func (s *scanner) complete() bool {
	for len(s.stack) > 0 {
		top := &s.stack[len(s.stack)-1]
		if top.open() {
			top.left++
			return false
		}
		if top.left--; top.left > 0 {
			return false
		}
		s.stack = s.stack[:len(s.stack)-1]
	}
	return true
}

// content passes what follows a head up to where the item is complete, or the next head
// is that of an item in it: then opened is true.
func (s *scanner) content(h head) (opened bool, err error) {
	switch h.kind {
	case kindBytes, kindExtension:
		return false, s.skip(h.arg)
	case kindText:
		return false, s.text(h.arg)
	case kindChunkedBytes:
		return false, s.chunks(kindBytes)
	case kindChunkedText:
		return false, s.chunks(kindText)
	case kindSimple:
		if h.size > 1 && h.arg < 32 {
			return false, s.malformed("simple value %d in two bytes", h.arg)
		}
		return false, nil
	case kindBreak:
		if len(s.stack) == 0 || !s.stack[len(s.stack)-1].open() {
			return false, s.malformed("a break that ends nothing")
		}
		if top := s.stack[len(s.stack)-1]; top.kind == kindOpenMap && top.left%2 == 1 {
			return false, s.malformed("a map that ends between a key and its value")
		}
		s.stack = s.stack[:len(s.stack)-1]
		return false, nil
	case kindReserved:
		return false, s.malformed("the byte %#02x begins no item", h.arg)
	}
	if s.depth+len(s.stack) >= s.opts.MaxDepth {
		return false, s.tooDeep()
	}
	n, err := s.items(h)
	if err != nil {
		return false, err
	}
	f := frame{kind: h.kind, left: n}
	if n == 0 && !f.open() {
		return false, nil
	}
	s.stack = append(s.stack, f)
	return true, nil
}

// items returns how many items follow the head of an array, map or tag, 0 for an open
// one, and checks that there can be so many: each has one byte at the least.
func (s *scanner) items(h head) (n uint64, err error) {
	switch h.kind {
	case kindTag:
		n = 1
	case kindArray:
		n = h.arg
	case kindMap:
		if err := s.claim(h.arg); err != nil { // else twice as many might be no number
			return 0, err
		}
		n = 2 * h.arg
	}
	return n, s.claim(n)
}

// chunks passes strings of one kind up to a break.
func (s *scanner) chunks(of kind) error {
	for {
		h, err := s.head()
		switch {
		case err != nil:
		case h.kind == kindBreak:
			return nil
		case h.kind != of:
			err = s.malformed("a chunk that is not a string of its string's type")
		case of == kindText:
			err = s.text(h.arg)
		default:
			err = s.skip(h.arg)
		}
		if err != nil {
			return err
		}
	}
}

func (s *scanner) notUTF8() error { return s.malformed("text that is not UTF-8") }

func (s *scanner) tooDeep() error {
	return s.fail(fmt.Errorf("%w: at byte %d, more than %d arrays, maps and tags one inside the other", converters.ErrLimit, s.Offset()-s.start, s.opts.MaxDepth), hintDepth)
}

func (s *scanner) tooLarge() error {
	return s.fail(fmt.Errorf("%w: the item has more than %d bytes", converters.ErrLimit, s.opts.MaxItem), hintItem)
}

// malformed refuses what is at the place or the head before it.
func (s *scanner) malformed(format string, args ...any) error {
	return s.fail(fmt.Errorf("%w: near byte %d of the item: %s", converters.ErrMalformed, s.Offset()-s.start, fmt.Sprintf(format, args...)), "")
}

// fail places an error at the item.
func (s *scanner) fail(err error, hint string) error {
	return &converters.Error{Where: s.part, Off: s.start, Entry: fmt.Sprint("item ", s.ordinal), Err: err, Hint: hint}
}
