package convert_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/convert/format"
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
	fmt.Println(f.Reader().Set.Set("on-duplicate-key", "ask"))
	// Output:
	// 24 samples in 1 shard
	// on-duplicate-key "ask": want one of error, keep
}

// A specification, a program that changes samples, and a choice of samples.
func ExampleReadSpec() {
	dir, err := os.MkdirTemp("", "example-*")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "dataset.yaml")
	tar, err := filepath.Abs(filepath.Join("..", "testdata", "shards-000.tar"))
	if err == nil {
		err = os.WriteFile(file, []byte("dataset:\n- shards: "+tar+"\n  repeat: 2\n"), 0o600)
	}
	if err != nil {
		panic(err)
	}
	c := convert.Conversion{Sources: []string{file}, Out: filepath.Join(dir, "out")}
	if c.Spec, err = convert.ReadSpec(file); err != nil {
		panic(err)
	}
	c.Filter = &convert.Command{Name: "cat", Args: []string{"/bin/cat"}}
	c.Choice.Limit = 20
	done, err := c.Write(context.Background())
	if err != nil {
		panic(err)
	}
	fmt.Println(done.Manifest.Totals.SamplesWritten, "samples in", done.Shards, "shard")
	// Output: 20 samples in 1 shard
}
