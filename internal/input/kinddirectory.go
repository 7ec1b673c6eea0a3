package input

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Limits on the names that Directory reads.
const (
	mostEntries     = 4096 // entries of one directory
	mostDirectories = 16   // subdirectories
)

// KindOfDirectory guesses the content of a local directory from the names in it and in its first
// subdirectories. Several kinds are equally likely; none means that the content is unknown.
func KindOfDirectory(dir string) ([]Kind, error) {
	top, err := list(dir)
	if err != nil {
		return nil, err
	}
	if top.count[".ffr"] > 0 && (top.names["manifest.json"] || top.count[".ffr"] == top.files) {
		return []Kind{{ID: "dataset", What: fmt.Sprintf("a dataset of %s", some(top, top.count[".ffr"], "FFRecord shard")), Format: "ffr", Sure: true}}, nil
	}
	if top.files == 0 && len(top.directories) == 0 && !top.more {
		return []Kind{{ID: "empty", What: "an empty directory"}}, nil
	}
	if n := top.count[".mds"]; n > 0 && top.names["index.json"] {
		return []Kind{{ID: "mds", What: "a dataset of " + some(top, n, "MDS shard"), Format: "mds", Sure: true}}, nil
	}
	if top.names["dataset_dict.json"] && len(top.directories) > 0 {
		splits := strings.Join(top.directories[:min(len(top.directories), mostDirectories)], ", ")
		return []Kind{{ID: "arrow-directories", What: "a DatasetDict with the splits " + splits, Sure: true}}, nil
	}
	if n := top.count[".arrow"]; n > 0 && top.names["state.json"] {
		for name := range top.names {
			if strings.HasPrefix(name, "cache-") && byName(name) == ".arrow" { // a cache of map and filter, not part of the dataset
				n--
			}
		}
		return []Kind{{ID: "arrow", What: "a dataset of Hugging Face in " + some(top, n, "Arrow file"), Format: "arrow", Sure: true}}, nil
	}
	if top.names["metadata.jsonl"] && top.count[".jsonl"] < top.files+len(top.directories) {
		return []Kind{{ID: "jsonl", What: "a directory of files with a metadata.jsonl", Format: "jsonl"}}, nil
	}
	var found []Kind
	for _, f := range formats {
		if n := top.count[f.suffixes[0]]; n > 0 && f.what != "" {
			f.What, f.Sure = "a directory of "+some(top, n, f.what), false
			found = append(found, f.Kind)
		}
	}
	if len(found) > 0 && top.count["other"] == 0 && top.count["image"] == 0 && len(top.directories) == 0 {
		return found, nil
	}
	classes, shards, err := holding(dir, top.directories)
	switch {
	case err != nil:
		return nil, err
	case shards > 0:
		return []Kind{{ID: "mds-directories", What: "a directory of datasets of MDS shards", Sure: true}}, nil
	case classes > 0:
		found = append(found, Kind{ID: "folder", What: fmt.Sprintf("a folder of %s", some(top, len(top.directories), "class")), Format: "folder"})
	case top.count["image"] > 0:
		found = append(found, Kind{ID: "folder", What: fmt.Sprintf("a directory of %s without classes", some(top, top.count["image"], "image")), Format: "folder", Flags: []string{"--flat"}})
	case len(found) == 0 && top.files > 0:
		found = append(found, Kind{ID: "folder", What: fmt.Sprintf("a directory of %s without classes", some(top, top.files, "file")), Format: "folder", Flags: []string{"--flat"}})
	}
	return found, nil
}

// A listing has the names in a directory, without hidden ones.
type listing struct {
	directories []string
	files       int             // number of files
	count       map[string]int  // byName's result → number of files
	names       map[string]bool // of files
	more        bool            // the directory may have more entries than were read
}

func list(dir string) (listing, error) {
	l := listing{count: make(map[string]int), names: make(map[string]bool)}
	f, err := os.Open(dir)
	if err != nil {
		return l, err
	}
	defer f.Close()
	entries, err := f.ReadDir(mostEntries)
	if err != nil && !errors.Is(err, io.EOF) {
		return l, err
	}
	l.more = len(entries) == mostEntries
	for _, e := range entries {
		switch name := e.Name(); {
		case name[0] == '.':
		case e.IsDir():
			l.directories = append(l.directories, name)
		default:
			l.files++
			l.names[name] = true
			l.count[byName(name)]++
		}
	}
	slices.Sort(l.directories)
	return l, nil
}

// byName returns the first suffix of the format that the name of a file has; "image" or "other" if it has none.
func byName(name string) string {
	switch {
	case partName().MatchString(name):
		return ".csv"
	case slices.Contains([]string{".jpg", ".jpeg", ".png", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".ppm"}, ext(name)):
		return "image"
	case tfShard().MatchString(uncompressed(name)):
		return ".tfrecord"
	}
	if f := formatOf(name); f != nil {
		return f.suffixes[0]
	}
	return "other"
}

// holding returns how many of the first directories have an entry that is not hidden, and their number of MDS shards.
func holding(dir string, names []string) (n, shards int, err error) {
	for _, name := range names[:min(len(names), mostDirectories)] {
		below, err := list(filepath.Join(dir, name))
		if err != nil {
			return n, shards, err
		}
		shards += below.count[".mds"]
		if below.files > 0 || len(below.directories) > 0 {
			n++
		}
	}
	return n, shards, nil
}

// some returns a number of things as text: "1 class", "3 classes", "4096 or more tars".
func some(l listing, n int, what string) string {
	switch {
	case n == 1:
		return "1 " + what
	case strings.HasSuffix(what, "s"):
		what += "e"
	}
	if l.more {
		return fmt.Sprintf("%d or more %ss", n, what)
	}
	return fmt.Sprintf("%d %ss", n, what)
}
