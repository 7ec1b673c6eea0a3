package stage

import (
	"bufio"
	"io"
	"os"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/internal/files"
	"github.com/ffconvert/ffconvert/internal/input"
)

// Head returns the first most bytes of a local file, decompressed, and the size of the file: -1
// if it is compressed. Of a truncated or damaged compressed file it returns the bytes that can be decompressed.
func Head(path string, most int) (head []byte, size int64, err error) {
	f, err := files.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	if !fi.Mode().IsRegular() {
		return nil, 0, &os.PathError{Op: "read", Path: path, Err: input.ErrNotRegular}
	}
	aio.ReadAhead(f, false)
	in := bufio.NewReaderSize(f, sniffLen)
	first, err := in.Peek(sniffLen)
	if err != nil && err != io.EOF {
		return nil, 0, err
	}
	compression, err := sniff(first)
	if err != nil || compression == "" {
		head = make([]byte, min(int64(most), fi.Size()))
		n, err := io.ReadFull(in, head)
		if err == io.ErrUnexpectedEOF || err == io.EOF {
			err = nil
		}
		return head[:n], fi.Size(), err
	}
	r, err := decoder(compression, in, DefaultMaxWindow)
	if err != nil {
		return nil, 0, err
	}
	defer r.Close()
	head = make([]byte, most)
	n, _ := io.ReadFull(r, head)
	return head[:n], -1, nil
}
