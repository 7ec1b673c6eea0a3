package export_test

import (
	"bytes"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/export"
	"github.com/ffconvert/ffconvert/internal/test/need"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// Tars that other programs have written become shards and tars with the same members, in the same order, whatever
// they were split by.
func TestForeignTars(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob(filepath.Join("..", "testdata", "tars", "*.tar"))
	if err != nil || len(paths) < 10 {
		t.Fatal(paths, err)
	}
	for _, path := range append(paths, filepath.Join("..", "testdata", "shards-003.tar")) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			want := ours(t, []string{path})
			for _, shards := range []int{1, 2} {
				again, _ := tars(t, convertTars(t, []string{path}, encode.Options{Encoding: "msgpack"}, shards), export.Options{Sizes: plan.Sizes{Shards: 2}})
				if got := ours(t, again); !slices.Equal(got, want) {
					t.Error(differ(got, want))
				}
			}
		})
	}
}

// A bit that is flipped in any file of a dataset is found, or means nothing: no tar has other bytes.
func TestFlips(t *testing.T) {
	t.Parallel()
	need.Time(t, "many exports")
	r := rand.New(rand.NewPCG(21, 21))
	dir := shards(t, random(r, 40), encode.Options{}, 2)
	how := export.Options{Sizes: plan.Sizes{Shards: 3}, NoVerify: true}
	want, _ := tars(t, dir, how)
	var names []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.HasPrefix(name, ".ffconvert") {
			names = append(names, name)
		}
		return err
	})
	if err != nil || len(names) != 6 {
		t.Fatal(names, err)
	}
	found, silent := 0, 0
	for _, name := range names {
		path := filepath.Join(dir, name)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for range 30 {
			at := r.IntN(len(data))
			flipped := bytes.Clone(data)
			flipped[at] ^= 1 << r.IntN(8)
			if err := os.WriteFile(path, flipped, 0o644); err != nil {
				t.Fatal(err)
			}
			out := filepath.Join(t.TempDir(), "out")
			err := with(t.Context(), func(s *export.Source) error {
				_, err := export.Tars(t.Context(), s, filepath.Join(out, "x-%03d.tar"), how)
				return err
			}, dir)
			if err == nil {
				silent++
				same(t, filepath.Dir(want[0]), out, ".tar")
				if strings.HasSuffix(name, ".ffr") || strings.HasSuffix(name, ".arrow") {
					t.Errorf("%s, byte %d: not found", name, at)
				}
				continue
			}
			found++
			if left, _ := filepath.Glob(filepath.Join(out, "*.tar")); len(left) > 0 {
				t.Errorf("%s, byte %d: left %v: %v", name, at, left, err)
			}
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d found, %d in what an export does not use", found, silent)
}
