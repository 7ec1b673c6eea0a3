package mds_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/mds"
)

func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	// One sample: the class 3, and "drei".
	config := `{"column_encodings":["int8","str"],"column_names":["cls","text"],"column_sizes":[1,null],"compression":null,"format":"mds","version":2}`
	shard := "\x01\x00\x00\x00\x93\x00\x00\x00\x9c\x00\x00\x00" + config + "\x04\x00\x00\x00\x03drei"
	path := filepath.Join(dir, "shard.00000.mds")
	if err := os.WriteFile(path, []byte(shard), 0o600); err != nil {
		log.Fatal(err)
	}
	index := `{"version":2,"shards":[{"column_encodings":["int8","str"],"column_names":["cls","text"],"column_sizes":[1,null],"compression":null,` +
		`"format":"mds","hashes":["md5"],"samples":1,"version":2,"zip_data":null,` +
		`"raw_data":{"basename":"shard.00000.mds","bytes":156,"hashes":{}}}]}`
	shards, err := mds.ParseIndex([]byte(index), "index.json")
	if err != nil {
		log.Fatal(err)
	}
	part := converters.Part{Name: "shard.00000.mds", Path: path, Size: int64(len(shard))}
	src, err := mds.Open([]converters.Part{part}, shards, mds.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for span, err := range src.Index(context.Background(), 0) {
		if err != nil {
			log.Fatal(err)
		}
		cls, _ := span.Shape.Field("cls")
		text, _ := span.Shape.Field("text")
		fmt.Printf("at %d: %d, %s\n", span.Off, cls.Int(), text.Data())
	}
	// Output: at 147: 3, drei
}
