package shard_test

import (
	"context"
	"fmt"
	"os"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/tar"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/shard"
	"github.com/ffconvert/ffconvert/shard/plan"
)

func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	const name = "../testdata/shards-000.tar"
	st, err := os.Stat(name)
	if err != nil {
		panic(err)
	}
	src := tar.Open([]converters.Part{{Name: name, Path: name, Size: st.Size()}}, tar.Options{})
	report, err := shard.Convert(context.Background(), src, dir, shard.ConvertOptions{
		Encode: encode.Options{Fields: "jpg;png,cls"},
		Sizes:  plan.Sizes{Shards: 3},
	})
	if err != nil {
		panic(err)
	}
	for _, s := range report.Manifest.Shards {
		fmt.Println(s.Name, s.Samples)
	}
	fmt.Println("verified:", report.Verified)
	// Output:
	// PART_00000.ffr 4
	// PART_00001.ffr 2
	// PART_00002.ffr 6
	// verified: true
}
