package browse

import (
	"cmp"
	"context"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/lookup"
	"github.com/ffconvert/ffconvert/encode"
)

// A Dataset is an opened dataset, or a shard.
type Dataset struct {
	*lookup.Dataset
	// View opens a dataset in an object store again, to verify it. nil: it is on this machine.
	View func(ctx context.Context) (*dataset.Dataset, error)
}

// A set is an opened dataset, or a shard. Its methods may be called concurrently.
type set struct {
	Number int
	Path   string // as the user named it, a URL without secrets
	Name   string // base name of Path

	Len       int64 // samples
	Shards    int64
	Encodings string            // of the records
	Manifest  *dataset.Manifest // of the whole dataset, without Sources; nil: shards of another program, or a single shard
	Single    bool              // it is one shard of a dataset

	data        *lookup.Dataset // forked by each reader
	view        func(ctx context.Context) (*dataset.Dataset, error)
	meta        dataset.Meta
	metaErr     string      // why meta is empty
	watched     string      // "": nothing, as the dataset is in an object store
	watchedInfo os.FileInfo // state of watched when the dataset was opened
	search      *searcher
	first       map[string]int64 // base name of a shard → number of its first sample

	fields []string // of the records, according to meta.json; nil: unknown
}

func newSet(i int, in Dataset) (*set, error) {
	d := in.Dataset
	x := &set{Number: i, Path: d.Path, Name: path.Base(d.Path), data: d, view: in.View,
		Len: d.Len(), Shards: int64(len(d.Files())), Encodings: strings.Join(d.Encodings(), ", ")}
	whole := true
	if in.View == nil {
		st, err := os.Stat(d.Path)
		if err != nil {
			return nil, err
		}
		whole = st.IsDir()
		if path, err := filepath.Abs(d.Path); err == nil {
			x.Name = filepath.Base(path)
		}
	}
	if d.Ours() {
		if err := x.readMetadata(whole); err != nil {
			return nil, err
		}
	}
	if in.View == nil {
		if err := x.watch(); err != nil {
			return nil, err
		}
	}
	x.first = make(map[string]int64)
	n := int64(0)
	for _, f := range d.Files() {
		x.first[filepath.Base(f.Path)] = n
		n += f.Samples
	}
	x.search = newSearcher(d, x.meta.Classes)
	return x, nil
}

// readMetadata reads the manifest and meta.json.
func (x *set) readMetadata(whole bool) error {
	m, err := dataset.ReadShards(x.data.Dir)
	if err != nil {
		return err
	}
	if whole {
		x.Manifest = m
	} else {
		x.Single = true
	}
	meta, err := m.ReadMeta(filepath.Join(x.data.Dir, dataset.MetaName))
	if err != nil {
		x.metaErr = strings.ReplaceAll(err.Error(), x.data.Dir, x.Path) // of one in an object store the directory is scratch
		return nil
	}
	x.meta = *meta
	if !renames(m.Encode) && !slices.ContainsFunc(m.Encodes, renames) {
		for _, f := range meta.Fields {
			x.fields = append(x.fields, f.Name)
		}
	}
	return nil
}

// renames reports whether records may have field names that their source does not have.
func renames(e encode.Options) bool {
	return e.Encoded || e.Rewrites() || e.Encoding == "raw" || strings.Contains(e.Encoding, ":")
}

// Keyed reports whether the dataset has an index with keys.
func (x *set) Keyed() bool {
	keyed, err := x.data.Fork().Keyed()
	return keyed && err == nil
}

// Changed reports whether the manifest, or the single shard, has changed since the dataset was opened. Of one in an object store
// it does not ask: what is read is of the versions that were found first.
func (x *set) Changed() bool {
	if x.watched == "" {
		return false
	}
	now, err := os.Stat(x.watched)
	return err != nil || !os.SameFile(now, x.watchedInfo) || !now.ModTime().Equal(x.watchedInfo.ModTime()) || now.Size() != x.watchedInfo.Size()
}

// watch records the state of the file by which Changed detects changes.
func (x *set) watch() (err error) {
	x.watched = x.data.Files()[0].Path
	if x.data.Ours() {
		x.watched = filepath.Join(x.data.Dir, dataset.ManifestName)
	}
	x.watchedInfo, err = os.Stat(x.watched)
	return err
}

// link returns the URL of a page about the dataset.
func (x *set) link(page string, values url.Values) string {
	link := "/d/" + strconv.Itoa(x.Number) + "/" + page
	if len(values) > 0 {
		link += "?" + values.Encode()
	}
	return link
}

// class returns the name of a class, or its number if it has no name.
func (x *set) class(label int64) string {
	return cmp.Or(x.className(label), strconv.FormatInt(label, 10))
}

func (x *set) className(label int64) string {
	if label < 0 || label >= int64(len(x.meta.Classes)) {
		return ""
	}
	return x.meta.Classes[label]
}

// WhereField returns an expression for the samples with a field; "": records may have other fields.
func (x *set) WhereField(name string) string {
	if !slices.Contains(x.fields, name) {
		return ""
	}
	return whereField(name)
}

// WhereClass returns an expression for the samples of a class.
func (x *set) WhereClass(label int64) string { return whereClass(label, x.className(label)) }
