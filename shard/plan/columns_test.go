package plan

import (
	"bytes"
	"errors"
	"testing"
)

// A plan of equal records is of a version of its own, and is read as it was written; one whose shards cannot
// have equal records is refused.
func TestPlanAlike(t *testing.T) {
	t.Parallel()
	index := PartIndex{Part: Part{Name: "a", Size: 1600, Account: Account{Samples: 100, Entries: 100}}}
	for i := range int64(100) {
		index.Add(16*i, 8)
	}
	for name, row := range map[string]struct {
		change func(*Plan)
		want   error
	}{
		"as planned":     {func(*Plan) {}, nil},
		"shuffled":       {func(p *Plan) { p.Shuffle = &Shuffle{Seed: 1} }, ErrDamaged},
		"odd bytes":      {func(p *Plan) { p.Shards[1].Bytes++ }, ErrDamaged},
		"another length": {func(p *Plan) { p.Shards[1].Bytes += p.Shards[1].Samples }, ErrDamaged},
		"rows":           {func(p *Plan) { p.Columns.Alike = false }, nil},
	} {
		p, err := New([]PartIndex{index}, Options{Sizes: Sizes{Shards: 3}})
		if err != nil || !p.Columns.Alike || p.Shards[0].RecordSize() != 8 {
			t.Fatalf("%+v, error %v", p, err)
		}
		row.change(p)
		var file bytes.Buffer
		if _, err := p.Write(&file); err != nil {
			t.Fatal(err)
		}
		version := "2"
		if p.Columns.Alike {
			version = "3"
		}
		if !bytes.Contains(file.Bytes(), []byte(`{"ffconvert_plan":`+version+`,`)) {
			t.Errorf("%s: not of version %s", name, version)
		}
		read, err := readText(file.String())
		if !errors.Is(err, row.want) || err == nil && read.Columns != p.Columns {
			t.Errorf("%s: read as %+v, error %v", name, read, err)
		}
	}
}
