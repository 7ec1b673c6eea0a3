package choose

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// maxSides limits the values of SplitBy: for each value one dataset is made, and the index is read once more.
const maxSides = 1000

// values collects the values of Options.SplitBy.
type values struct {
	mu  sync.Mutex
	all map[string]struct{}
}

func (v *values) add(value string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if _, known := v.all[value]; known {
		return nil
	}
	if err := checkName(value); err != nil {
		return fmt.Errorf("split-by: %w", err)
	}
	if v.all[value] = struct{}{}; len(v.all) > maxSides {
		return fmt.Errorf("split-by: it has more than %d values, each of which would be a dataset", maxSides)
	}
	return nil
}

// Values returns the values of SplitBy of the samples that passed, sorted. Options.Value must be "".
func (c *Chooser) Values() []string {
	if c.values == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(c.values.all))
}

// checkName returns an error if a name cannot name a directory of a side.
func checkName(name string) error {
	var why string
	switch {
	case name == "":
		why = "it is empty"
	case strings.HasPrefix(name, "."):
		why = "it begins with a dot"
	case strings.ContainsAny(name, `/\`):
		why = "it has a slash"
	case strings.HasSuffix(name, ".ffr"):
		why = "it ends as a shard does"
	case len(name) > 200:
		why = "it has more than 200 bytes"
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		why = "it has bytes that are not text"
	default:
		return nil
	}
	if len(name) > 40 {
		name = strings.ToValidUTF8(name[:40], "") + "…"
	}
	return fmt.Errorf("%q cannot be the name of a directory: %s", name, why)
}
