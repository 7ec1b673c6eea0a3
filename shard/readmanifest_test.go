package shard

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/encode"
)

func TestReadManifestIsWhatWasWritten(t *testing.T) {
	t.Parallel()
	src := newFixture(41, 3, 50, 100)
	dir := t.TempDir()
	report, err := write(t, src, newPlan(t, src, encode.Options{Rename: []string{"b=bin"}}, Options{Sizes: Sizes{Shards: 4}, Shuffle: &Shuffle{3}}), dir, WriteOptions{Tool: "test"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := *report.Manifest
	for i := range want.Sources {
		want.Sources[i].modified = 0
	}
	if !reflect.DeepEqual(*got, want) {
		t.Errorf("read\n%+v\nwritten\n%+v", *got, want)
	}
}

// What a hostile manifest takes is in proportion to its bytes.
func TestReadManifestHostile(t *testing.T) { // not parallel: it measures memory
	const some = 1 << 20 // bytes of each
	fill := func(entry string) string { return strings.Repeat(entry+",", some/len(entry)) + entry }
	for name, text := range map[string]string{
		"empty shards":             `{"ffconvert_manifest":1,"shards":[` + fill(`{}`) + `]}`,
		"shards by another name":   `{"ffconvert_manifest":1,"\u017fhards":[` + fill(`{}`) + `]}`,
		"SHARDS":                   `{"ffconvert_manifest":1,"SHARDS":[{"name":"../x"}]}`,
		"the same shard":           `{"ffconvert_manifest":1,"shards":[` + fill(`{"name":"PART_00000.ffr"}`) + `]}`,
		"empty sources":            `{"ffconvert_manifest":1,"sources":[` + fill(`{}`) + `]}`,
		"sources without accounts": `{"ffconvert_manifest":1,"sources":[` + fill(`{"name":"a"}`) + `]}`,
		"sources":                  `{"ffconvert_manifest":1,"sources":[` + fill(`{"name":"a","account":{}}`) + `]}`,
		"shards twice":             `{"ffconvert_manifest":1,"shards":[],"shards":[]}`,
		"a list of numbers":        `{"ffconvert_manifest":1,"shards":[` + fill(`0`) + `]}`,
		"no list":                  `{"ffconvert_manifest":1,"shards":{}}`,
		"a long name":              `{"ffconvert_manifest":1,"tool":"` + strings.Repeat("a", some) + `"}`,
		"a long head":              `{"ffconvert_manifest":1,"tool":"` + strings.Repeat("a", maxManifestHead+1) + `"}`,
		"cut":                      `{"ffconvert_manifest":1,"shards":[`,
		"nesting":                  strings.Repeat(`[`, some),
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, ManifestName), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		m, err := ReadManifest(dir)
		runtime.ReadMemStats(&after)
		accepted := name == "sources" || name == "a long name" || name == "SHARDS" || name == "shards by another name"
		if accepted != (err == nil) || err != nil && !errors.Is(err, ErrManifest) {
			t.Errorf("%s: %v", name, err)
		}
		if m != nil && m.Shards != nil {
			t.Errorf("%s: %d shards", name, len(m.Shards))
		}
		allocated := after.TotalAlloc - before.TotalAlloc // all of it, not what is live
		if most := uint64(40*len(text) + 64<<10); allocated > most {
			t.Errorf("%s: %d bytes allocated for %d", name, allocated, len(text))
		}
		t.Logf("%s: %.1f times its size", name, float64(allocated)/float64(len(text)))
	}
}
