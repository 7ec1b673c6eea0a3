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

// A parser consumes the data items of one part: heads, and what they announce.
type parser struct {
	scan.Window
	opts    *Options
	forms   *heads.Forms
	part    string // its name, for errors
	ordinal int64  // of the item in the part
	start   int64  // offset of the item in the part, bytes
	depth   int    // maps and tags around the items on stack
	stack   []frame
	heads   int64 // of the item so far
}

// A frame is an array, map or tag that is not complete yet.
type frame struct {
	kind heads.Kind
	left uint64 // items that remain, the current one included; for an open one, items before the current one
}

func (f frame) open() bool { return f.kind == heads.OpenArray || f.kind == heads.OpenMap }

// head consumes one head.
func (p *parser) head() (heads.Head, error) {
	if p.Unread() < heads.Max {
		return p.headAtEdge()
	}
	h := p.forms.Parse(p.Buf[p.Pos:])
	p.Pos += int(h.Size)
	return h, nil
}

// headAtEdge is head if the window has fewer bytes than the longest head. It asks the window for the
// bytes of the head only.
func (p *parser) headAtEdge() (heads.Head, error) {
	if err := p.need(1); err != nil {
		return heads.Head{}, err
	}
	if err := p.need(uint64(p.forms.Of(p.Buf[p.Pos]).Size)); err != nil {
		return heads.Head{}, err
	}
	var b [heads.Max]byte
	copy(b[:], p.Buf[p.Pos:])
	h := p.forms.Parse(b[:])
	p.Pos += int(h.Size)
	return h, nil
}

// claim checks that n more bytes are within the part and the limit of an item.
func (p *parser) claim(n uint64) error {
	at := p.Offset() - p.start
	if left := p.Size - p.Offset(); n > uint64(left) {
		return p.fail(fmt.Errorf("%w: byte %d of the item wants %d more, the part has %d", converters.ErrTruncated, at, n, left), "")
	}
	if int64(n) > p.opts.MaxItem-at {
		return p.tooLarge()
	}
	return nil
}

// need reads until the window has n bytes.
func (p *parser) need(n uint64) error {
	if err := p.claim(n); err != nil {
		return err
	}
	if err := p.Fill(int(n)); err != nil {
		return p.fail(err, "")
	}
	return nil
}

// skip consumes n bytes. It reads them only if they are held.
func (p *parser) skip(n uint64) error {
	if n <= uint64(p.Unread()) {
		p.Pos += int(n)
		return nil
	}
	if err := p.claim(n); err != nil {
		return err
	}
	if !p.Holds() {
		p.Skip(int64(n))
		return nil
	}
	if err := p.Fill(int(n)); err != nil {
		return p.fail(err, "")
	}
	p.Pos += int(n)
	return nil
}

// text consumes n bytes of text.
func (p *parser) text(n uint64) error {
	if n > uint64(p.Unread()) {
		return p.longText(n)
	}
	if !utf8.Valid(p.Buf[p.Pos : p.Pos+int(n)]) {
		return p.malformed("text that is not UTF-8")
	}
	p.Pos += int(n)
	return nil
}

