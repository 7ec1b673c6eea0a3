package jsonl_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/jsonl"
)

func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "train.jsonl")
	data := `{"__key__": "a", "text": "eins", "score": 0.5}
{"__key__": "b", "text": "zwei", "score": 2}
`
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		log.Fatal(err)
	}
	part := converters.Part{Name: "train.jsonl", Path: path, Size: int64(len(data))}
	src := jsonl.Open([]converters.Part{part}, jsonl.Options{})
	for sample, err := range src.Read(context.Background(), converters.Run{Count: 2}) {
		if err != nil {
			log.Fatal(err)
		}
		text, _ := sample.Field("text")
		fmt.Printf("%s at %d: %s\n", sample.Key, sample.Off, text.Data())
	}
	// Output:
	// a at 0: eins
	// b at 47: zwei
}
