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

// A Reader reads the samples of one file, or of all files of a directory as one sequence. All
// methods but Close may be called concurrently. A Reader holds one file descriptor per file, two for files from which
// ReadBatch has read.
//
// It checks the header of a file when the first sample is needed, by Read, ReadBatch or Extent. An error of that check
// is the error of all samples of the file. From then on the header is mapped, so that all processes share the pages that
// the page cache has of it; where it cannot be mapped, it takes 12 bytes of memory per sample.
type Reader struct {
	files  []*file
	starts []int // index of the first sample of each file, and at the end the number of samples
	queues queues
}

// A FileInfo describes one file.
type FileInfo struct {
	Path      string // "" from a Writer or a scanner
	Samples   int64
	Size      int64  // bytes
	HeaderCRC uint32 // as stored; it covers the CRCs of all samples, hence the whole file. 0 in a legacy file
}

// Open opens a file of any name, or all files of a directory with names that end in [Ext], hidden
// files too, in the order of names sorted as strings. A directory without such a file is an error,
// and so is a subdirectory with such a name.
//
// Open follows symbolic links, because a directory of shards does not list its files. A dataset with a manifest does,
// and packages loader and verify refuse links in it.
//
// Open reads the head and the first offset of each file: N is plausible, and the writer has finished. The CRC and the
// offsets of the header are checked when the first sample of the file is needed, and the last sample with them, to
// refuse truncated and lengthened files. A legacy file, or one without samples, is checked at once.
func Open(path string, opts Options) (*Reader, error) {
	paths, err := shardPaths(path)
	if err != nil {
		return nil, err
	}
	var files []FileInfo
	for _, p := range paths {
		files = append(files, FileInfo{Path: p})
	}
	return OpenFiles(files, opts)
}

// OpenFiles opens files of any names as one sequence, in this order, and checks them as [Open] does. Without files
// the Reader has no samples.
//
// What else is known of a file, by a manifest, is compared with it: Size if it is not 0, Samples and HeaderCRC if one of
// them is not. Where Size is known, nothing but the head is read, and the last sample is not needed to prove the length.
func OpenFiles(files []FileInfo, opts Options) (*Reader, error) {
	r := &Reader{starts: []int{0}, queues: queues{opts: opts.batches()}}
	for _, want := range files {
		f, err := openFile(want, opts)
		if err != nil {
			r.Close()
			return nil, err
		}
		r.files = append(r.files, f)
		if f.n > int64(math.MaxInt-r.Len()) {
			r.Close()
			return nil, fmt.Errorf("open %s: %w: too many samples for this machine", f.path, ErrTooLarge)
		}
		r.starts = append(r.starts, r.Len()+int(f.n))
	}
	return r, nil
}

// shardPaths returns the files that Open opens, in order.
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

// Len returns the number of samples.
func (r *Reader) Len() int { return r.starts[len(r.starts)-1] }

// Files returns the files in the order of their samples.
func (r *Reader) Files() []FileInfo {
	infos := make([]FileInfo, len(r.files))
	for k, f := range r.files {
		infos[k] = f.info()
	}
	return infos
}

// HeaderCRC returns the CRC-32 of the header of a file, an index into Files: the stored one, or, for a legacy file,
// the computed one.
func (r *Reader) HeaderCRC(file int) uint32 { return r.files[file].crc }

// Unchanged returns an error that matches ErrReplaced if the path of a file no longer names the open file, or the
// file has another size. Reads use only the open files.
func (r *Reader) Unchanged() error {
	for _, f := range r.files {
		if err := f.unchanged(); err != nil {
			return f.fault(-1, -1, err)
		}
	}
	return nil
}

// find returns the index of the file of sample i, and the index of the sample in that file.
func (r *Reader) find(i int) (k int, j int64, err error) {
	if i < 0 || i >= r.Len() {
		return 0, 0, fmt.Errorf("sample %d of %d: %w", i, r.Len(), errRange)
	}
	k = sort.SearchInts(r.starts, i+1) - 1 // the last file that starts at or before i; it is not empty
	return k, int64(i - r.starts[k]), nil
}

// Extent returns the location of sample i: an index into Files and the extent in that file. It is an error
// unless 0 ≤ i < Len.
func (r *Reader) Extent(i int) (file int, e Extent, err error) {
	k, j, err := r.find(i)
	if err != nil {
		return 0, Extent{}, err
	}
	e, err = r.files[k].locate(j)
	return k, e, err
}

// Read returns sample i, in the memory of buf if its capacity suffices, else in new memory. If the
// CRC does not match, Read returns nil and an error.
func (r *Reader) Read(i int, buf []byte) ([]byte, error) {
	k, j, err := r.find(i)
	if err != nil {
		return nil, err
	}
	f := r.files[k]
	e, err := f.locate(j)
	if err != nil {
		return nil, err
	}
	buf = slices.Grow(buf[:0], int(e.Size))[:e.Size] // bounded: at most MaxSample
	if err := f.readAt(f.src, buf, e.Off, j); err != nil {
		return nil, err
	}
	if bad := f.gate(j, e, crc32.ChecksumIEEE(buf)); bad != nil {
		return nil, bad
	}
	return buf, nil
}

// Close closes the files and frees the memory of ReadBatch. It must not be called while another method runs.
func (r *Reader) Close() error {
	errs := []error{r.queues.close()}
	for _, f := range r.files {
		errs = append(errs, f.close())
	}
	return errors.Join(errs...)
}
