package converters

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
func (p Part) OpenFor(how Access) (File, error) {
	f, err := p.open()
	if err != nil {
		return nil, err
	}
	if how != AnyAccess {
		advise(f, how)
	}
	if p.Copy != nil && p.Copy.Sums != nil {
		return p.Copy.Sums.Check(f), nil
	}
	return f, nil
}
