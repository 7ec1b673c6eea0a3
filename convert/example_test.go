package convert_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/convert/format"
	"github.com/ffconvert/ffconvert/internal/option"
)

func Example() {
	dir, err := os.MkdirTemp("", "example-*")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	f, _ := format.Named("tar")
	c := &convert.Conversion{Reader: f.Reader(), Sources: []string{filepath.Join("..", "testdata", "shards-{000..001}.tar")}, Out: filepath.Join(dir, "out")}
	done, err := c.Write(context.Background())
	if err != nil {
		panic(err)
	}
	fmt.Println(done.Manifest.Totals.SamplesWritten, "samples in", done.Shards, "shard")

	set := f.Reader().Set
	fmt.Println(set.Set("on-duplicate-key", "ask"), set.SetKept("max-sample-size", "1GiB").(*option.Error).Err == option.ErrLimit)
	// Output:
	// 24 samples in 1 shard
	// on-duplicate-key "ask": want one of error, keep true
}
