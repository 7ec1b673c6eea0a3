package cbor

import (
	"fmt"
	"unicode/utf8"

	"github.com/ffconvert/ffconvert/internal/text"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/endmark"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
)

// Hints of refusals.
const (
	hintDepth = "Options.MaxDepth"
	hintItem  = "Options.MaxItem"
	hintName  = "Options.MaxName"
	hintRaw   = "Options.Items keeps the item's own bytes"
)

// A scanner parses the data items of one part, for Index and for Read, so that both accept the same
// items.
type scanner struct {
	scan.Window
	opts      *Options
	forms     *forms
	part      string         // its name, for errors
	whole     bool           // hold the whole item in the window, as Read does
	loadItem  bool           // Options.Load(ItemField)
	mostHeads int64          // limit of heads, if values are decoded
	quickly   bool           // try quick first
	marks     *endmark.Marks // of the part; nil: Read, for which Index has compared them

	ordinal int64 // of the item in the part
	start   int64 // offset of the item in the part, bytes
	depth   int   // maps and tags around the items on stack
	stack   []frame
	heads   int64 // of the item so far

	spans    [1]converters.Span // with sample as its shape
	before   int64              // size of the item before; -1: none, or one with a key
	sample   converters.Sample
	keyed    bool // the item has a key
	keys     keys
	patterns patterns
	names    names
	spots    []spot // of text and bytes
	copied   []byte // bytes of fields, if the item is not held whole
}

// A frame is an array, map or tag that is not complete yet.
type frame struct {
	kind kind
	left uint64 // items that remain, the current one included; for an open one, items before the current one
}

func (f frame) open() bool { return f.kind == kindOpenArray || f.kind == kindOpenMap }

// head consumes one head.
func (s *scanner) head() (head, error) {
	if s.Unread() < headMax {
		return s.headAtEdge()
	}
	h := s.forms.parse(s.Buf[s.Pos:])
	s.Pos += int(h.size)
	return h, nil
}

// headAtEdge is head if the window has fewer bytes than the longest head. It asks the window for the
// bytes of the head only.
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

// claim checks that n more bytes are within the part and the limit of an item.
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

// need reads until the window has n bytes.
func (s *scanner) need(n uint64) error {
	if err := s.claim(n); err != nil {
		return err
	}
	if err := s.Fill(int(n)); err != nil {
		return s.fail(err, "")
	}
	return nil
}

// skip consumes n bytes. It reads them only if they are held.
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

// text consumes n bytes of text.
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

// longText is text if the window has fewer bytes. Text that is not held is read in pieces.
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

// wholeRunes returns b without an incomplete rune at its end. b must have utf8.UTFMax bytes or more.
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

// walk consumes a data item after its head h.
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

// complete removes frames that end with the item just consumed. It reports whether none is left.
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

// content consumes the content of an item after its head. If the content is other items, it pushes a
// frame and opened is true.
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

// items returns the number of items that follow the head of an array, map or tag, 0 for an open one.
// It checks that the part has a byte for each.
func (s *scanner) items(h head) (n uint64, err error) {
	switch h.kind {
	case kindTag:
		n = 1
	case kindArray:
		n = h.arg
	case kindMap:
		if err := s.claim(h.arg); err != nil { // before doubling, which may overflow
			return 0, err
		}
		n = 2 * h.arg
	}
	return n, s.claim(n)
}

// chunks consumes strings of one kind and the break after them.
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
	return s.fail(fmt.Errorf("%w: the item has more than %s", converters.ErrLimit, text.Count(s.opts.MaxItem, "byte")), hintItem)
}

// malformed returns an error about the bytes at the current place or just before it.
func (s *scanner) malformed(format string, args ...any) error {
	return s.fail(fmt.Errorf("%w: near byte %d of the item: %s", converters.ErrMalformed, s.Offset()-s.start, fmt.Sprintf(format, args...)), "")
}

// fail places an error at the current item.
func (s *scanner) fail(err error, hint string) error {
	return &converters.Error{Where: s.part, Off: s.start, Entry: fmt.Sprint("item ", s.ordinal), Err: err, Hint: hint}
}
