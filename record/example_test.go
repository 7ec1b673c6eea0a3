package record_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/ffconvert/ffconvert/record"
)

func Example() {
	dir, err := os.MkdirTemp("", "record")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, record.Name(0, 1))

	file, err := os.Create(path)
	if err != nil {
		log.Fatal(err)
	}
	w, err := record.NewWriter(file, 3) // three samples, no more and no fewer
	if err != nil {
		log.Fatal(err)
	}
	w.Append([]byte("hello, "), []byte("world")) // one sample in two parts
	w.Append()                                   // an empty one
	w.Append([]byte("goodbye"))
	sum, err := w.Close() // the Writer is sticky: this reports what any Append did
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d samples, %d bytes, header CRC %08x\n", sum.Samples, sum.Size, sum.HeaderCRC)

	r, err := record.Open(dir, record.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	for i := range r.Len() {
		sample, err := r.Read(i, nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%d %q\n", i, sample)
	}
	// Output:
	// 3 samples, 67 bytes, header CRC 61a656e3
	// 0 "hello, world"
	// 1 ""
	// 2 "goodbye"
}

// A batch in random order, as a training loop reads it, into the memory of the batch before.
func ExampleReader_ReadBatch() {
	r, err := record.Open("../testdata/ffrecord/three-samples.ffr", record.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	order := rand.Perm(r.Len())
	var batch [][]byte
	for len(order) > 0 {
		n := min(2, len(order))
		if batch, err = r.ReadBatch(context.Background(), order[:n], batch); err != nil {
			log.Fatal(err)
		}
		order = order[n:]
	}
	if batch, err = r.ReadBatch(context.Background(), []int{2, 0, 2}, batch); err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(batch[0]), string(batch[1]), len(batch[2]))
	// Output: 1000 hello 1000
}

func ExampleScanner() {
	file, err := os.Open("../testdata/ffrecord/refused/flipped-bit.ffr")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		log.Fatal(err)
	}
	s := record.NewScanner("flipped-bit.ffr", info.Size(), record.Options{})
	s.Problem = func(p *record.FormatError) { fmt.Println(p) }
	if _, err := io.Copy(s, file); err != nil && !errors.Is(err, record.ErrCorrupt) {
		log.Fatal(err) // the file could not be read; what is wrong with it went to Problem
	}
	sum, err := s.Close()
	fmt.Println(sum.Samples, errors.Is(err, record.ErrCorrupt))
	// Output:
	// flipped-bit.ffr: sample 0: byte 48: wrong checksum: stored 3610a686, computed 31190e5a over 5 bytes
	// 3 true
}
