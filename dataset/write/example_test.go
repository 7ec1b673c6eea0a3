package write_test

import (
	"context"
	"fmt"
	"os"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/tar"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/write"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/shard/plan"
)

func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	const name = "../../testdata/shards-000.tar"
	st, err := os.Stat(name)
	if err != nil {
		panic(err)
	}
	src := tar.Open([]converters.Part{{Name: name, Path: name, Size: st.Size()}}, tar.Options{})
	ctx := context.Background()
	spec, err := encode.Parse(encode.Options{Encoding: "msgpack", Fields: "jpg;png,cls"})
	if err != nil {
		panic(err)
	}
	index, err := plan.Index(ctx, src, plan.IndexOptions{Encodings: plan.OneEncoding(spec), Workers: 2})
	if err != nil {
		panic(err)
	}
	p, err := plan.New(index, plan.Options{Recipe: plan.Recipe{Encode: spec.Options()}, Sizes: plan.Sizes{Shards: 3}})
	if err != nil {
		panic(err)
	}
	out, err := dataset.Open(dir)
	if err != nil {
		panic(err)
	}
	defer out.Close()
	report, err := write.All(ctx, write.Local(src), p, out, write.Options{})
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
