package cbor

import (
	"fmt"
	"unicode/utf8"

	"github.com/ffconvert/ffconvert/internal/text"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
	"github.com/ffconvert/ffconvert/internal/heads"
)

// Hints of refusals.
const (
	hintDepth = "option max-depth"
	hintItem  = "option max-item-size"
	hintName  = "option max-name-size"
	hintRaw   = "option encode raw keeps the item's own bytes"
)

// A scanner parses the data items of one part, for Index and for Read, so that both accept the same
// items.
type scanner struct {
	scan.Window
	opts      *Options
	forms     *heads.Forms
	part      string      // its name, for errors
	whole     bool        // hold the whole item in the window, as Read does
	loadItem  bool        // Options.Load(ItemField)
	mostHeads int64       // limit of heads, if values are decoded
	quickly   bool        // try quick first
	marks     *scan.Marks // of the part; nil: Read, for which Index has compared them

	ordinal int64 // of the item in the part
	start   int64 // offset of the item in the part, bytes
	depth   int   // maps and tags around the items on stack
	stack   []frame
	heads   int64 // of the item so far

	batch    scan.Batch
	sample   *converters.Sample // the one that is made, in batch
	before   int64              // size of the item before; -1: none, or one with a key
	missed   bool               // the next item is known to match no pattern
	keyed    bool               // the item has a key
	keys     keys
	patterns patterns
	names    names
	spots    []spot // of text and bytes
	copied   []byte // bytes of fields, if the item is not held whole
}

// A frame is an array, map or tag that is not complete yet.
type frame struct {
	kind heads.Kind
	left uint64 // items that remain, the current one included; for an open one, items before the current one
}

func (f frame) open() bool { return f.kind == heads.OpenArray || f.kind == heads.OpenMap }

// head consumes one head.
func (s *scanner) head() (heads.Head, error) {
	if s.Unread() < heads.Max {
		return s.headAtEdge()
	}
	h := s.forms.Parse(s.Buf[s.Pos:])
	s.Pos += int(h.Size)
	return h, nil
}

// headAtEdge is head if the window has fewer bytes than the longest head. It asks the window for the
// bytes of the head only.
func (s *scanner) headAtEdge() (heads.Head, error) {
	if err := s.need(1); err != nil {
		return heads.Head{}, err
	}
	if err := s.need(uint64(s.forms.Of(s.Buf[s.Pos]).Size)); err != nil {
		return heads.Head{}, err
	}
	var b [heads.Max]byte
	copy(b[:], s.Buf[s.Pos:])
	h := s.forms.Parse(b[:])
	s.Pos += int(h.Size)
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
func (s *scanner) walk(h heads.Head) error {
	s.stack = s.stack[:0]
	for {
		s.heads++
		opened := false
		var err error
		if h.Kind > heads.Null {
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
func (s *scanner) content(h heads.Head) (opened bool, err error) {
	switch h.Kind {
	case heads.Bytes, heads.Extension:
		return false, s.skip(h.Arg)
	case heads.Text:
		return false, s.text(h.Arg)
	case heads.ChunkedBytes:
		return false, s.chunks(heads.Bytes)
	case heads.ChunkedText:
		return false, s.chunks(heads.Text)
	case heads.Simple:
		if h.Size > 1 && h.Arg < 32 {
			return false, s.malformed("simple value %d in two bytes", h.Arg)
		}
		return false, nil
	case heads.Break:
		if len(s.stack) == 0 || !s.stack[len(s.stack)-1].open() {
			return false, s.malformed("a break that ends nothing")
		}
		if top := s.stack[len(s.stack)-1]; top.kind == heads.OpenMap && top.left%2 == 1 {
			return false, s.malformed("a map that ends between a key and its value")
		}
		s.stack = s.stack[:len(s.stack)-1]
		return false, nil
	case heads.Reserved:
		return false, s.malformed("the byte %#02x begins no item", h.Arg)
	}
	if s.depth+len(s.stack) >= s.opts.MaxDepth {
		return false, s.tooDeep()
	}
	n, err := s.items(h)
	if err != nil {
		return false, err
	}
	f := frame{kind: h.Kind, left: n}
	if n == 0 && !f.open() {
		return false, nil
	}
	s.stack = append(s.stack, f)
	return true, nil
}

// items returns the number of items that follow the head of an array, map or tag, 0 for an open one.
// It checks that the part has a byte for each.
func (s *scanner) items(h heads.Head) (n uint64, err error) {
	switch h.Kind {
	case heads.Tag:
		n = 1
	case heads.Array:
		n = h.Arg
	case heads.Map:
		if err := s.claim(h.Arg); err != nil { // before doubling, which may overflow
			return 0, err
		}
		n = 2 * h.Arg
	}
	return n, s.claim(n)
}

// chunks consumes strings of one kind and the break after them.
func (s *scanner) chunks(of heads.Kind) error {
	for {
		h, err := s.head()
		switch {
		case err != nil:
		case h.Kind == heads.Break:
			return nil
		case h.Kind != of:
			err = s.malformed("a chunk that is not a string of its string's type")
		case of == heads.Text:
			err = s.text(h.Arg)
		default:
			err = s.skip(h.Arg)
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
