package columns

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/text"
)

// Mismatches collects the differences between the columns of a dataset's parts. The zero value is ready.
type Mismatches struct {
	mu    sync.Mutex
	parts map[string]string
}

// Compare returns an error if the integers of a part have another meaning than those of the first part: classes, or
// units of time. It keeps a doubt about other differences of columns.
func (u *Mismatches) Compare(part string, first, here converters.Description) error {
	refuse := func(differs, hint string) error {
		return place.WithHint(fmt.Errorf("%w: %s", converters.ErrUnsupported, differs), hint)
	}
	if here.Classes != nil && !slices.Equal(here.Classes, first.Classes) {
		return refuse("it numbers classes in another way than the first part", "convert it by itself")
	}
	differs := ""
	for _, c := range here.Columns {
		i := slices.IndexFunc(first.Columns, func(f converters.ColumnType) bool { return f.Name == c.Name })
		switch {
		case i < 0:
			differs = fmt.Sprintf("it has a column %q, the first part has none", c.Name)
		case first.Columns[i].DType != c.DType:
			differs = fmt.Sprintf("its column %q is %s, that of the first part %s", c.Name, c.DType, first.Columns[i].DType)
			if both := c.DType + first.Columns[i].DType; strings.Contains(both, "datetime64") || strings.Contains(both, "timedelta64") {
				return refuse(differs, "convert it by itself, or leave the column out by option fields")
			}
		}
	}
	for _, f := range first.Columns {
		if !slices.ContainsFunc(here.Columns, func(c converters.ColumnType) bool { return c.Name == f.Name }) {
			differs = fmt.Sprintf("it has no column %q, as the first part has", f.Name)
		}
	}
	if differs != "" {
		u.mu.Lock()
		defer u.mu.Unlock()
		if u.parts == nil {
			u.parts = make(map[string]string)
		}
		u.parts[part] = differs
	}
	return nil
}

// Doubts reports the first part whose columns differ from those of the first part.
func (u *Mismatches) Doubts(parts []converters.Part) []converters.Doubt {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, p := range parts {
		differs := u.parts[p.Name]
		if differs == "" {
			continue
		}
		if n := int64(len(u.parts)); n > 1 {
			differs += "; " + text.Count(n, "part") + " differ from it"
		}
		return []converters.Doubt{{Part: p.Name, Off: -1, Text: differs, Hint: "meta.json has the columns of the first part"}}
	}
	return nil
}
