package plan

// Columns say which of the columns that not every dataset has its indexes have. They are of
// the whole dataset, so that all its indexes can be read as one.
type Columns struct {
	Keys   bool `json:"keys,omitempty"`   // samples have keys
	Labels bool `json:"labels,omitempty"` // samples may have classes
}

// columns returns the columns that the parts of the plan need.
func (p *Plan) columns() Columns {
	a := p.Account()
	c := Columns{Keys: a.Keys > 0}
	for _, name := range append([]string{otherNames}, LabelFields...) {
		_, found := a.Seen.Of(name)
		c.Labels = c.Labels || found
	}
	return c
}

// labelFields are where WebDataset keeps the class of a sample.
var LabelFields = []string{"cls", "index"}
