package verify

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestEqualShards verifies a dataset in which shards have equal bytes. One that is what its own
// name asks for is sound, whatever other shards hold.
func TestEqualShards(t *testing.T) {
	t.Parallel()
	const a, b, c, d = "PART_00000.ffr", "PART_00001.ffr", "PART_00002.ffr", "PART_00003.ffr" // all equal but c
	for _, row := range []struct {
		name     string
		from, to string // a file that takes the place of another
		at       int    // of the bit that is flipped in the other
		want     []string
	}{
		{"sound", a, d, -1, nil},
		{"one damaged", a, b, 3000, []string{b + " checksum: wrong checksum"}},
		{"one in the place of another", d, c, -1, []string{c + " changed", c + " swapped: it is the dataset's shard " + a}},
		{"another in the place of one", c, d, -1, []string{d + " changed", d + " swapped: it is the dataset's shard " + c}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			want := makeShards(t, dir, 4)
			put := func(from, to string) {
				data, err := os.ReadFile(filepath.Join(dir, from))
				if err != nil {
					t.Fatal(err)
				}
				edit(t, dir, to, func([]byte) []byte { return data })
			}
			for _, i := range []int{1, 3} {
				put(a, want[i].Name)
				want[i].Samples, want[i].Bytes, want[i].HeaderCRC = want[0].Samples, want[0].Bytes, want[0].HeaderCRC
			}
			put(row.from, row.to)
			if row.at >= 0 {
				edit(t, dir, row.to, flip(row.at))
			}
			report, err := Dataset(t.Context(), dir, nil, want, Options{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range report.Problems {
				text := fmt.Sprint(p.Shard, " ", p.Kind)
				switch p.Kind {
				case Swapped:
					text += ": " + p.Text
				case Checksum:
					text += ": " + p.Text[:len("wrong checksum")]
				}
				got = append(got, text)
			}
			if !slices.Equal(got, row.want) {
				t.Errorf("%q, want %q", got, row.want)
			}
		})
	}
}
