package format

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/ffr"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/place"
)

// A knownShard is a part. dataset is nil unless the part is a shard of a dataset.
type knownShard struct {
	dataset *dataset.Manifest
	dir     *shardDir
	at      int    // index in dataset.manifest.Shards
	index   string // local path of its index file
}

func (k *knownShard) shard() ffr.Shard {
	if k.dataset == nil {
		return ffr.Shard{}
	}
	s := &k.dataset.Shards[k.at]
	return ffr.Shard{Index: k.index, IndexSize: s.Index.Bytes, IndexCRC: s.Index.CRC, Samples: s.Samples, HeaderCRC: s.HeaderCRC}
}

// A shardDir is a directory with shards, local or remote, and its manifest.
type shardDir struct {
	dir
	manifest *dataset.Manifest // nil: it has no dataset of this program
	at       map[string]int    // position of each shard in the manifest, by name
	meta     *dataset.Meta
}

// shardsOf returns the dataset of each part. It fetches remote manifests, descriptions and indexes.
func shardsOf(ctx context.Context, parts []converters.Part, files Files) ([]knownShard, error) {
	dirs := make(map[string]*shardDir)
	known := make([]knownShard, len(parts))
	for i := range parts {
		of, name := dirOf(&parts[i], files)
		if name == "" || !of.readable() {
			continue
		}
		d := dirs[of.name]
		if d == nil {
			d = &shardDir{dir: of}
			if err := d.read(ctx); err != nil {
				return nil, err
			}
			dirs[of.name] = d
		}
		at, ok := d.at[name]
		if !ok && d.manifest != nil {
			err := fmt.Errorf("%w: it is not of this dataset: %s does not name it", converters.ErrMalformed, dataset.ManifestName)
			return nil, &converters.Error{Where: d.name + name, Off: -1, Err: err, Hint: "move it out of the directory"}
		}
		if ok {
			known[i] = knownShard{dataset: d.manifest, dir: d, at: at}
		}
	}
	for _, d := range dirs {
		if err := d.complete(ctx, known); err != nil {
			return nil, err
		}
	}
	return known, nil
}

// read reads the manifest and the description of a directory.
func (d *shardDir) read(ctx context.Context) error {
	manifest, err := d.path(ctx, dataset.ManifestName, isManifest)
	if err != nil {
		return err
	}
	if manifest == "" {
		begun, err := d.begun(ctx)
		if err != nil {
			return err
		}
		if begun {
			return &converters.Error{Where: strings.TrimSuffix(d.name, "/"), Off: -1, Err: dataset.ErrUnfinished}
		}
		return nil
	}
	if d.manifest, err = dataset.ReadManifestFile(manifest); err != nil {
		return err
	}
	d.at = make(map[string]int, len(d.manifest.Shards))
	for i := range d.manifest.Shards {
		d.at[d.manifest.Shards[i].Name] = i
	}
	meta, err := d.path(ctx, dataset.MetaName, d.sums())
	if err != nil {
		return err
	}
	if meta == "" {
		return d.missing(dataset.MetaName)
	}
	d.meta, err = d.manifest.ReadMeta(meta)
	return err
}

// manifestRereads is how often a damaged manifest is fetched again.
const manifestRereads = 2

// manifestContents returns the shards that the manifest of a directory lists.
func manifestContents(read func(name string) (text []byte, where string, err error)) (*input.Contents, error) {
	var m *dataset.Manifest
	for n := 0; ; n++ { // it may have been damaged in transfer
		text, where, err := read(dataset.ManifestName)
		if errors.Is(err, input.ErrNotFound) {
			return nil, checkFinished(strings.TrimSuffix(where, "/"+dataset.ManifestName), read)
		}
		if err != nil {
			return nil, err
		}
		if m, err = dataset.ParseManifest(where, text); err == nil {
			break
		}
		if n == manifestRereads {
			return nil, err
		}
	}
	names := make([]string, len(m.Shards))
	for i := range m.Shards {
		names[i] = m.Shards[i].Name
	}
	return &input.Contents{Names: names, Missing: dataset.ErrMissing, Hint: "ffconvert repair"}, nil
}

