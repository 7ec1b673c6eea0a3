package write

import "testing"

func TestOpenShards(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ workers, files, want int }{
		{1, 0, 2}, {16, 0, 32}, {1, 20, 1}, {1, 32, 2}, {2, 20, 2}, {2, 63, 3}, {2, 1024, 4}, {16, 64, 16}, {16, 256, 16}, {16, 1024, 32}, {100, 1024, 100},
	} {
		if got := openShards(row.workers, row.files); got != row.want {
			t.Errorf("%d workers, %d files: %d shards, want %d", row.workers, row.files, got, row.want)
		}
	}
}
