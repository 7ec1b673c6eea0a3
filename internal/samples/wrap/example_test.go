package wrap_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/tar"
	"github.com/ffconvert/ffconvert/internal/samples/wrap"
)

// Half of one tar, drawn from a seed, and another one twice.
func Example() {
	open := func(name string) converters.Source {
		path := filepath.Join("..", "..", "..", "testdata", name)
		st, err := os.Stat(path)
		if err != nil {
			panic(err)
		}
		return tar.Open([]converters.Part{{Name: name, Path: path, Size: st.Size()}}, tar.Options{})
	}
	src, err := wrap.Mix([]wrap.Collection{
		{Name: "some", Source: open("shards-000.tar"), Times: 0.5},
		{Name: "more", Source: open("shards-001.tar"), Times: 2},
	}, 7)
	if err != nil {
		panic(err)
	}
	for p, part := range src.Parts() {
		samples, passed := 0, 0
		for span, err := range src.Index(context.Background(), p) {
			switch {
			case err != nil:
				panic(err)
			case span.Shape != nil:
				samples++
			case span.Skip == wrap.NotDrawn:
				passed++
			}
		}
		fmt.Printf("%s: %d samples, %d not drawn\n", part.Name, samples, passed)
	}
	// Output:
	// shards-000.tar: 8 samples, 4 not drawn
	// shards-001.tar: 12 samples, 0 not drawn
	// shards-001.tar: 12 samples, 0 not drawn
}
