package packed_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/ffconvert/ffconvert/packed"
	"github.com/ffconvert/ffconvert/record"
)

func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	images := filepath.Join(dir, "images")
	if err := os.CopyFS(images, os.DirFS("testdata/images")); err != nil {
		log.Fatal(err)
	}

	ctx := context.Background()
	file := filepath.Join(dir, "images.ffr")
	report, err := packed.Write(ctx, images, file, packed.WriteOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Files, "files,", report.Bytes, "bytes")

	f, err := packed.Open(file, record.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	for e, err := range f.Walk("") {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(e)
	}
	data, err := f.ReadFile("cats/tom.txt")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s", data)
	if _, err := f.Extract(ctx, filepath.Join(dir, "copy"), packed.ExtractOptions{}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 2 files, 15 bytes
	// d cats/
	// - tom.txt
	// - readme
	// meow
}
