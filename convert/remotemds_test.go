package convert_test

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/convert/format"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// MDS shards on a server are read by the index.json beside them, however they are cut, and by tasks.
func TestRemoteMDS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "mds"), os.DirFS(filepath.Join("..", "testdata", "mds"))); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	t.Cleanup(server.Close)
	f, _ := format.Named("mds")
	from := func(source, out string, cut convert.Cut) *convert.Conversion {
		c := conversion(t, "", filepath.Join(dir, out))
		c.Reader, c.Sources, c.Cut, c.Sizes = f.Reader(), []string{source}, cut, plan.Sizes{Shards: 2}
		return c
	}
	url := server.URL + "/mds/shard.{00000..00001}.mds"
	if _, err := from(filepath.Join(dir, "mds"), "local", convert.CutSamples).Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	same := func(out string) {
		t.Helper()
		for _, name := range []string{"PART_00000.ffr", "PART_00001.ffr"} {
			want, err := os.ReadFile(filepath.Join(dir, "local", name))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(filepath.Join(dir, out, name)); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: %s is another than that of local shards; %v", out, name, err)
			}
		}
	}
	for name, cut := range map[string]convert.Cut{"samples": convert.CutSamples, "parts": convert.CutParts} {
		done, err := from(url, name, cut).Write(t.Context())
		if err != nil || done.Samples != 40 {
			t.Fatalf("%s: %+v, %v", name, done, err)
		}
		same(name)
	}
	if _, err := from(url, "tasks", convert.CutAuto).Plan(t.Context()); err != nil {
		t.Fatal(err)
	}
	how := convert.Conversion{Out: filepath.Join(dir, "tasks"), Options: from(url, "tasks", convert.CutAuto).Options}
	for k := range 2 {
		if _, err := how.Run(t.Context(), plan.Task{K: k, N: 2}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := how.Finish(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	same("tasks")

	// A shard that is missing, and an index that is.
	first := server.URL + "/mds/shard.00000.mds"
	for _, gone := range []string{"shard.00001.mds", "index.json"} {
		if err := os.Remove(filepath.Join(dir, "mds", gone)); err != nil {
			t.Fatal(err)
		}
		if _, err := from(first, "no", convert.CutSamples).Write(t.Context()); !errors.Is(err, input.ErrNotFound) {
			t.Errorf("without %s: %v", gone, err)
		}
	}
}
