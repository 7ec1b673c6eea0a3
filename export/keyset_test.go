package export

import (
	"fmt"
	"testing"
)

func TestKeySet(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, form string
		table      bool
	}{{"in order", "k%04d", false}, {"in no order", "k%d", true}} {
		s := newKeySet()
		for i := range 5000 {
			if !s.add(fmt.Sprintf(row.form, i)) {
				t.Fatalf("%s: key %d is there already", row.name, i)
			}
		}
		if table := s.table != nil; table != row.table {
			t.Errorf("%s: there is a table: %v", row.name, table)
		}
		for i := range 5000 {
			if s.add(fmt.Sprintf(row.form, i)) {
				t.Fatalf("%s: key %d is added twice", row.name, i)
			}
		}
		if len(s.table) != 5000 || !s.add("") || s.add("") {
			t.Errorf("%s: %d keys, want 5000, and then the empty one once", row.name, len(s.table))
		}
	}
}
