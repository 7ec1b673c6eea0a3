package cbor

import "github.com/ffconvert/ffconvert/converters/internal/scan"

// A name is the name of a field.
type name struct {
	text string
	load bool // Index reads the bytes of the field
}

// names has the names of the sample's fields. Samples mostly have the same names, so the names of the
// previous sample are kept, and an equal name costs one comparison.
type names struct {
	known []name          // without duplicates; from the current field on, of the previous sample
	seen  map[string]bool // texts of known, if there are many
}

// manyNames is the number of names from which on a map finds one faster than a loop.
const manyNames = 32

// clear prepares for the next sample.
func (f *names) clear() {
	f.seen = nil
	if scan.Reuse(f.known) == nil {
		f.known = nil
	}
}

// take returns the name of field i, and whether an earlier field has the same name. It must be called
// for the fields in order.
func (f *names) take(i int, b []byte, load func(string) bool) (n name, again bool) {
	if i < len(f.known) && string(b) == f.known[i].text {
		return f.known[i], false
	}
	f.known = f.known[:i]
	n.text = string(b)
	if f.has(n.text) {
		return n, true
	}
	n.load = load(n.text)
	f.known = append(f.known, n)
	return n, false
}

// has reports whether a name is known. If there are many names it also adds it to seen.
func (f *names) has(text string) bool {
	if len(f.known) < manyNames {
		for i := range f.known {
			if f.known[i].text == text {
				return true
			}
		}
		return false
	}
	if f.seen == nil {
		f.seen = make(map[string]bool, 2*manyNames)
		for i := range f.known {
			f.seen[f.known[i].text] = true
		}
	}
	if f.seen[text] {
		return true
	}
	f.seen[text] = true
	return false
}
