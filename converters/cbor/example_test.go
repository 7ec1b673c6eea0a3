package cbor_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/cbor"
)

func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "train.cbors")
	// {"__key__": "a", "cls": 7, "jpg": h'ffd8ff'}, {"__key__": "b", "cls": 9, "jpg": h'ffd8'}
	data := "\xa3\x67__key__\x61a\x63cls\x07\x63jpg\x43\xff\xd8\xff" + "\xa3\x67__key__\x61b\x63cls\x09\x63jpg\x42\xff\xd8"
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		log.Fatal(err)
	}
	part := converters.Part{Name: "train.cbors", Path: path, Size: int64(len(data))}
	src := cbor.Open([]converters.Part{part}, cbor.Options{})

	// Where the samples are, no byte string read.
	run := converters.Run{}
	for span, err := range src.Index(context.Background(), 0) {
		if err != nil {
			log.Fatal(err)
		}
		jpg, _ := span.Shape.Field("jpg")
		fmt.Printf("%s at %d: a picture of %d bytes\n", span.Shape.Key, span.Off, jpg.Len())
		run.Count++
	}

	// Their bytes.
	for sample, err := range src.Read(context.Background(), run) {
		if err != nil {
			log.Fatal(err)
		}
		cls, _ := sample.Field("cls")
		jpg, _ := sample.Field("jpg")
		fmt.Printf("%s: class %d, %x\n", sample.Key, cls.Int(), jpg.Data())
	}
	// Output:
	// a at 0: a picture of 3 bytes
	// b at 24: a picture of 2 bytes
	// a: class 7, ffd8ff
	// b: class 9, ffd8
}
