package record

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
)

// A Reader gives access to the samples of one file, or of the files of a directory as one
// sequence. All its methods but Close may be called concurrently. It holds a descriptor a file,
// another of those that ReadBatch has read, and 12 bytes of memory a sample.
type Reader struct {
	files  []*file
	starts []int // index of the first sample of each file, and the total at the end
	queues queues
}

// A FileInfo says which file holds a part of the sequence.
type FileInfo struct {
	Path      string
	Samples   int64
	Size      int64  // bytes
	HeaderCRC uint32 // as stored; 0 in a legacy file
}

// Open opens a file, whatever its name, or all of a directory whose names end in .ffr, dot-files
// too, sorted as strings. A directory without any is an error, and so is a subdirectory of such a name.
//
// Each header is checked before anything is allocated for it. The last sample of each file is
// read and checked as well, so that cut or lengthened files are refused here, not at some later Read.
func Open(path string, opts Options) (*Reader, error) {
	paths, err := shardPaths(path)
	if err != nil {
		return nil, err
	}
	r := &Reader{starts: []int{0}, queues: queues{opts: opts.batches()}}
	var buf []byte
	for _, p := range paths {
		f, err := openFile(p, opts, &buf)
		if err != nil {
			r.Close()
			return nil, err
		}
		r.files = append(r.files, f)
		if f.n > int64(math.MaxInt-r.Len()) {
			r.Close()
			return nil, fmt.Errorf("open %s: %w: too many samples for this machine", path, ErrTooLarge)
		}
		r.starts = append(r.starts, r.Len()+int(f.n))
	}
	return r, nil
}

// shardPaths lists what Open opens, in order.
func shardPaths(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("open shards: %w", err)
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path) // sorted by name
	if err != nil {
		return nil, fmt.Errorf("open shards: %w", err)
	}
	var paths []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), Ext) {
			paths = append(paths, filepath.Join(path, e.Name()))
		}
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("open shards: no *%s file in %s: %w", Ext, path, fs.ErrNotExist)
	}
	return paths, nil
}

// Len is the number of samples.
func (r *Reader) Len() int { return r.starts[len(r.starts)-1] }

// Files lists the files in the order of their samples.
func (r *Reader) Files() []FileInfo {
	infos := make([]FileInfo, len(r.files))
	for k, f := range r.files {
		infos[k] = f.info()
	}
	return infos
}

// find is the file of sample i and its index there.
func (r *Reader) find(i int) (k int, j int64, err error) {
	if i < 0 || i >= r.Len() {
		return 0, 0, fmt.Errorf("sample %d of %d: %w", i, r.Len(), ErrRange)
	}
	k = sort.SearchInts(r.starts, i+1) - 1 // the last file that starts at or before i: empty ones are passed over
	return k, int64(i - r.starts[k]), nil
}

// Extent is the place of sample i, 0 ≤ i < Len: an index into Files, and where in that file.
// Any other i is ErrRange.
func (r *Reader) Extent(i int) (file int, e Extent, err error) {
	k, j, err := r.find(i)
	if err != nil {
		return 0, Extent{}, err
	}
	return k, r.files[k].extent(j), nil
}

// Read returns sample i, in buf's memory if that is large enough (its length is ignored), else in
// new memory. It returns no bytes whose CRC is wrong; then the result is nil.
func (r *Reader) Read(i int, buf []byte) ([]byte, error) {
	k, j, err := r.find(i)
	if err != nil {
		return nil, err
	}
	f := r.files[k]
	e := f.extent(j)
	buf = slices.Grow(buf[:0], int(e.Size))[:e.Size] // bounded: Open checked it against MaxSample
	if err := f.readAt(f.src, buf, e.Off, j); err != nil {
		return nil, err
	}
	if bad := f.gate(j, e, crc32.ChecksumIEEE(buf)); bad != nil {
		return nil, bad
	}
	return buf, nil
}

// Check says whether payload, read by other means, is sample i: its length, and its CRC, which is
// compared for an empty sample too.
func (r *Reader) Check(i int, payload []byte) error {
	k, j, err := r.find(i)
	if err != nil {
		return err
	}
	f := r.files[k]
	e := f.extent(j)
	if int64(len(payload)) != e.Size {
		return f.fault(j, e.Off, fmt.Errorf("%w: %d bytes of %d", ErrChecksum, len(payload), e.Size))
	}
	if bad := f.gate(j, e, crc32.ChecksumIEEE(payload)); bad != nil {
		return bad
	}
	return nil
}

// Close closes the files and frees what ReadBatch has kept. No Read or ReadBatch may be under way.
func (r *Reader) Close() error {
	errs := []error{r.queues.close()}
	for _, f := range r.files {
		errs = append(errs, f.close())
	}
	return errors.Join(errs...)
}
