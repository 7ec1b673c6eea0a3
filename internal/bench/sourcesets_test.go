//go:build bench && linux

package bench

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
)

// files is a folder of ten classes, 10,000 files of 1 GiB in all at 2 GiB.
var files = sync.OnceValues(func() (string, error) {
	noise := rand.NewChaCha8([32]byte{2})
	dir := filepath.Join(work, "files")
	data := make([]byte, 1<<30/10_000)
	count := volume * 10_000 / (2 << 30)
	for i := range count {
		noise.Read(data)
		class := filepath.Join(dir, fmt.Sprintf("class-%d", i*10/count))
		if err := os.MkdirAll(class, 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(class, fmt.Sprintf("%06d.jpg", i)), data, 0o644); err != nil {
			return "", err
		}
	}
	return dir, nil
})

// strings100 is ten CBOR sequences of byte strings of 100 KB, 4,000 in all at 2 GiB.
var strings100 = sync.OnceValues(func() (string, error) {
	noise := rand.NewChaCha8([32]byte{3})
	data := make([]byte, 100_000)
	return makeParts("strings", 10, "cbors", func(w *bufio.Writer, _ int) {
		for range stringCount() / 10 {
			noise.Read(data)
			w.Write(binary.BigEndian.AppendUint32([]byte{0x5a}, uint32(len(data))))
			w.Write(data)
		}
	})
})

func stringCount() int64 { return volume * 4_000 / (2 << 30) / 10 * 10 }

var smallItemCounts = [3]int64{125_000, 500_000, 2_000_000}

// smallItemsOf is eight CBOR sequences of maps such as {"__key__": "0000123", "x": 1.5,
// "label": 3}.
var smallItemsOf = bySize(func(count int64) (string, error) {
	return makeParts(fmt.Sprint("items-", count), 8, "cbors", func(w *bufio.Writer, part int) {
		for i := range int(count) / 8 {
			fmt.Fprintf(w, "\xa3\x67__key__\x67%07d\x61x\xfb", part*int(count)/8+i)
			w.Write(binary.BigEndian.AppendUint64(nil, uint64(0x3ff8_0000_0000_0000+i)))
			w.WriteString("\x65label")
			w.WriteByte(byte(i % 24))
		}
	})
})

func pairRows() int64 { return volume * 1_000_000 / (2 << 30) * 8 }

// pairs is eight parts of rows of two floats between 0 and 1, written as Python and Go
// write them: in as few digits as give the same number back. A million rows each at 2 GiB.
var pairs = sync.OnceValues(func() (string, error) {
	rnd := rand.New(rand.NewPCG(4, 0))
	return makeParts("pairs", 8, "", func(w *bufio.Writer, _ int) {
		var row []byte
		for range pairRows() / 8 {
			row = strconv.AppendFloat(row[:0], rnd.Float64(), 'g', -1, 64)
			row = append(row, ',')
			row = strconv.AppendFloat(row, rnd.Float64(), 'g', -1, 64)
			w.Write(append(row, '\n'))
		}
	})
})

// shortPairs is as many rows in eight parts, of two floats with four digits: 14 bytes a row.
var shortPairs = sync.OnceValues(func() (string, error) {
	rnd := rand.New(rand.NewPCG(5, 0))
	return makeParts("short-pairs", 8, "", func(w *bufio.Writer, _ int) {
		for range pairRows() / 8 {
			fmt.Fprintf(w, "0.%04d,0.%04d\n", rnd.IntN(10_000), rnd.IntN(10_000))
		}
	})
})

// makeParts writes part-0 and so on, and syncs them.
func makeParts(name string, parts int, ext string, write func(w *bufio.Writer, part int)) (string, error) {
	dir := filepath.Join(work, name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	if ext != "" {
		ext = "." + ext
	}
	for i := range parts {
		if err := makePart(filepath.Join(dir, fmt.Sprintf("part-%d%s", i, ext)), func(w *bufio.Writer) { write(w, i) }); err != nil {
			return "", err
		}
	}
	return dir, nil
}

func makePart(path string, write func(w *bufio.Writer)) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	write(w)
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Sync()
}

// makeNames makes so many names of empty files. They are links to a few files, which are made and removed in a
// fifth of the time; the memory for a name is what is looked at.
func makeNames(t *testing.T, dir string, count int) {
	t.Helper()
	const links = 50_000 // of one file; ext4 has 65,000 at the most
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var file string
	for i := range count {
		name := filepath.Join(dir, fmt.Sprintf("%015d.JPEG", i))
		var err error
		if i%links == 0 {
			file = name
			err = os.WriteFile(file, nil, 0o644)
		} else {
			err = os.Link(file, name)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
