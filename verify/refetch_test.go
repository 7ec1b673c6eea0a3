package verify

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A file that is damaged or denied on its way is sound when it is fetched again; one that is damaged where it is stored is not.
func TestFetchedAgain(t *testing.T) {
	t.Parallel()
	stored, dir := t.TempDir(), t.TempDir()
	want := makeShards(t, stored, 3)
	edit(t, stored, want[2].Name, flip(int(want[2].Bytes)-9))
	fetches := map[string]int{}
	var again []string
	report, err := Dataset(t.Context(), dir, []string{want[0].Name, want[1].Name, want[2].Name}, want, Options{
		Workers: 1,
		Fetch: func(_ context.Context, name string) (func(), error) {
			data, err := os.ReadFile(filepath.Join(stored, name))
			if fetches[name]++; fetches[name] == 1 && name == want[0].Name {
				data[len(data)-1] ^= 1
			} else if fetches[name] < 3 && name == want[1].Name {
				return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
			}
			path := filepath.Join(dir, name)
			if err == nil {
				err = os.WriteFile(path, data, 0o644)
			}
			return func() { os.Remove(path) }, err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, res := range report.Results {
		if res.Refetched {
			again = append(again, res.Shard)
		}
	}
	if len(report.Problems) != 1 || report.Problems[0].Shard != want[2].Name || report.Problems[0].Kind != Checksum {
		t.Errorf("%v", report.Problems)
	}
	if report.Refetched != 2 || !slices.Equal(again, []string{want[0].Name, want[1].Name}) || fetches[want[2].Name] != 3 {
		t.Errorf("fetched again: %q, %v", again, fetches)
	}
}
