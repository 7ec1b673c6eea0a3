package export

import (
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/place"
)

// Largest lengths of a name and of a path in bytes on Linux. The path limit leaves room for the target directory.
const (
	longestName = 255
	longestPath = 3072
)

// Fields of a dataset that was made from a folder.
const (
	classField = "cls"  // the number of the class of a file
	dataField  = "data" // the bytes of a file without a suffix
)

// A layout gives each file of a folder its path.
type layout struct {
	ordinal bool     // keys are numbers
	classes []string // by number; nil: the dataset has none
	folder  bool     // the dataset was made from a folder, so field data is a file without a suffix
	flat    bool     // keys are whole paths
}

func newLayout(src *Source, ordinal bool) *layout {
	l := &layout{ordinal: ordinal, classes: src.Description.Classes}
	if m := src.Dataset; m != nil && m.Source.Format == "folder" {
		l.folder, l.flat = true, m.Source.Options["flat"] != "" && m.Source.Options["group"] == ""
	}
	return l
}

// isClass reports whether a field has the directory of its sample, and is not a file.
func (l *layout) isClass(f *converters.Field) bool {
	return l.classes != nil && f.Name == classField && f.Value.Kind() == converters.KindInt
}

// base returns the path of a sample without the suffixes of its files.
func (l *layout) base(s *converters.Sample, number int64) (string, error) {
	base := s.Key
	if l.ordinal {
		base = ordinalKey(number)
	}
	if base == "" {
		return "", place.WithHint(fmt.Errorf("%w: the sample has no key, which names its files", converters.ErrUnsupported), hintKey)
	}
	for i := range s.Fields {
		f := &s.Fields[i]
		if !l.isClass(f) {
			continue
		}
		n := f.Value.Int()
		if n < 0 || n >= int64(len(l.classes)) {
			return "", fmt.Errorf("%w: the class %d of %d", converters.ErrUnsupported, n, len(l.classes))
		}
		dirs := strings.Split(base, "/")
		if class := l.classes[n]; !slices.Contains(dirs[:len(dirs)-1], class) {
			base = class + "/" + base
		}
	}
	return base, nil
}

// file returns the path of the file of a field.
func (l *layout) file(base string, f *converters.Field) string {
	if l.folder && !l.ordinal {
		if f.Name == dataField {
			return base
		}
		if at := len(base) - len(f.Name) - 1; l.flat && at > 0 && base[at] == '.' && strings.EqualFold(base[at+1:], f.Name) {
			return base
		}
	}
	return base + "." + f.Name
}

// checkPath returns an error unless the path is valid below the target on every file system.
func checkPath(name string) error {
	why := ""
	switch {
	case strings.HasPrefix(name, "/"):
		why = "it is absolute"
	case strings.IndexByte(name, 0) >= 0:
		why = "it has a NUL"
	case !utf8.ValidString(name):
		why = "it is not UTF-8"
	case len(name) > longestPath:
		why = fmt.Sprintf("it has %d bytes, at most %d are allowed", len(name), longestPath)
	}
	first := true
	for dir := range strings.SplitSeq(name, "/") {
		switch {
		case why != "":
		case dir == "" || dir == "." || dir == "..":
			why = fmt.Sprintf("%q is not the name of a file", dir)
		case len(dir) > longestName:
			why = fmt.Sprintf("a name of %d bytes, at most %d are allowed", len(dir), longestName)
		case first && fold(dir) == dataset.WorkDir:
			why = "this directory is ffconvert's own"
		}
		first = false
	}
	if why == "" {
		return nil
	}
	return place.WithHint(fmt.Errorf("%w: the path %.300q: %s", converters.ErrUnsupported, name, why), hintKey)
}

// fold returns the form that is equal for names that differ only in case or in the form of Unicode.
func fold(name string) string {
	return norm.NFC.String(strings.ToLower(strings.ToUpper(norm.NFC.String(name))))
}

// A tree is the set of all paths of an export, 24 bytes each. It may be used concurrently.
type tree struct {
	seed maphash.Seed
	mu   sync.Mutex
	seen map[uint64]entry // by the hash of the folded path
}

// An entry is a file or a directory.
type entry struct {
	exact uint64 // hash of the path itself
	dir   bool
}

func newTree() *tree { return &tree{seed: maphash.MakeSeed(), seen: make(map[uint64]entry)} }

// add adds a file. It returns an error if the path exists, or would clash on some file system.
func (t *tree) add(name string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for at := strings.LastIndexByte(name, '/'); at > 0; at = strings.LastIndexByte(name[:at], '/') {
		known, err := t.enter(name[:at], true)
		if err != nil {
			return err
		}
		if known {
			break // the parent directories are known, too
		}
	}
	_, err := t.enter(name, false)
	return err
}

// enter adds a path and reports whether it is a known directory.
func (t *tree) enter(name string, dir bool) (known bool, err error) {
	now := entry{maphash.String(t.seed, name), dir}
	key := maphash.String(t.seed, fold(name))
	before, exists := t.seen[key]
	switch {
	case !exists:
		t.seen[key] = now
		return false, nil
	case before == now && dir:
		return true, nil
	case before.exact != now.exact:
		err = fmt.Errorf("%w: the path %.300q differs from another in case alone, or in the form of Unicode", converters.ErrDuplicate, name)
	case before.dir != dir:
		err = fmt.Errorf("%w: the path %.300q is a file and a directory", converters.ErrDuplicate, name)
	default:
		err = fmt.Errorf("%w: the path %.300q is two files", converters.ErrDuplicate, name)
	}
	return false, place.WithHint(err, hintKey)
}
