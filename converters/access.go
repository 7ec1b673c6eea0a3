package converters

// An Access is an access pattern, used as advice for the kernel's read-ahead.
type Access int

// The access patterns.
const (
	AnyAccess        Access = iota // unknown
	RandomAccess                   // scattered blocks: read ahead nothing
	SequentialAccess               // from start to end: read ahead further
)

// OpenFor opens the part as Open does and advises the kernel how it will be read. The kernel may
// ignore the advice.
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
