package text

import "testing"

func TestCount(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		n    int64
		noun string
		want string
	}{
		{0, "byte", "0 bytes"}, {1, "byte", "1 byte"}, {1024, "byte", "1024 bytes"},
		{1, "entry", "1 entry"}, {2, "entry", "2 entries"}, {1, "batch", "1 batch"}, {3, "batch", "3 batches"},
	} {
		if got := Count(row.n, row.noun); got != row.want {
			t.Errorf("Count(%d, %q) is %q, want %q", row.n, row.noun, got, row.want)
		}
	}
}
