package export_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/convert/format"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/export"
	"github.com/ffconvert/ffconvert/internal/test/memsource"
	"github.com/ffconvert/ffconvert/internal/test/shardtest"
)

// Shards of a dataset become a tar, and lines of JSON.
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	ctx, shards := context.Background(), filepath.Join(dir, "shards")
	samples := []converters.Sample{
		{Key: "cat", Fields: []converters.Field{{Name: "txt", Value: converters.Bytes([]byte("purrs"))}}},
		{Key: "dog", Fields: []converters.Field{{Name: "txt", Value: converters.Bytes([]byte("barks"))}}},
	}
	if _, err := shardtest.Convert(ctx, &memsource.Source{Data: [][]converters.Sample{samples}}, shards, shardtest.ConvertOptions{}); err != nil {
		panic(err)
	}
	ffr, _ := format.Named("ffr")
	err = convert.Conversion{Reader: ffr.Reader(), Sources: []string{shards}}.WithSamples(ctx, false, func(s *format.Samples) error {
		src := &export.Source{Samples: s.Source, Whole: s.Whole, Description: s.Description, Dataset: s.Dataset, Sum: s.Sum, Heads: s.Heads}
		done, err := export.Tars(ctx, src, filepath.Join(dir, "pets-%03d.tar"), export.Options{})
		if err != nil {
			return err
		}
		fmt.Println(done.Files[0].Name, done.Totals.Samples, "samples,", done.Totals.Bytes, "bytes")
		fmt.Println(strings.ReplaceAll(done.Again, dir+"/", ""))
		return export.Stream(ctx, os.Stdout, src, "jsonl", export.Options{})
	})
	if err != nil {
		panic(err)
	}
	// Output:
	// pets-000.tar 2 samples, 10240 bytes
	// ffconvert tar --encode msgpack --shards 1 'pets-000.tar' OUT
	// {"__key__":"cat","txt":{"$bytes":"cHVycnM="}}
	// {"__key__":"dog","txt":{"$bytes":"YmFya3M="}}
}