// checkFinished returns an error if a directory without a manifest has an unfinished dataset.
func checkFinished(dir string, read func(name string) (text []byte, where string, err error)) error {
	for _, name := range []string{dataset.PlanName, dataset.CopyName} {
		switch _, _, err := read(name); {
		case err == nil || errors.Is(err, input.ErrMalformed): // the file is larger than the read limit
			return &converters.Error{Where: dir, Off: -1, Err: dataset.ErrUnfinished}
		case !errors.Is(err, input.ErrNotFound):
			return err
		}
	}
	return nil
}

// begun reports whether a conversion or a copy into the directory was begun.
func (d *shardDir) begun(ctx context.Context) (bool, error) {
	if !d.remote {
		_, err := os.Lstat(filepath.Join(d.name, dataset.WorkDir))
		return err == nil, nil
	}
	for _, name := range []string{dataset.PlanName, dataset.CopyName} {
		if err := d.look(ctx, []string{name}, ""); !errors.Is(err, input.ErrNotFound) {
			return err == nil, err
		}
	}
	return false, nil
}

// complete sets the paths of the indexes of the read shards, and checks that the other shards exist: samples of a
// missing one would be lost unnoticed.
func (d *shardDir) complete(ctx context.Context, known []knownShard) error {
	if d.manifest == nil {
		return nil
	}
	var read []*knownShard
	here := make(map[int]bool)
	for i := range known {
		if known[i].dir == d {
			read = append(read, &known[i])
			here[known[i].at] = true
		}
	}
	var others, indexes []string
	for i := range d.manifest.Shards {
		if !here[i] {
			others = append(others, d.manifest.Shards[i].Name)
		}
	}
	for _, k := range read {
		indexes = append(indexes, dataset.IndexName(d.manifest.Shards[k.at].Name))
	}
	if err := d.look(ctx, others, ""); err != nil {
		return d.lost(err)
	}
	paths, err := d.paths(ctx, indexes, d.sums())
	if err != nil {
		return d.lost(err)
	}
	for i, k := range read {
		k.index = paths[i]
	}
	return nil
}

// lost returns the error of a search for files in the manifest: for a file that does not exist, missing.
func (d *shardDir) lost(err error) error {
	if e, ok := errors.AsType[*place.Error](err); ok && errors.Is(err, input.ErrNotFound) {
		return d.missing(strings.TrimPrefix(e.Where, d.name))
	}
	return err
}

func (d *shardDir) missing(name string) error {
	return &converters.Error{Where: d.name + name, Off: -1, Err: dataset.ErrMissing, Hint: "ffconvert repair " + strings.TrimSuffix(d.name, "/")}
}

// describeShards returns what the descriptions of all datasets agree on: classes, columns and the shape of records.
func describeShards(known []knownShard) (converters.Description, error) {
	var desc converters.Description
	var first *shardDir
	seen := make(map[*shardDir]bool)
	for _, k := range known {
		switch {
		case k.dataset == nil:
			return converters.Description{}, nil
		case seen[k.dir]:
			continue
		case first == nil:
			first, desc = k.dir, k.dir.meta.Description
		default:
			other := k.dir.meta.Description
			if len(desc.Classes) > 0 && len(other.Classes) > 0 && !slices.Equal(desc.Classes, other.Classes) {
				err := fmt.Errorf("%w: it numbers its classes otherwise than %s", converters.ErrUnsupported, strings.TrimSuffix(first.name, "/"))
				return desc, &converters.Error{Where: strings.TrimSuffix(k.dir.name, "/"), Off: -1, Err: err, Hint: "convert both anew with the same list of classes"}
			}
			if !reflect.DeepEqual(desc, other) {
				if len(desc.Classes) == 0 {
					desc.Classes = other.Classes
				}
				desc = converters.Description{Classes: desc.Classes}
			}
		}
		seen[k.dir] = true
	}
	return desc, nil
}
