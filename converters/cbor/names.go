package cbor

// A name is that of a field.
type name struct {
	text string
	load bool // Index reads its bytes
}

// names are those of the sample's fields. Where they are those of the sample before, as
// they mostly are, they cost a comparison.
type names struct {
	known []name          // no two equal; those behind the current field are the last sample's
	seen  map[string]bool // of known, where they are many
}

// manyNames is where looking through them for a duplicate becomes slow.
const manyNames = 32

// clear forgets what is the matter of one sample.
func (f *names) clear() {
	f.seen = nil
	if cap(f.known) > reusable {
		f.known = nil
	}
}

// take returns the name of field i, and whether a field before it has it too. The fields
// before it have been taken.
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

// has reports whether a name is known, and counts it in where they are many.
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
