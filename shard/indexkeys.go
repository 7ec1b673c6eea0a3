package shard

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// ErrIndex says that an index is damaged or not one of ours.
var ErrIndex = place.New(place.Corrupt, "index is damaged")

// IndexKeys returns the first n keys of a shard, a thousand at the most, from the index that
// is beside it; none where there is no index, or the dataset has no keys.
func IndexKeys(shardPath string, n int) ([]string, error) {
	name := filepath.Join(filepath.Dir(shardPath), filepath.FromSlash(dataset.IndexName(filepath.Base(shardPath))))
	f, err := dataset.OpenPath(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	keys, err := readKeys(f, min(n, 1000))
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", name, ErrIndex, strings.ReplaceAll(err.Error(), "\n", " "))
	}
	return keys, nil
}

// readKeys reads keys of the first rows of an index, which may be hostile: Arrow's reader
// believes the lengths in a file, allocates by them, and panics where they make no sense.
// So the bytes before the rows must be the ones we write there, the rows are read as a stream,
// without the footer, and each length of theirs is checked first.
func readKeys(f *os.File, n int) (keys []string, err error) {
	defer func() {
		if r := recover(); r != nil {
			keys, err = nil, fmt.Errorf("its lengths make no sense: %v", r)
		}
	}()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	head, shape, err := readIndexHead(f)
	if err != nil || !shape.Keys {
		return nil, err
	}
	var batch [8]byte // a marker, and the length of what describes the first rows
	at := int64(len(head))
	if _, err := f.ReadAt(batch[:], at); err != nil {
		return nil, err
	}
	const marker = 0xffffffff
	if m, size := binary.LittleEndian.Uint32(batch[:]), int64(binary.LittleEndian.Uint32(batch[4:])); m != marker || size > st.Size()-at {
		return nil, fmt.Errorf("%d bytes are said to follow offset %d", size, at)
	}
	const magic = 8 // bytes before the stream
	in := io.MultiReader(bytes.NewReader(head[magic:]), io.NewSectionReader(f, at, st.Size()-at))
	r, err := ipc.NewReader(in, ipc.WithAllocator(fileAllocator{memory.DefaultAllocator, st.Size()}))
	if err != nil {
		return nil, err
	}
	defer r.Release()
	rec, err := r.Read()
	if err != nil {
		return nil, err
	}
	column := rec.Column(0).(*array.String) // by the head
	for row := 0; row < column.Len() && len(keys) < n; row++ {
		keys = append(keys, strings.Clone(column.Value(row)))
	}
	return keys, nil
}

// readIndexHead returns the bytes before the rows of an index, and its columns.
func readIndexHead(f *os.File) ([]byte, plan.Columns, error) {
	for _, shape := range []plan.Columns{{Keys: true, Labels: true}, {Keys: true}, {Labels: true}, {}} {
		want, err := indexHead(shape)
		if err != nil {
			return nil, shape, err
		}
		got := make([]byte, len(want))
		if _, err := f.ReadAt(got, 0); err == nil && bytes.Equal(got, want) {
			return want, shape, nil
		}
	}
	return nil, plan.Columns{}, errors.New("it does not begin as an index does")
}

// indexHead returns the bytes before the rows of an index of that shape.
func indexHead(shape plan.Columns) ([]byte, error) {
	var b seekBuffer
	w, err := ipc.NewFileWriter(&b, ipc.WithSchema(schemaOf(shape)))
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, err
	}
	const before = 16 // the magic bytes, a marker, the length of the schema
	return b.Bytes()[:before+binary.LittleEndian.Uint32(b.Bytes()[before-4:])], nil
}

// A seekBuffer is a buffer that can say how long it is.
type seekBuffer struct{ bytes.Buffer }

func (b *seekBuffer) Seek(int64, int) (int64, error) { return int64(b.Len()), nil }

// A fileAllocator allocates at most as many bytes at once as a file has, which is not
// compressed.
type fileAllocator struct {
	memory.Allocator
	most int64
}

func (a fileAllocator) Allocate(size int) []byte {
	a.check(size)
	return a.Allocator.Allocate(size)
}

func (a fileAllocator) Reallocate(size int, data []byte) []byte {
	a.check(size)
	return a.Allocator.Reallocate(size, data)
}

func (a fileAllocator) check(size int) {
	const padding = 64
	if size < 0 || int64(size) > a.most+padding {
		panic(fmt.Sprintf("%d bytes in a file of %d", size, a.most))
	}
}
