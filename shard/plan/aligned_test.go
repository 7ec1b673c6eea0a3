package plan

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
)

func TestNewWholePlanRefuses(t *testing.T) {
	t.Parallel()
	parts := []converters.Part{{Name: "a", Size: 5}, {Name: "b", Size: 7}, {Name: "empty"}}
	for _, row := range []struct {
		name  string
		parts []converters.Part
		opts  Options
		want  error
	}{
		{"more shards than parts", parts, Options{Sizes: Sizes{Shards: 4}}, errSizes},
		{"a shuffle", parts, Options{Recipe: Recipe{Shuffle: &Shuffle{}}}, errSizes},
		{"nothing", []converters.Part{{Name: "empty"}}, Options{}, ErrEmpty},
		{"too large", []converters.Part{{Name: "a", Size: 1 << 62}, {Name: "b", Size: 1 << 62}, {Name: "c", Size: 1 << 62}}, Options{}, converters.ErrLimit},
	} {
		if _, err := NewAligned(row.parts, nil, row.opts); !errors.Is(err, row.want) {
			t.Errorf("%s: %v", row.name, err)
		}
	}
	plan, err := NewAligned(parts, nil, Options{Sizes: Sizes{Shards: 2}})
	if err != nil || len(plan.Shards) != 2 || plan.Shards[0].Parts != 1 || plan.Shards[1].Parts != 2 {
		t.Errorf("%+v, %v", plan, err)
	}
	var file bytes.Buffer
	if _, err := plan.Write(&file); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string][2]string{
		"a gap": {`"first":1,"parts":2`, `"first":2,"parts":1`}, "parts left": {`"first":1,"parts":2`, `"first":1,"parts":1`},
		"none": {`"first":0,"parts":1`, `"first":0,"parts":0`}, "too many": {`"parts":2}`, `"parts":9223372036854775807}`}, "less than none": {`"first":1,"parts":2`, `"first":1,"parts":-2`},
	} {
		body := strings.Replace(file.String(), change[0], change[1], 1)
		if body == file.String() {
			t.Errorf("%s: the row changes nothing", name)
		}
		if _, err := readText(string(sealed([]byte(body)))); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := readText(file.String()); err != nil {
		t.Error(err)
	}
}
