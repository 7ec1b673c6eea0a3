package loader

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"sort"
	"strings"

	"github.com/ffconvert/ffconvert/dataset/cached"
	"github.com/ffconvert/ffconvert/dataset/lookup"
	"github.com/ffconvert/ffconvert/decode"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/record"
)

// data are the samples of several datasets, concatenated.
type data struct {
	reader *cached.Reader
	files  []record.FileInfo
	counts []int             // files of each dataset
	starts []int64           // number of the first sample of each file
	sets   []set             // datasets that have samples
	kept   []*cached.Dataset // those in object stores

	keys string  // all keys, concatenated
	ends []int64 // end of each key in keys; nil without Options.Keys
}

// A set describes the records of one dataset.
type set struct {
	first     int64    // number of its first sample
	encodings []string // encodings of its records
	of        []int32  // index in encodings for each sample; nil: 0 for all
}

var errNoKeys = place.New(place.Refused, "its samples have no keys")

func openData(paths []string, opts Options) (*data, error) {
	d := &data{reader: new(cached.Reader)}
	if err := d.open(paths, opts); err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

func (d *data) open(paths []string, opts Options) (err error) {
	var files []record.FileInfo
	var all []*lookup.Dataset
	for _, path := range paths {
		before := len(files)
		if isURL(path) {
			x, l, copies, err := openKept(path, opts)
			if err != nil {
				return err
			}
			d.reader.Add(x, samplesOf(files))
			files, all, d.kept = append(files, copies...), append(all, l), append(d.kept, x)
			d.counts = append(d.counts, len(copies))
			continue
		}
		l, err := lookup.Open(path, lookup.Options{Record: opts.Record, Encoding: opts.Encoding})
		if err != nil {
			return err
		}
		for _, f := range l.Files() {
			if err := ownFile(l, f.Path); err != nil {
				return err
			}
			files = append(files, f)
		}
		all = append(all, l)
		d.counts = append(d.counts, len(files)-before)
	}
	if d.reader.Reader, err = record.OpenFiles(files, opts.Record); err != nil {
		return err
	}
	d.files = d.reader.Files()
	next := int64(0)
	for _, f := range d.files {
		d.starts = append(d.starts, next)
		next += f.Samples
	}
	return d.describe(all, opts)
}

func samplesOf(files []record.FileInfo) (n int64) {
	for _, f := range files {
		n += f.Samples
	}
	return n
}

func (d *data) close() (err error) {
	if d.reader.Reader != nil {
		err = d.reader.Close()
	}
	for _, x := range d.kept {
		err = errors.Join(err, x.Close())
	}
	return err
}

var errLink = place.New(place.Corrupt, "a link, where a dataset has a file")

// ownFile returns an error if a symbolic link is in the place of a shard of a dataset with a manifest, as verify does:
// it could lead anywhere. A shard that the caller named by path may be a link.
func ownFile(d *lookup.Dataset, path string) error {
	if !d.Ours() || d.Path != d.Dir {
		return nil
	}
	if st, err := os.Lstat(path); err == nil && st.Mode()&fs.ModeSymlink != 0 { // opening reports other errors
		return &place.Error{Where: path, Off: -1, Err: errLink, Hint: "copy it there, or give the name of the file it leads to"}
	}
	return nil
}

// describe stores the encodings, and the keys if they are wanted.
func (d *data) describe(all []*lookup.Dataset, opts Options) error {
	first := int64(0)
	var keys strings.Builder
	for _, x := range all {
		if x.Len() == 0 {
			continue
		}
		s := set{first: first}
		first += x.Len()
		if opts.Keys {
			if keyed, err := x.Keyed(); err != nil || !keyed {
				return errors.Join(err, &place.Error{Where: x.Path, Off: -1, Err: errNoKeys})
			}
		}
		if len(opts.Fields) > 0 {
			if err := s.encoding(x); err != nil {
				return err
			}
		}
		mixed := len(s.encodings) > 1
		d.sets = append(d.sets, s)
		if !opts.Keys && !mixed {
			continue
		}
		for row, err := range x.Walk(context.Background()) {
			if err != nil {
				return err
			}
			if opts.Keys {
				keys.WriteString(row.Key)
				d.ends = append(d.ends, int64(keys.Len()))
			}
			if mixed {
				d.sets[len(d.sets)-1].mark(x.Encoding(row))
			}
		}
	}
	d.keys = keys.String()
	return nil
}

// encoding stores the encodings of a dataset, each of which must be known.
func (s *set) encoding(x *lookup.Dataset) error {
	s.encodings = x.Encodings()
	if len(s.encodings) < 2 {
		s.encodings = []string{x.Encoding(new(lookup.Row))}
	}
	for _, e := range s.encodings {
		if e == "" {
			return &place.Error{Where: x.Path, Off: -1, Err: lookup.ErrNoFields, Hint: "set Options.Encoding"}
		}
		if _, err := decode.New(e, decode.Limits{}); err != nil {
			return err
		}
	}
	return nil
}

// mark stores the encoding of the next sample, in a dataset that has several.
func (s *set) mark(encoding string) {
	n := 0
	for n < len(s.encodings) && s.encodings[n] != encoding {
		n++
	}
	if n == len(s.encodings) {
		s.encodings = append(s.encodings, encoding) // raw records, whose encoding Options.Encoding may name
	}
	s.of = append(s.of, int32(n))
}

// encodingOf returns the encoding of the record of sample i.
func (d *data) encodingOf(i int64) string {
	s := &d.sets[sort.Search(len(d.sets), func(k int) bool { return d.sets[k].first > i })-1]
	if s.of == nil {
		return s.encodings[0]
	}
	return s.encodings[s.of[i-s.first]]
}

func (d *data) key(i int64) string {
	from := int64(0)
	if i > 0 {
		from = d.ends[i-1]
	}
	return d.keys[from:d.ends[i]]
}

func (d *data) fail(i int64, err error) error {
	k, e, outside := d.reader.Extent(int(i))
	if outside != nil {
		return outside
	}
	return &record.FormatError{Path: d.files[k].Path, Sample: i - d.starts[k], Off: e.Off, Err: err}
}
