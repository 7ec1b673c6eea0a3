package aio_test

import (
	"context"
	"fmt"
	"hash/crc32"
	"log"
	"os"
	"path/filepath"

	"github.com/ffconvert/ffconvert/aio"
)

// A checksum of a whole file, read in order in large blocks.
func ExampleReader_Sweep() {
	dir, err := os.MkdirTemp("", "aio")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "data")
	if err := os.WriteFile(path, make([]byte, 3<<20), 0o644); err != nil {
		log.Fatal(err)
	}

	r, err := aio.NewReader(aio.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	f, err := aio.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()

	crc := uint32(0)
	for block, err := range r.Sweep(context.Background(), f, 0, f.Size()) {
		if err != nil {
			log.Fatal(err)
		}
		crc = crc32.Update(crc, crc32.IEEETable, block)
	}
	fmt.Printf("%d bytes, crc %08x\n", f.Size(), crc)
	// Output: 3145728 bytes, crc 79724fc6
}

// Scattered reads: all of them are in flight together, up to the depth.
func ExampleReader_ReadBatch() {
	dir, err := os.MkdirTemp("", "aio")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "data")
	if err := os.WriteFile(path, []byte("one two three"), 0o644); err != nil {
		log.Fatal(err)
	}

	r, err := aio.NewReader(aio.Options{BlockSize: 4096})
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	f, err := aio.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()

	reqs := []aio.Request{
		{File: f, Off: 8, Buf: make([]byte, 5)},
		{File: f, Off: 0, Buf: make([]byte, 3)},
		{File: f, Off: 10, Buf: make([]byte, 5)}, // two bytes too many
	}
	err = r.ReadBatch(context.Background(), reqs)
	fmt.Println(err != nil)
	for _, q := range reqs {
		if q.Err == nil {
			fmt.Printf("%s\n", q.Buf)
		}
	}
	// Output:
	// true
	// three
	// one
}
