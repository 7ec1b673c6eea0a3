// Package lookup opens a finished dataset, or other people's FFRecord files, for single samples: by number, by key,
// and one after another.
//
//	d, err := lookup.Open("out", lookup.Options{})
//	for row, err := range d.Find(ctx, "train/000017") {
//		record, err := d.Record(ctx, row) // compared with its CRC
//	}
//
// A sample is found by its number with five reads: the manifest, three in the header of its shard, and its
// record. By its key it is found by the keys in all indexes: some 10 ms a million samples where they are cached.
//
// [Compare] finds the differences between two datasets.
package lookup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/decode"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/record"
)

// Options control which datasets are accepted. The zero value has the limits of package record, and takes records of other
// people's files for opaque bytes.
type Options struct {
	Record   record.Options
	Encoding string        // of the records of other people's files, and of raw ones; "": not known
	Limits   decode.Limits // of decoded records

	// Open, if not nil, opens shards and indexes by their names, and says how large they are: [dataset.Dataset.Open] does, of a
	// dataset in an object store. Indexes were compared with their checksums. The manifest is read from the directory all the same.
	Open func(name string) (dataset.File, int64, error)
	// URL is the dataset's where Open is not nil, without a slash at its end. It takes the place of the directory in paths.
	URL string
}

// A Dataset is an opened dataset. It holds no shard open. Its methods must not be called concurrently: see [Dataset.Fork].
type Dataset struct {
	Path     string            // the argument of Open, or Options.URL
	Dir      string            // of the manifest, and unless Options.Open opens them, of the shards
	manifest *dataset.Manifest // nil: other people's files
	shards   []shard
	starts   []int64 // number of the first sample of each shard, and at the end the number of all samples
	opts     Options
	decoders map[string]*decode.Decoder // by encoding
}

// A shard holds the facts about a shard that need no open file.
type shard struct {
	path      string
	samples   int64
	size      int64 // by the manifest; 0: not known
	headerCRC uint32
	index     string // path; "": there is none
	sum       dataset.FileSum
}

// ErrNoFields reports records of an encoding that is not known.
var ErrNoFields = place.New(place.Refused, "what its records are is not known, as it is not a dataset of ffconvert")

// Open opens a directory, or a single shard, which has the keys of its dataset where it is one of a dataset.
func Open(path string, opts Options) (*Dataset, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, place.IOError(path, err)
	}
	d := &Dataset{Path: path, Dir: path, opts: opts, decoders: make(map[string]*decode.Decoder)}
	name := ""
	if !st.IsDir() {
		d.Dir, name = filepath.Dir(path), filepath.Base(path)
	}
	if d.manifest, err = dataset.ReadShards(d.Dir); err == nil && len(d.manifest.Encodes) > 0 {
		d.manifest, err = dataset.ReadManifest(d.Dir) // which source a sample is of says how its record is encoded
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if d.manifest != nil {
		d.addOurs(name)
	}
	if len(d.shards) == 0 {
		d.manifest = nil
		err = d.addOthers(name)
	}
	if err != nil {
		return nil, err
	}
	if opts.Open != nil {
		d.Path = opts.URL
	}
	d.starts = []int64{0}
	for i := range d.shards {
		d.starts = append(d.starts, d.Len()+d.shards[i].samples)
	}
	return d, nil
}

// Fork returns the same dataset, which may be used at the same time as d. It has decoders of its own.
func (d *Dataset) Fork() *Dataset {
	fork := *d
	fork.decoders = make(map[string]*decode.Decoder)
	return &fork
}

// addOurs enters the shards of the manifest, or the one of that name.
func (d *Dataset) addOurs(name string) {
	at := func(name string) string { return filepath.Join(d.Dir, filepath.FromSlash(name)) }
	if d.opts.Open != nil {
		at = func(name string) string { return d.opts.URL + "/" + name }
	}
	for i := range d.manifest.Shards {
		s := &d.manifest.Shards[i]
		if name == "" || name == s.Name {
			d.shards = append(d.shards, shard{at(s.Name), s.Samples, s.Bytes, s.HeaderCRC, at(dataset.IndexName(s.Name)), s.Index})
		}
	}
}

// addOthers enters the file of that name, or all shards of the directory in the order of their names.
func (d *Dataset) addOthers(name string) error {
	names := []string{name}
	if name == "" {
		if _, err := os.Lstat(filepath.Join(d.Dir, dataset.WorkDir)); err == nil {
			return &place.Error{Where: d.Path, Off: -1, Err: dataset.ErrUnfinished}
		}
		entries, err := os.ReadDir(d.Dir)
		if err != nil {
			return place.IOError(d.Dir, err)
		}
		names = nil
		for _, e := range entries {
			if strings.HasSuffix(e.Name(), record.Ext) {
				names = append(names, e.Name())
			}
		}
		if len(names) == 0 {
			return fmt.Errorf("open shards: no *%s file in %s: %w", record.Ext, d.Path, fs.ErrNotExist)
		}
	}
	for _, name := range names {
		f, info, err := d.opts.openShard(&shard{path: filepath.Join(d.Dir, name), samples: -1})
		if err != nil {
			return err
		}
		d.shards = append(d.shards, shard{path: info.Path, samples: info.Samples, headerCRC: info.HeaderCRC})
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

// Files describes the shards by the manifest, or else by their heads: then Size is 0.
func (d *Dataset) Files() []record.FileInfo {
	var all []record.FileInfo
	for _, s := range d.shards {
		all = append(all, record.FileInfo{Path: s.path, Samples: s.samples, Size: s.size, HeaderCRC: s.headerCRC})
	}
	return all
}

// Ours reports whether it is a dataset of this program, with a manifest.
func (d *Dataset) Ours() bool { return d.manifest != nil }

// Of returns how many shards and samples the dataset has, of which d may be one shard.
func (d *Dataset) Of() (shards int, samples int64) {
	if d.manifest == nil {
		return len(d.shards), d.Len()
	}
	for i := range d.manifest.Shards {
		samples += d.manifest.Shards[i].Samples
	}
	return len(d.manifest.Shards), samples
}

// Len returns the number of samples.
func (d *Dataset) Len() int64 { return d.starts[len(d.starts)-1] }

// Encodings returns the encodings of the records, sorted; none if they are not known.
func (d *Dataset) Encodings() []string {
	if d.manifest == nil {
		if d.opts.Encoding == "" {
			return nil
		}
		return []string{d.opts.Encoding}
	}
	all := []string{d.manifest.Encode.Encoding}
	for _, e := range d.manifest.Encodes {
		all = append(all, e.Encoding)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Keyed reports whether the samples have keys.
func (d *Dataset) Keyed() (bool, error) {
	if d.shards[0].index == "" {
		return false, nil
	}
	x, err := d.opts.openIndex(&d.shards[0])
	if err != nil {
		return false, err
	}
	defer x.close()
	return x.rows.Keyed(), nil
}

// find returns the shard of sample n, and its number there.
func (d *Dataset) find(n int64) (k int, i int64) {
	k = sort.Search(len(d.shards), func(k int) bool { return d.starts[k+1] > n })
	return k, n - d.starts[k]
}
