package converters

// A Doubter is a Source that has seen, while it was opened or indexed, what may not be meant.
type Doubter interface {
	// Doubts may be called as soon as the source is open; after Index it may tell more, and
	// what it told before stays as it was but for counts.
	Doubts() []Doubt
}

// A Doubt is something that is accepted, and may not be what was meant.
type Doubt struct {
	Part  string // the name of the part where it was seen
	Off   int64  // byte of the part
	Entry string // the row, item or member; may be empty
	Text  string // one line: what was seen
	Hint  string // the flag that says what was meant
}
