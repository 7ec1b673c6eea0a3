package browse

import (
	"cmp"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/lookup"
	"github.com/ffconvert/ffconvert/encode"
)

// A set is an opened dataset, or a shard. Its methods may be called concurrently.
type set struct {
	Number int
	Path   string // as the user named it
	Name   string // base name of Path

	Len       int64 // samples
	Shards    int64
	Encodings string            // of the records
	Manifest  *dataset.Manifest // of the whole dataset, without Sources; nil: shards of another program, or a single shard
	Single    bool              // it is one shard of a dataset

	data        *lookup.Dataset // forked by each reader
	meta        dataset.Meta
	metaErr     error // why meta is empty
	watched     string
	watchedInfo os.FileInfo // state of watched when the dataset was opened
	search      *searcher
	first       map[string]int64 // base name of a shard → number of its first sample

	fields []string // of the records, according to meta.json; nil: unknown
}

func newSet(i int, d *lookup.Dataset) (*set, error) {
	x := &set{Number: i, Path: d.Path, Name: filepath.Base(filepath.Clean(d.Path)), data: d,
		Len: d.Len(), Shards: int64(len(d.Files())), Encodings: strings.Join(d.Encodings(), ", ")}
	if path, err := filepath.Abs(d.Path); err == nil {
		x.Name = filepath.Base(path)
	}
	st, err := os.Stat(d.Path)
	if err != nil {
		return nil, err
	}
	if d.Ours() {
		if err := x.readMetadata(st.IsDir()); err != nil {
			return nil, err
		}
	}
	if err := x.watch(); err != nil {
		return nil, err
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
		x.metaErr = err
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

// Changed reports whether the manifest, or the single shard, has changed since the dataset was opened.
func (x *set) Changed() bool {
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