// longText is text if the window has fewer bytes. Text that is not held is read in pieces.
func (p *parser) longText(n uint64) error {
	if err := p.claim(n); err != nil {
		return err
	}
	if p.Holds() {
		if err := p.need(n); err != nil {
			return err
		}
	}
	for n > 0 {
		if p.Unread() < utf8.UTFMax {
			if err := p.need(min(n, utf8.UTFMax)); err != nil {
				return err
			}
		}
		b := p.Buf[p.Pos:]
		if uint64(len(b)) >= n {
			b = b[:n]
		} else {
			b = wholeRunes(b)
		}
		if !utf8.Valid(b) {
			return p.malformed("text that is not UTF-8")
		}
		p.Pos += len(b)
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
func (p *parser) walk(h heads.Head) error {
	p.stack = p.stack[:0]
	for {
		p.heads++
		opened := false
		var err error
		if h.Kind > heads.Null {
			if opened, err = p.content(h); err != nil {
				return err
			}
		}
		if !opened && p.complete() {
			return nil
		}
		if h, err = p.head(); err != nil {
			return err
		}
	}
}

// complete removes frames that end with the item just consumed. It reports whether none is left.
func (p *parser) complete() bool {
	for len(p.stack) > 0 {
		top := &p.stack[len(p.stack)-1]
		if top.open() {
			top.left++
			return false
		}
		if top.left--; top.left > 0 {
			return false
		}
		p.stack = p.stack[:len(p.stack)-1]
	}
	return true
}

// content consumes the content of an item after its head. If the content is other items, it pushes a
// frame and opened is true.
func (p *parser) content(h heads.Head) (opened bool, err error) {
	switch h.Kind {
	case heads.Bytes, heads.Extension:
		return false, p.skip(h.Arg)
	case heads.Text:
		return false, p.text(h.Arg)
	case heads.ChunkedBytes:
		return false, p.chunks(heads.Bytes)
	case heads.ChunkedText:
		return false, p.chunks(heads.Text)
	case heads.Simple:
		if h.Size > 1 && h.Arg < 32 {
			return false, p.malformed("simple value %d in two bytes", h.Arg)
		}
		return false, nil
	case heads.Break:
		if len(p.stack) == 0 || !p.stack[len(p.stack)-1].open() {
			return false, p.malformed("a break that ends nothing")
		}
		if top := p.stack[len(p.stack)-1]; top.kind == heads.OpenMap && top.left%2 == 1 {
			return false, p.malformed("a map that ends between a key and its value")
		}
		p.stack = p.stack[:len(p.stack)-1]
		return false, nil
	case heads.Reserved:
		return false, p.malformed("the byte %#02x begins no item", h.Arg)
	}
	if p.depth+len(p.stack) >= p.opts.MaxDepth {
		return false, p.tooDeep()
	}
	n, err := p.items(h)
	if err != nil {
		return false, err
	}
	f := frame{kind: h.Kind, left: n}
	if n == 0 && !f.open() {
		return false, nil
	}
	p.stack = append(p.stack, f)
	return true, nil
}

// items returns the number of items that follow the head of an array, map or tag, 0 for an open one.
// It checks that the part has a byte for each.
func (p *parser) items(h heads.Head) (n uint64, err error) {
	switch h.Kind {
	case heads.Tag:
		n = 1
	case heads.Array:
		n = h.Arg
	case heads.Map:
		if err := p.claim(h.Arg); err != nil { // before doubling, which may overflow
			return 0, err
		}
		n = 2 * h.Arg
	}
	return n, p.claim(n)
}

// chunks consumes strings of one kind and the break after them.
func (p *parser) chunks(of heads.Kind) error {
	for {
		h, err := p.head()
		switch {
		case err != nil:
		case h.Kind == heads.Break:
			return nil
		case h.Kind != of:
			err = p.malformed("a chunk that is not a string of its string's type")
		case of == heads.Text:
			err = p.text(h.Arg)
		default:
			err = p.skip(h.Arg)
		}
		if err != nil {
			return err
		}
	}
}

// outer consumes the head of the item, and tags selfDescribed before it.
func (p *parser) outer() (heads.Head, error) {
	for {
		h, err := p.head()
		if err != nil || h.Kind != heads.Tag || h.Arg != selfDescribed {
			return h, err
		}
		if p.depth++; p.depth > p.opts.MaxDepth {
			return h, p.tooDeep()
		}
	}
}

// atKeyEntry reports whether k is the head of the text converters.KeyField, and consumes that text.
func (p *parser) atKeyEntry(k heads.Head) (bool, error) {
	if k.Kind != heads.Text || k.Arg != uint64(len(converters.KeyField)) {
		return false, nil
	}
	if p.Unread() < len(converters.KeyField) {
		if err := p.need(k.Arg); err != nil {
			return false, err
		}
	}
	if string(p.Buf[p.Pos:p.Pos+len(converters.KeyField)]) != converters.KeyField {
		return false, nil
	}
	p.Pos += len(converters.KeyField)
	return true, nil
}

// name consumes n bytes of text, a key or the name of a field, and returns them. They are valid until
// the next read.
func (p *parser) name(n uint64) ([]byte, error) {
	if n > uint64(p.opts.MaxName) {
		if err := p.claim(n); err != nil {
			return nil, err
		}
		return nil, p.fail(fmt.Errorf("%w: a key or a name of %d bytes, %d are allowed", converters.ErrLimit, n, p.opts.MaxName), hintName)
	}
	free := !p.Holds()
	p.Hold()
	if err := p.text(n); err != nil {
		return nil, err
	}
	if free {
		p.Drop()
	}
	return p.Buf[p.Pos-int(n) : p.Pos : p.Pos], nil
}

func (p *parser) tooDeep() error {
	return p.fail(fmt.Errorf("%w: at byte %d, more than %d arrays, maps and tags one inside the other", converters.ErrLimit, p.Offset()-p.start, p.opts.MaxDepth), hintDepth)
}

func (p *parser) tooLarge() error {
	return p.fail(fmt.Errorf("%w: the item has more than %s", converters.ErrLimit, text.Count(p.opts.MaxItem, "byte")), hintItem)
}

// malformed returns an error about the bytes at the current place or just before it.
func (p *parser) malformed(format string, args ...any) error {
	return p.fail(fmt.Errorf("%w: near byte %d of the item: %s", converters.ErrMalformed, p.Offset()-p.start, fmt.Sprintf(format, args...)), "")
}

// fail places an error at the current item.
func (p *parser) fail(err error, hint string) error {
	return &converters.Error{Where: p.part, Off: p.start, Entry: fmt.Sprint("item ", p.ordinal), Err: err, Hint: hint}
}
