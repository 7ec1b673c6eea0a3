package mds

import (
	"encoding/json"
	"fmt"
	"math"
	"path"
	"path/filepath"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/checksum"
)

// IndexName is the name of the file that describes the shards of its directory.
const IndexName = "index.json"

// A Shard is the entry of one shard in index.json.
type Shard struct {
	Columns     []Column // in the order of values in a sample
	Compression string   // algorithm and level, as in zstd:7; "": none
	Samples     int64
	Raw         file // the uncompressed shard
	Zip         file // the compressed shard as stored; without a name if there is none

	// Stored is the path of the compressed file, if it is local. The caller of Open sets it, not ParseIndex.
	Stored string
}

// A Column is one column of a shard.
type Column struct {
	Name, Encoding string
	Size           int64 // of a value in bytes; 0: stored in each sample
}

// A file is a file of a shard. Its name has slashes and may have directories, as in merged indexes.
type file struct {
	Name   string
	Bytes  int64
	Hashes map[string]string // hexadecimal digests by algorithm
}

type shardJSON struct {
	configJSON
	Samples int64     `json:"samples"`
	Raw     *fileJSON `json:"raw_data"`
	Zip     *fileJSON `json:"zip_data"`
}

// A configJSON is the configuration, which is in the index and in the shard.
type configJSON struct {
	Version     int      `json:"version"`
	Format      string   `json:"format"`
	Compression *string  `json:"compression"`
	Names       []string `json:"column_names"`
	Encodings   []string `json:"column_encodings"`
	Sizes       []*int64 `json:"column_sizes"`
}

type fileJSON struct {
	Basename string            `json:"basename"`
	Bytes    int64             `json:"bytes"`
	Hashes   map[string]string `json:"hashes"`
}

// ParseIndex parses an index.json. name is for errors.
func ParseIndex(text []byte, name string) ([]Shard, error) {
	var index struct {
		Version int         `json:"version"`
		Shards  []shardJSON `json:"shards"`
	}
	fail := func(err error) error { return &converters.Error{Where: name, Off: -1, Err: err} }
	if err := json.Unmarshal(text, &index); err != nil {
		return nil, fail(fmt.Errorf("%w: %v", converters.ErrMalformed, checksum.Words(err)))
	}
	if index.Version != 2 {
		return nil, fail(fmt.Errorf("%w: version %d of index.json, 2 is expected", converters.ErrUnsupported, index.Version))
	}
	shards := make([]Shard, len(index.Shards))
	for i := range index.Shards {
		if err := index.Shards[i].shard(&shards[i]); err != nil {
			return nil, fail(fmt.Errorf("shard %d: %w", i, err))
		}
	}
	return shards, nil
}

func (j *shardJSON) shard(s *Shard) (err error) {
	if s.Columns, err = j.columns(); err != nil {
		return err
	}
	if j.Compression != nil {
		s.Compression = *j.Compression
	}
	if s.Samples = j.Samples; s.Samples < 0 || s.Samples > math.MaxUint32 {
		return fmt.Errorf("%w: it has %d samples", converters.ErrMalformed, s.Samples)
	}
	if j.Raw == nil || (s.Compression != "") != (j.Zip != nil) {
		return fmt.Errorf("%w: want raw_data, and zip_data if it is compressed", converters.ErrMalformed)
	}
	if s.Raw, err = j.Raw.file(); err == nil && j.Zip != nil {
		s.Zip, err = j.Zip.file()
	}
	return err
}

// columns returns the columns that a configuration describes.
func (j *configJSON) columns() ([]Column, error) {
	if j.Version != 2 || j.Format != "mds" {
		return nil, fmt.Errorf("%w: format %.40q, version %d; mds, version 2 is expected", converters.ErrUnsupported, j.Format, j.Version)
	}
	n := len(j.Names)
	if n == 0 || len(j.Encodings) != n || len(j.Sizes) != n {
		return nil, fmt.Errorf("%w: %d column_names, %d column_encodings, %d column_sizes", converters.ErrMalformed, n, len(j.Encodings), len(j.Sizes))
	}
	columns := make([]Column, n)
	seen := make(map[string]bool, n)
	for i, name := range j.Names {
		if seen[name] {
			return nil, fmt.Errorf("%w column %q", converters.ErrDuplicate, name)
		}
		seen[name] = true
		columns[i] = Column{Name: name, Encoding: j.Encodings[i]}
		if size := j.Sizes[i]; size != nil {
			columns[i].Size = *size
		}
		if size := columns[i].Size; size < 0 || size > math.MaxUint32 {
			return nil, fmt.Errorf("%w: column %q has values of %d bytes", converters.ErrMalformed, name, size)
		}
	}
	return columns, nil
}

func (j *fileJSON) file() (file, error) {
	name := path.Clean(j.Basename)
	if !filepath.IsLocal(filepath.FromSlash(name)) || name == "." {
		return file{}, fmt.Errorf("%w: the name %.200q leads out of the directory", converters.ErrUnsupported, j.Basename)
	}
	if j.Bytes < 0 {
		return file{}, fmt.Errorf("%w: %q has %d bytes", converters.ErrMalformed, name, j.Bytes)
	}
	return file{Name: name, Bytes: j.Bytes, Hashes: j.Hashes}, nil
}
