package pickle

// maxStack is the largest number of values on the stack (12 MiB). CPython puts at most 1,000 items on
// it for each unfinished dict, so this is enough for a nesting of 100 full dicts.
const maxStack = 1 << 18

type kind uint8

const (
	mark kind = iota
	text
	number
	dict
	ordered // the class collections.OrderedDict
	tuple   // ()
)

// A value is an element of the stack.
type value struct {
	kind kind
	at   uint32 // position of the opcode that made it
	text string
	n    int64
	dict *Dict
}

func (m *machine) push(v value) {
	if v.kind == dict {
		m.dicts++
	}
	switch {
	case m.dicts > maxDepth:
		m.fail("more than %d dicts are in each other", maxDepth)
	case len(m.stack) == maxStack:
		m.fail("more than %d values are under way", maxStack)
	}
	if m.err == nil {
		v.at = uint32(m.op)
		m.stack = append(m.stack, v)
	}
}

// pop removes and returns the top value, which must be of kind k.
func (m *machine) pop(k kind) value {
	if m.err == nil && (len(m.stack) == 0 || m.stack[len(m.stack)-1].kind != k) {
		m.fail("opcode %#02x finds no value of its kind", m.s[m.op])
	}
	if m.err != nil {
		return value{}
	}
	v := m.stack[len(m.stack)-1]
	m.stack = m.stack[:len(m.stack)-1]
	if k == dict {
		m.dicts--
	}
	return v
}

// setMarked moves all values above the last mark into the dict below it.
func (m *machine) setMarked() {
	if len(m.marks) == 0 {
		m.fail("items without a mark")
		return
	}
	at := m.marks[len(m.marks)-1]
	m.marks = m.marks[:len(m.marks)-1]
	m.setItems(at+1, at-1)
	m.pop(mark)
}

// setItems moves the keys and values from position first of the stack into the dict at position into.
func (m *machine) setItems(first, into int) {
	if into < 0 || m.stack[into].kind != dict || (len(m.stack)-first)%2 != 0 {
		m.fail("items without a dict, or a key without a value")
		return
	}
	d := m.stack[into].dict
	for i := first; i < len(m.stack); i += 2 {
		key, v := m.stack[i], m.stack[i+1]
		switch {
		case key.kind != text:
			m.fail("a key that is not a str")
			return
		case v.kind == dict:
			m.dicts--
		case v.kind != number:
			m.fail("the value of %q is neither an int nor a dict", short(key.text))
			return
		}
		d.Items = append(d.Items, Item{Key: key.text, Int: v.n, Dict: v.dict})
	}
	m.stack = m.stack[:first]
}

// memoize stores the top value under number n. All picklers count from 0.
func (m *machine) memoize(n uint64) {
	switch {
	case len(m.stack) == 0:
		m.fail("nothing to remember")
	case n != uint64(len(m.memo)):
		m.fail("remembered as number %d, and %d is next", n, len(m.memo))
	default:
		m.memo = append(m.memo, m.stack[len(m.stack)-1].at)
	}
}

// get pushes the str or the class stored under number n. A stored dict is an error, because it would
// appear twice.
func (m *machine) get(n uint64) {
	if m.err == nil && n >= uint64(len(m.memo)) {
		m.fail("nothing is remembered as number %d", n)
	}
	if m.err != nil {
		return
	}
	var v value
	switch at := int(m.memo[n]); m.s[at] {
	case global, stackGlobal:
		v.kind = ordered
	case shortBinUnicode, binUnicode, binUnicode8:
		back := m.pos
		m.pos = at + 1
		v.kind, v.text = text, m.text(m.s[at])
		m.pos = back
	default:
		m.fail("a value in two places")
	}
	m.push(v)
}
