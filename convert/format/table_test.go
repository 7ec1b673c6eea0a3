package format

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/input"
)

// A plan keeps what decides the bytes of shards. A limit that is raised for a run that
// goes on is not one of another dataset.
func TestSecurityPlanOptions(t *testing.T) {
	t.Parallel()
	for _, f := range append(slices.Clone(formats), Program("plugin")) {
		set := f.Reader().Set
		if got := set.Kept(); got != nil {
			t.Errorf("%s: nothing was set, and the plan has %q", f.Name, got)
		}
		var want []string
		for _, o := range set.All() {
			if strings.HasPrefix(o.Name, "max-") != o.Limit {
				t.Errorf("%s: %s is a limit: %t", f.Name, o.Name, o.Limit)
			}
			value := o.String()
			if value == "" {
				value = "x"
			}
			if words := o.Words(); len(words) > 0 {
				value = words[len(words)-1]
			}
			if err := set.Set(o.Name, value); err != nil {
				t.Error(err)
			}
			if !o.Limit {
				want = append(want, o.Name)
			} else if err := set.SetKept(o.Name, value); err == nil {
				t.Errorf("%s: a plan sets the limit %s", f.Name, o.Name)
			}
		}
		slices.Sort(want)
		if got := slices.Sorted(maps.Keys(set.Kept())); !slices.Equal(got, want) {
			t.Errorf("%s: the plan has %q, want %q", f.Name, got, want)
		}
	}
}

// No program writes a directory.
func TestInputOptions(t *testing.T) {
	t.Parallel()
	for _, f := range formats {
		in := f.Reader().InputOptions(input.Options{AllowPipe: true, MaxNames: 7})
		if in.AllowPipe == f.Directories || in.Directories != f.Directories || in.MaxNames != 7 || (in.Arrange != nil) != slices.Contains([]string{"csv", "arrow", "ofrecord", "mds"}, f.Name) {
			t.Errorf("%s: %+v", f.Name, in)
		}
	}
}
