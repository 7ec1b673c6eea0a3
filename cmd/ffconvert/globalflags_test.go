package main

import (
	"path/filepath"
	"regexp"
	"testing"
)

// --quiet leaves errors, --verbose adds a line for each phase and each shard.
func TestQuietAndVerbose(t *testing.T) {
	t.Parallel()
	data, err := filepath.Abs(filepath.Join("..", "..", "testdata", "shards-000.tar"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, row := range []struct {
		args   []string
		stderr string
		status int
	}{
		{[]string{"tar", "-q", "--shards", "2", data, "quiet"}, `^$`, 0},
		{[]string{"verify", "-q", "quiet"}, `^$`, 0},
		{[]string{"tar", "-q", "gone.tar", "none"}, `^ffconvert: gone.tar: .*\n$`, 3},
		{[]string{"tar", "-v", "--shards", "2", "-j1", data, "verbose"},
			`^index: 12 samples, \S+ kB in \S+ s\n` +
				`PART_00000.ffr: \d+ samples, \S+ kB in \S+ s\nPART_00001.ffr: \d+ samples, \S+ kB in \S+ s\n` +
				`write \+ verify: 12 samples, \S+ kB in \S+ s\nverbose: 12 samples, .*\n$`, 0},
		{[]string{"verify", "-v", "verbose"}, `^verify: 12 samples, \S+ kB in \S+ s\n$`, 0},
	} {
		if out := ffconvert(t, dir, row.args...); out.status != row.status || !regexp.MustCompile(row.stderr).MatchString(out.stderr) {
			t.Errorf("%s, want status %d and %s", out, row.status, row.stderr)
		}
	}
}
