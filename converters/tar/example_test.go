package tar_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/tar"
)

func Example() {
	const path = "../../testdata/shards-000.tar"
	st, err := os.Stat(path)
	if err != nil {
		log.Fatal(err)
	}
	part := converters.Part{Name: "shards-000.tar", Path: path, Size: st.Size(), ModTime: st.ModTime()}
	src := tar.Open([]converters.Part{part}, tar.Options{})

	// Where the samples are, from headers alone.
	run := converters.Run{}
	for span, err := range src.Index(context.Background(), 0) {
		if err != nil {
			log.Fatal(err)
		}
		if span.Shape != nil {
			run.Count++
		}
	}
	fmt.Println(run.Count, "samples")

	// The bytes of the first two.
	run.Count = 2
	for sample, err := range src.Read(context.Background(), run) {
		if err != nil {
			log.Fatal(err)
		}
		cls, _ := sample.Field("cls")
		fmt.Printf("%s: %d fields, class %s\n", sample.Key, len(sample.Fields), cls.Data())
	}
	// Output:
	// 12 samples
	// 000000: 3 fields, class 0
	// 000001: 3 fields, class 1
}
