package browse

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/lookup"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/test/memsource"
	"github.com/ffconvert/ffconvert/internal/test/shardtest"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// classNames are hard to quote.
var classNames = []string{"cat", "it's a \"dog\"", "7", "größe <b>", "-x", "empty"}

// described is a source whose classes have names.
type described struct{ memsource.Source }

func (described) Describe() converters.Description {
	return converters.Description{Classes: classNames}
}

var keyForms = []string{"a/%d", "it's/%d", "two words/%d", "quo\"te\\%d", "tab\t%d", "esc\x1b[31m%d", "größe/%d", "$(id)`%d`", "a.b/%d"}

// keyOf is the key of sample i: hard to quote. One in fifty has that of another one with the same class and the same fields.
func keyOf(i int) string {
	if i%50 == 20 {
		i -= 15
	}
	return fmt.Sprintf(keyForms[i%len(keyForms)], i)
}

// richSample is sample i: one in five has no class, one in three a caption, and sizes vary.
func richSample(i int) converters.Sample {
	s := converters.Sample{Key: keyOf(i), Fields: []converters.Field{{Name: "jpg", Value: converters.Bytes(bytes.Repeat([]byte{byte(i)}, i*37%500))}}}
	if i%5 > 0 {
		s.Fields = append(s.Fields, converters.Field{Name: "cls", Value: converters.Bytes(fmt.Append(nil, i%5))})
	}
	if i%3 == 0 {
		s.Fields = append(s.Fields, converters.Field{Name: "caption", Value: converters.Bytes([]byte("text"))})
	}
	return s
}

// A fixture is a dataset in a directory.
type fixture struct {
	name    string
	parts   int
	sample  func(i int) converters.Sample
	opts    shardtest.ConvertOptions
	records string // encoding that is given to read it
	strip   bool   // the manifest is removed: other people's files
	lists   int    // queries that need a list, at least
	finds   int    // queries that find something, at least
}

const samples = 500

var fixtures = []fixture{
	{name: "rich", lists: 4, finds: 28, parts: 3, sample: richSample, opts: shardtest.ConvertOptions{Sizes: plan.Sizes{Shards: 4}}},
	{name: "shuffled", lists: 4, finds: 24, parts: 3, sample: richSample, opts: shardtest.ConvertOptions{Sizes: plan.Sizes{Shards: 2}, Shuffle: &plan.Shuffle{Seed: 3}, Encode: encode.Options{Encoding: "cbor"}}},
	{name: "renamed", lists: 4, finds: 20, parts: 1, sample: richSample, opts: shardtest.ConvertOptions{Encode: encode.Options{Rename: []string{"image=jpg"}}}},
	{name: "alike", lists: 0, finds: 6, parts: 2, sample: func(i int) converters.Sample {
		return converters.Sample{Fields: []converters.Field{{Name: "bin", Value: converters.Bytes([]byte{byte(i), byte(i >> 8)})}}}
	}, opts: shardtest.ConvertOptions{Sizes: plan.Sizes{Shards: 2}}},
	{name: "others", lists: 0, finds: 6, parts: 2, sample: richSample, opts: shardtest.ConvertOptions{Sizes: plan.Sizes{Shards: 3}}, records: "msgpack", strip: true},
	{name: "raw", lists: 2, finds: 6, parts: 2, sample: func(i int) converters.Sample {
		return converters.Sample{Key: fmt.Sprintf("raw/%03d", i), Fields: []converters.Field{{Name: "jpg", Value: converters.Bytes(bytes.Repeat([]byte("x"), i%91))}, {Name: "cls", Value: converters.Bytes([]byte("3"))}}}
	}, opts: shardtest.ConvertOptions{Encode: encode.Options{Encoding: "raw:jpg"}}},
}

// made makes the dataset.
func (x *fixture) made(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "it's {a,b} $HOME")
	src := &described{}
	for p := range x.parts {
		var part []converters.Sample
		for i := samples * p / x.parts; i < samples*(p+1)/x.parts; i++ {
			part = append(part, x.sample(i))
		}
		src.Data = append(src.Data, part)
	}
	if _, err := shardtest.Convert(t.Context(), src, dir, x.opts); err != nil {
		t.Fatal(err)
	}
	if x.strip {
		for _, name := range []string{dataset.ManifestName, dataset.MetaName, dataset.IndexDir, dataset.WorkDir} {
			if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

// searcher opens a dataset.
func (x *fixture) searcher(t testing.TB, path string) *searcher {
	t.Helper()
	d, err := lookup.Open(path, lookup.Options{Encoding: x.records})
	if err != nil {
		t.Fatal(err)
	}
	var classes []string
	if d.Ours() {
		meta, err := dataset.ReadMeta(d.Dir)
		if err != nil {
			t.Fatal(err)
		}
		classes = meta.Classes
	}
	return newSearcher(d, classes)
}
