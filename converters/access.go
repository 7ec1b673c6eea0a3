package converters

import "os"

// An Access is how a part is going to be read.
type Access int

// The ways to read a part.
const (
	AnyAccess        Access = iota // the kernel finds out
	RandomAccess                   // a block here and there: it need not read ahead
	SequentialAccess               // from front to back: it may read ahead further
)

// OpenFor is Open, and tells the kernel how the part will be read. It is advice: nothing
// depends on it being taken.
func (p Part) OpenFor(how Access) (*os.File, error) {
	f, err := p.Open()
	if err == nil {
		advise(f, how)
	}
	return f, err
}
