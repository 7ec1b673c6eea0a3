package pickle

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// The class that a pickle may import and call without arguments. Nothing else is accepted.
const (
	module = "collections"
	class  = "OrderedDict"
)

// maxKey is the longest key in bytes. File systems allow names of 255 characters. Without a limit,
// a pickle that uses one huge str many times takes time that grows with the square of its size.
const maxKey = 1024

// DecodeDict decodes a pickle of protocol 2 to 5 that consists of dicts or collections.OrderedDicts
// from str to int or dict. It does not execute anything: it accepts only the opcodes that CPython
// writes for such a value. Errors are any other opcode, an import of anything else, a dict that
// appears twice (hence any cycle), a key that appears twice in one dict, an int of more than 64 bits,
// a str that is not UTF-8 or is longer than maxKey, dicts nested deeper than maxDepth, and bytes
// after the end.
//
// Keys share the memory of s. Other memory grows as s is read, up to 40 bytes per byte of s.
func DecodeDict(s string) (*Dict, error) {
	m := machine{s: s}
	d := m.run()
	if m.err != nil {
		return nil, m.err
	}
	if key, ok := d.index(); !ok {
		return nil, fmt.Errorf("key %q twice in one dict", short(key))
	}
	return d, nil
}

// A machine interprets a pickle. After an error all its reads return zero.
type machine struct {
	s     string
	pos   int
	op    int // position of the current opcode
	stack []value
	marks []int // positions in the stack
	dicts int   // dicts on the stack, an upper bound on the current depth
	memo  []uint32
	err   error
}

func (m *machine) fail(format string, args ...any) {
	if m.err == nil {
		m.err = fmt.Errorf("byte %d of the pickle: %w", m.op, fmt.Errorf(format, args...))
	}
}

func (m *machine) run() *Dict {
	if uint64(len(m.s)) > math.MaxUint32 {
		m.fail("it has %d bytes, and at most 2^32 - 1 are read", len(m.s))
		return nil
	}
	if op, version := m.uint(1), m.uint(1); op != proto || version < 2 || version > 5 {
		m.fail("it does not begin as a pickle of protocol 2 to 5 does")
	}
	for m.err == nil {
		m.op = m.pos
		op := byte(m.uint(1))
		if op == Stop && m.err == nil {
			return m.stop()
		}
		m.step(op)
	}
	return nil
}

// stop returns the result.
func (m *machine) stop() *Dict {
	v := m.pop(dict)
	switch {
	case m.err != nil:
	case len(m.stack) > 0:
		m.fail("it ends with %d values too many", len(m.stack))
	case m.pos < len(m.s):
		m.fail("%d bytes follow its end", len(m.s)-m.pos)
	}
	return v.dict
}

func (m *machine) step(op byte) {
	switch op {
	case frame:
		if n := m.uint(8); n > uint64(len(m.s)-m.pos) {
			m.fail("a frame of %d bytes, and %d are left", n, len(m.s)-m.pos)
		}
	case Mark:
		m.marks = append(m.marks, len(m.stack))
		m.push(value{kind: mark})
	case shortBinUnicode, binUnicode, binUnicode8:
		s := m.text(op)
		if !utf8.ValidString(s) {
			m.fail("a str that is not UTF-8: %q", short(s))
		}
		m.push(value{kind: text, text: s})
	case binInt1:
		m.push(value{kind: number, n: int64(m.uint(1))})
	case binInt2:
		m.push(value{kind: number, n: int64(m.uint(2))})
	case binInt:
		m.push(value{kind: number, n: int64(int32(m.uint(4)))})
	case long1:
		m.push(value{kind: number, n: m.long()})
	case EmptyDict:
		m.push(value{kind: dict, dict: &Dict{}})
	case emptyTuple:
		m.push(value{kind: tuple})
	case global:
		m.global()
	case stackGlobal:
		name, from := m.pop(text), m.pop(text)
		m.class(from.text, name.text)
	case reduce:
		m.pop(tuple)
		m.pop(ordered)
		m.push(value{kind: dict, dict: &Dict{}})
	case setItem:
		m.setItems(len(m.stack)-2, len(m.stack)-3)
	case SetItems:
		m.setMarked()
	case memoize:
		m.memoize(uint64(len(m.memo)))
	case binPut:
		m.memoize(m.uint(1))
	case longBinPut:
		m.memoize(m.uint(4))
	case binGet:
		m.get(m.uint(1))
	case longBinGet:
		m.get(m.uint(4))
	default:
		m.fail("opcode %#02x, which no tree of names needs", op)
	}
}

// take reads n bytes.
func (m *machine) take(n uint64) string {
	if m.err == nil && n > uint64(len(m.s)-m.pos) {
		m.fail("%d bytes are wanted, and %d are left", n, len(m.s)-m.pos)
	}
	if m.err != nil {
		return ""
	}
	s := m.s[m.pos:][:n]
	m.pos += int(n)
	return s
}

// uint reads a little-endian number.
func (m *machine) uint(bytes uint64) (n uint64) {
	for i, c := range []byte(m.take(bytes)) {
		n |= uint64(c) << (8 * i)
	}
	return n
}

// long reads the argument of Long1.
func (m *machine) long() int64 {
	bytes := m.uint(1)
	if bytes > 8 {
		m.fail("an int of %d bytes", bytes)
	}
	if bytes == 0 || m.err != nil {
		return 0
	}
	sign := 64 - 8*bytes
	return int64(m.uint(bytes)<<sign) >> sign
}

// text reads the argument of an opcode that pushes a str.
func (m *machine) text(op byte) string {
	size := uint64(4)
	switch op {
	case shortBinUnicode:
		size = 1
	case binUnicode8:
		size = 8
	}
	n := m.uint(size)
	if n > maxKey {
		m.fail("a str of %d bytes, and names have at most %d", n, maxKey)
	}
	return m.take(n)
}

// global reads the argument of Global, two lines.
func (m *machine) global() {
	from, rest, _ := strings.Cut(m.s[m.pos:], "\n")
	name, _, ok := strings.Cut(rest, "\n")
	if !ok {
		m.fail("the name of an import does not end")
		return
	}
	m.pos += len(from) + len(name) + 2
	m.class(from, name)
}

func (m *machine) class(from, name string) {
	if from != module || name != class {
		m.fail("it imports %q from %q, and only %s from %s is known", short(name), short(from), class, module)
		return
	}
	m.push(value{kind: ordered})
}

// short returns the start of s, for a message.
func short(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return s[:most] + "..."
}
