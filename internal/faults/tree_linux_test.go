package faults

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// A tree is what lies below a directory: bytes by slash-separated name. The name of a
// directory ends in a slash. Of a file beyond wholeSize its SHA-256 stands for its bytes.
type tree map[string][]byte

const wholeSize = 4 << 20

var createdOn = regexp.MustCompile(`"(created|verified_from|sha256)": "[^"]*"`)

// readTree reads a directory. What may differ between two sound runs is left out: the
// time and the file system in the manifest, the journal, which tells the history, and the lock, which names
// its last holder.
func readTree(dir string) (tree, error) {
	t := make(tree)
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == dir {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		if d.IsDir() {
			t[rel+"/"] = nil
			return nil
		}
		data, err := readOrDigest(name)
		t[rel] = comparable(rel, data)
		return err
	})
	return t, err
}

func readOrDigest(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if st.Size() <= wholeSize {
		data := bytes.NewBuffer(make([]byte, 0, st.Size()+bytes.MinRead))
		_, err = data.ReadFrom(f)
		return data.Bytes(), err
	}
	h := sha256.New()
	_, err = io.Copy(h, f)
	return h.Sum(nil), err
}

// comparable returns what must be the same of a file in every sound run.
func comparable(name string, data []byte) []byte {
	switch name {
	case "manifest.json", tarsManifest:
		return createdOn.ReplaceAll(data, []byte(`"$1": ""`))
	case ".ffconvert/journal", ".ffconvert/lock":
		return nil
	}
	return data
}

// differ tells the first difference between two trees.
func (t tree) differ(want tree) error {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		got, ok := t[name]
		if !ok {
			return fmt.Errorf("%s is missing", name)
		}
		if !bytes.Equal(got, want[name]) {
			return fmt.Errorf("%s differs: %d bytes, want %d", name, len(got), len(want[name]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t)) {
		if _, ok := want[name]; !ok {
			return fmt.Errorf("%s was left behind", name)
		}
	}
	return nil
}

// withoutScratch leaves out what a run that was cut off has left for the next to remove.
func (t tree) withoutScratch() tree {
	_, tars := t[tarsManifest]
	kept := maps.Clone(t)
	maps.DeleteFunc(kept, func(name string, _ []byte) bool {
		switch {
		case tars && strings.HasPrefix(name, ".ffconvert/"):
			return true // all of it is removed in the end
		}
		return strings.HasPrefix(name, ".ffconvert/tmp/") || strings.HasPrefix(name, ".ffconvert/running/") || strings.HasPrefix(name, ".ffconvert/cache/")
	})
	return kept
}

// withoutWork leaves out what a process that waits in one call goes on to write in others: it claims the next shard, and fills
// files that have no name yet.
func (t tree) withoutWork() tree {
	kept := maps.Clone(t)
	maps.DeleteFunc(kept, func(name string, _ []byte) bool {
		return strings.HasPrefix(name, ".ffconvert/running/") || strings.HasPrefix(name, ".ffconvert/tmp/")
	})
	return kept
}

// reference is what an undisturbed conversion leaves.
var reference = sync.OnceValues(func() (tree, error) {
	out := filepath.Join(base, "reference")
	return referenceOf(out, convert(out))
})

// large is a shard that is read by Linux AIO unless other ways are asked for: a smaller one is not, see aio.NewReader.
var large = sync.OnceValues(func() (string, error) {
	tars, err := bigSources()
	if err != nil {
		return "", err
	}
	out := filepath.Join(base, "reference-big")
	_, err = referenceOf(out, convertFrom(tars, out))
	return filepath.Join(out, "PART_00000.ffr"), err
})

// packedReference is what an undisturbed conversion of compressed tars leaves.
var packedReference = sync.OnceValues(func() (tree, error) {
	if _, err := packed(); err != nil {
		return nil, err
	}
	out := filepath.Join(base, "reference-packed")
	return referenceOf(out, convertPacked(out))
})

// referenceOf converts, undisturbed, and returns what that leaves.
func referenceOf(out string, args []string) (tree, error) {
	r, err := run(args...)
	if err == nil && r.code != 0 {
		err = errors.New(r.String())
	}
	if err != nil {
		return nil, fmt.Errorf("undisturbed: %w", err)
	}
	return readTree(out)
}

// identical says how an output differs from the reference.
func identical(out string) error {
	want, err := reference()
	if err != nil {
		return err
	}
	return sameAs(out, want)
}

func sameAs(out string, want tree) error {
	got, err := readTree(out)
	if err != nil {
		return err
	}
	return got.differ(want)
}

// sound says what an output that may be unfinished shows that is not so: a shard
// under its final name, at any depth, with bytes other than it has in one of the
// references; or a manifest without all of its shards. No output at all is sound.
func sound(out string, references ...tree) error {
	got, err := readTree(out)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return got.sound(references...)
}

// errBad says that something is visible that is not sound.
var errBad = errors.New("visible")

func (t tree) sound(references ...tree) error {
	for name, data := range t {
		if !final(strings.TrimSuffix(name, "/")) {
			continue
		}
		if !slices.ContainsFunc(references, func(want tree) bool {
			whole, ok := want[path.Base(name)]
			return ok && bytes.Equal(data, whole)
		}) {
			return fmt.Errorf("a bad %s of %d bytes is %w", name, len(data), errBad)
		}
	}
	for _, name := range manifests {
		if manifest, ok := t[name]; ok {
			if err := t.accounted(name, manifest, references); err != nil {
				return err
			}
		}
	}
	return nil
}

// final says that a file by this name promises to be whole: a shard, or a tar that was exported.
func final(name string) bool {
	return strings.HasSuffix(name, ".ffr") || strings.HasSuffix(name, ".tar")
}

// manifests are the names of the files that are written last.
var manifests = []string{"manifest.json", tarsManifest}

const tarsManifest = "x.export.json"

// accounted says what is wrong with a manifest: it is none of the references', or not all files that it
// speaks of are there.
func (t tree) accounted(name string, manifest []byte, references []tree) error {
	for _, want := range references {
		if !bytes.Equal(manifest, want[name]) {
			continue
		}
		for file, whole := range want {
			if final(file) && !bytes.Equal(t[file], whole) {
				return fmt.Errorf("a manifest is %w, but %s is not what it says", errBad, file)
			}
		}
		return nil
	}
	return fmt.Errorf("a bad manifest of %d bytes is %w", len(manifest), errBad)
}

// mixture says what a repair shows that neither was there before nor is right.
func (t tree) mixture(references ...tree) error {
	for name, data := range t {
		if !strings.HasSuffix(name, ".ffr") && name != "manifest.json" {
			continue
		}
		if !slices.ContainsFunc(references, func(want tree) bool {
			whole, ok := want[name]
			return ok && bytes.Equal(data, whole)
		}) {
			return fmt.Errorf("a bad %s of %d bytes is %w", name, len(data), errBad)
		}
	}
	return nil
}

// half says what is wrong with what a disturbed run of the usual conversion has left.
func half(out string) error {
	want, err := reference()
	if err != nil {
		return err
	}
	return sound(out, want)
}
