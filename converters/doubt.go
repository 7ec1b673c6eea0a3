package converters

// A Doubter is a Source that reports valid data that may be a mistake.
type Doubter interface {
	// Doubts may be called at any time. Calls after Index may return more doubts. Doubts that
	// have been returned before do not change, except for counts in their texts.
	Doubts() []Doubt
}

// A Doubt is a warning about valid data that may be a mistake.
type Doubt struct {
	Part  string // name of the part
	Off   int64  // offset in the part, in bytes; -1: the doubt concerns the whole part
	Entry string // row, item or member; may be empty
	Text  string // one line
	Hint  string // the flag that settles the doubt
}
