package folder_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/folder"
)

func Example() {
	root, err := os.MkdirTemp("", "pets")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(root)
	for _, name := range []string{"cat/1.jpg", "cat/2.jpg", "dog/1.jpg"} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("picture "+name), 0o644); err != nil {
			log.Fatal(err)
		}
	}

	ctx := context.Background()
	src, err := folder.Open(ctx, []converters.Part{{Name: "pets", Path: root}}, folder.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(src.Describe().Classes)
	for p, part := range src.Parts() {
		// Where the samples are, from directories alone.
		run := converters.Run{Part: p}
		for span, err := range src.Index(ctx, p) {
			if err != nil {
				log.Fatal(err)
			}
			if span.Shape != nil {
				run.Count++
			}
		}
		fmt.Printf("%s: %d samples\n", part.Name, run.Count)

		// Their bytes.
		for sample, err := range src.Read(ctx, run) {
			if err != nil {
				log.Fatal(err)
			}
			jpg, _ := sample.Field("jpg")
			cls, _ := sample.Field("cls")
			fmt.Printf("  %s: %q, class %d\n", sample.Key, jpg.Data(), cls.Int())
		}
	}
	// Output:
	// [cat dog]
	// pets/cat: 2 samples
	//   cat/1: "picture cat/1.jpg", class 0
	//   cat/2: "picture cat/2.jpg", class 0
	// pets/dog: 1 samples
	//   dog/1: "picture dog/1.jpg", class 1
}
