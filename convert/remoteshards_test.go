package convert_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/convert/format"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// reshard is a conversion of the three shards of a dataset that a web server has.
func reshard(t *testing.T, sources, out string, cut convert.Cut) *convert.Conversion {
	t.Helper()
	f, known := format.Named("ffr")
	if !known {
		t.Fatal("no ffr")
	}
	c := conversion(t, "", out)
	c.Reader, c.Sources, c.Cut = f.Reader(), []string{sources}, cut
	return c
}

// A dataset on a server is what it is on the disk: keys, labels and encoding come from its manifest and its
// indexes, however shards are cut.
func TestRemoteShards(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tars, _ := format.Named("tar")
	in := &convert.Conversion{
		Reader: tars.Reader(), Sources: []string{filepath.Join("..", "testdata", "shards-{000..009}.tar")}, Out: filepath.Join(dir, "in"),
		Options: convert.Options{Sizes: plan.Sizes{Shards: 3}},
	}
	if _, err := in.Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	t.Cleanup(server.Close)
	url := server.URL + "/in/PART_{00000..00002}.ffr"

	for name, cut := range map[string]convert.Cut{"samples": convert.CutSamples, "parts": convert.CutParts} {
		out := filepath.Join(dir, name)
		done, err := reshard(t, url, out, cut).Write(t.Context())
		if err != nil || done.Samples != 120 || done.Manifest.Encode.Encoding != "msgpack" {
			t.Fatalf("%s: %+v, %v", name, done, err)
		}
		sameShards(t, filepath.Join(dir, "in"), out)
		for _, index := range []string{"PART_00000.arrow", "PART_00002.arrow"} {
			if st, err := os.Stat(filepath.Join(out, "index", index)); err != nil || st.Size() == 0 {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for name, url := range map[string]string{"directory": server.URL + "/in/", "no slash": server.URL + "/in"} { // by its manifest
		out := filepath.Join(dir, name)
		if _, err := reshard(t, url, out, convert.CutAuto).Write(t.Context()); err != nil {
			t.Fatal(err)
		}
		sameShards(t, filepath.Join(dir, "in"), out)
	}
	for _, url := range []string{server.URL + "/", server.URL + "/none/", server.URL + "/in/index"} {
		if _, err := reshard(t, url, filepath.Join(dir, "no"), convert.CutAuto).Write(t.Context()); place.KindOf(err) != place.Refused {
			t.Errorf("%s: %v", url, err)
		}
	}
	tasks := filepath.Join(dir, "tasks")
	if _, err := reshard(t, url, tasks, convert.CutAuto).Plan(t.Context()); err != nil {
		t.Fatal(err)
	}
	how := convert.Conversion{Out: tasks, Options: reshard(t, url, tasks, convert.CutAuto).Options}
	for k := range 2 {
		if _, err := how.Run(t.Context(), plan.Task{K: k, N: 2}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := how.Finish(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	sameShards(t, filepath.Join(dir, "in"), tasks)

	// What is missing beside a shard, or in the dataset, is told.
	if err := os.Rename(filepath.Join(dir, "in", "index", "PART_00001.arrow"), filepath.Join(dir, "aside")); err != nil {
		t.Fatal(err)
	}
	if _, err := reshard(t, url, filepath.Join(dir, "no"), convert.CutSamples).Write(t.Context()); !errors.Is(err, dataset.ErrMissing) {
		t.Errorf("without an index: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "in", "PART_00001.ffr")); err != nil {
		t.Fatal(err)
	}
	if _, err := reshard(t, server.URL+"/in/PART_00000.ffr", filepath.Join(dir, "no"), convert.CutSamples).Write(t.Context()); !errors.Is(err, dataset.ErrMissing) {
		t.Errorf("without a shard: %v", err)
	}
}
