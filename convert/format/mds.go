package format

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/mds"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/option"
)

// mdsExts are the extensions of shards in MosaicML Streaming: uncompressed, and with each compression.
var mdsExts = []string{".mds", ".mds.zstd", ".mds.zst", ".mds.gz", ".mds.bz2", ".mds.snappy", ".mds.br"}

func isMDS(name string) bool {
	return slices.ContainsFunc(mdsExts, func(ext string) bool { return strings.HasSuffix(name, ext) })
}

func mdsOptions(set *option.Set) Opener {
	var opts mds.Options
	var maxIndex int64
	set.AddLimit("max-index-size", "largest index.json accepted", option.MaxSize(&maxIndex, 256<<20))
	set.AddLimit("max-sample-size", "largest sample accepted", option.MaxSize(&opts.MaxSample, mds.DefaultMaxSample))
	return Opener{Arrange: arrangeMDS, Open: func(ctx context.Context, req OpenRequest) (converters.Source, error) {
		shards, err := mdsShards(ctx, req, maxIndex)
		if err != nil {
			return nil, err
		}
		opts.MaxJSON, opts.MaxDepth, opts.Load = req.Records.Limits.MaxDecode, req.Records.Limits.MaxDepth, loaded(req.Records)
		return mds.Open(req.Parts, shards, opts)
	}}
}

// arrangeMDS selects the shards of a directory, in numerical order. If streaming keeps a shard both compressed and
// uncompressed, only the uncompressed file is selected.
func arrangeMDS(names []string) ([]string, error) {
	var all []string
	for _, name := range names {
		raw, _, _ := strings.Cut(name, ".mds")
		if raw += ".mds"; isMDS(name) && (name == raw || !slices.Contains(names, raw)) {
			all = append(all, name)
		}
	}
	slices.SortFunc(all, func(a, b string) int { // shard.100000 follows shard.99999
		return cmp.Or(cmp.Compare(strings.Index(a, ".mds"), strings.Index(b, ".mds")), strings.Compare(a, b))
	})
	return all, nil
}

// mdsShards returns the entries of the parts in the index.json of their directory or one above. maxIndex limits its
// bytes.
func mdsShards(ctx context.Context, req OpenRequest, maxIndex int64) ([]mds.Shard, error) {
	parts := req.Parts
	dirs := make(map[string]*mdsDir)
	shards := make([]mds.Shard, len(parts))
	for i := range parts {
		of, name := dirOf(&parts[i], req.Files)
		if name == "" || !of.readable() {
			return nil, &converters.Error{Where: parts[i].Name, Off: -1, Err: fmt.Errorf("%w: %s is not beside it", converters.ErrUnsupported, mds.IndexName), Hint: "name files, or a directory"}
		}
		d := dirs[of.name]
		if d == nil {
			var err error
			if d, err = openMDS(ctx, of, maxIndex); err != nil {
				return nil, err
			}
			dirs[of.name] = d
		}
		if name == mds.IndexName {
			hint := "name the directory"
			if of.remote {
				hint = "name the directory, or where a server gives no list of it the shards, shard.{00000..00009}.mds"
			}
			return nil, &converters.Error{Where: parts[i].Name, Off: -1, Err: fmt.Errorf("%w: it is the list of the shards", converters.ErrUnsupported), Hint: hint}
		}
		s, err := d.take(name)
		if err != nil {
			return nil, &converters.Error{Where: parts[i].Name, Off: -1, Err: err}
		}
		if shards[i] = *s; !of.remote && s.Zip.Name != "" && path.Base(s.Zip.Name) == name {
			shards[i].Stored = filepath.Join(of.name, name)
		}
	}
	for _, d := range dirs {
		if err := d.complete(ctx); err != nil {
			return nil, err
		}
	}
	return shards, nil
}

// An mdsDir is a directory with an index.json, and the content of that.
type mdsDir struct {
	dir           // of the index
	below  string // path from there to the directory of the shards: "", or with a final slash
	shards []mds.Shard
	byName map[string]int
	taken  []bool
}

// mostUp is how many directories above its shards an index.json may be: that of a merged dataset names shards in
// subdirectories.
const mostUp = 3

// openMDS reads the index.json for a directory of shards.
func openMDS(ctx context.Context, of dir, maxIndex int64) (*mdsDir, error) {
	d := &mdsDir{dir: of}
	for range mostUp {
		text, err := d.read(ctx, mds.IndexName, maxIndex, "option max-index-size")
		if err != nil {
			return nil, err
		}
		if text != nil {
			return d, d.parse(text)
		}
		up, last := path.Split(strings.TrimSuffix(filepath.ToSlash(d.name), "/"))
		if last == "" || last == "." || last == ".." || strings.HasSuffix(up, "//") {
			break
		}
		d.name, d.below = up, last+"/"+d.below
	}
	return nil, &converters.Error{Where: of.name + mds.IndexName, Off: -1, Err: input.ErrNotFound, Hint: "shards are read by the index.json beside them"}
}

func (d *mdsDir) parse(text []byte) (err error) {
	d.shards, err = mds.ParseIndex(text, d.name+mds.IndexName)
	d.taken, d.byName = make([]bool, len(d.shards)), make(map[string]int)
	for i := range d.shards {
		for _, name := range []string{d.shards[i].Raw.Name, d.shards[i].Zip.Name} {
			if _, twice := d.byName[name]; twice && name != "" {
				return &converters.Error{Where: name, Off: -1, Err: fmt.Errorf("%w: index.json names it twice", converters.ErrDuplicate)}
			}
			d.byName[name] = i
		}
	}
	return err
}

// take returns the shard that has this file, and marks it as read.
func (d *mdsDir) take(name string) (*mds.Shard, error) {
	i, ok := d.byName[d.below+name]
	if !ok {
		return nil, fmt.Errorf("%w: %s does not name it", converters.ErrUnsupported, d.name+mds.IndexName)
	}
	s := &d.shards[i]
	if d.taken[i] {
		return nil, fmt.Errorf("%w: the shard is given twice", converters.ErrDuplicate)
	}
	d.taken[i] = true
	algorithm, _, _ := strings.Cut(s.Compression, ":")
	if s.Compression = ""; s.Zip.Name != d.below+name { // the file is not compressed
		return s, nil
	}
	if !slices.Contains([]string{"zstd", "gz", "bz2", "snappy"}, algorithm) {
		return nil, fmt.Errorf("%w: a shard compressed by %.20q; decompress it", converters.ErrUnsupported, algorithm)
	}
	s.Compression = algorithm
	return s, nil
}

// complete checks that the shards of the index that are not read exist: samples of a missing one would be lost
// unnoticed.
func (d *mdsDir) complete(ctx context.Context) error {
	var names []string
	for i := range d.shards {
		s := &d.shards[i]
		if dir, _ := path.Split(s.Raw.Name); d.taken[i] || dir != d.below {
			continue
		}
		name := cmp.Or(s.Zip.Name, s.Raw.Name)
		if _, err := os.Lstat(filepath.Join(d.name, filepath.FromSlash(s.Zip.Name))); !d.remote && errors.Is(err, fs.ErrNotExist) {
			name = s.Raw.Name // one of the two is enough
		}
		names = append(names, name)
	}
	return d.look(ctx, names, "index.json names it")
}
