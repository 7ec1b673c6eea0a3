// Package fuzz finds the fuzz targets of this module and runs them. It is tests alone:
//
//	make fuzz FUZZTIME=30s     every target, a line each
//	make fuzz-row FUZZTIME=25s the ten of row F1 of the fault table, in one line
//
// docs/fuzzing.md says what each asserts, and what becomes of a finding.
package fuzz

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

// A target is a fuzz function.
type target struct {
	pkg  string // its directory
	name string
}

func (t target) String() string { return path.Join(t.pkg, t.name) }

// rowF1 are the ten targets of the fault table, by the names that it has for them.
var rowF1 = []struct {
	name string
	target
}{
	{"header", target{"record", "FuzzHeader"}},
	{"shard round trip", target{"record", "FuzzRoundTrip"}},
	{"tar", target{"converters/tar", "FuzzTar"}},
	{"grouping", target{"converters/tar", "FuzzGroup"}},
	{"CBOR", target{"converters/cbor", "FuzzCBOR"}},
	{"CSV", target{"converters/csv", "FuzzSource"}},
	{"pattern", target{"internal/input", "FuzzExpand"}},
	{"manifest", target{"dataset", "FuzzDecodeManifest"}},
	{"plan", target{"shard/plan", "FuzzReadPlan"}},
	{"packed-folder pickle", target{"packed", "FuzzTree"}},
}

// Limits of a kept corpus: go test runs all of it.
const (
	maxInputs = 60
	maxBytes  = 200 << 10
)

// The ten targets of row F1 are in the tree, each with a corpus and a line in the
// documentation; and no corpus is large, or without its target.
func TestTargets(t *testing.T) {
	t.Parallel()
	found, corpora := inTree(t)
	doc, err := os.ReadFile(filepath.Join(root, "docs", "fuzzing.md"))
	if err != nil {
		t.Fatal(err)
	}
	if len(rowF1) != 10 {
		t.Errorf("row F1 has %d targets", len(rowF1))
	}
	for _, row := range rowF1 {
		if !slices.Contains(found, row.target) {
			t.Errorf("%v is not in the tree", row.target)
		}
		if corpora[row.target].inputs == 0 {
			t.Errorf("%v has no corpus", row.target)
		}
		if line := "| " + row.name + " | `" + row.target.name + "` in " + row.pkg + " |"; !strings.Contains(string(doc), line) {
			t.Errorf("docs/fuzzing.md has no line %s", line)
		}
	}
	for of, c := range corpora {
		if !slices.Contains(found, of) {
			t.Errorf("the corpus of %v has no target", of)
		}
		if c.inputs > maxInputs || c.bytes > maxBytes {
			t.Errorf("%v has a corpus of %d inputs, %d bytes: at most %d and %d are kept", of, c.inputs, c.bytes, maxInputs, maxBytes)
		}
	}
}

type corpus struct{ inputs, bytes int64 }

var fuzzFunction = regexp.MustCompile(`(?m)^func (Fuzz\w*)\(f \*testing\.F\)`)

// inTree finds the targets of the module, and the corpora.
func inTree(t *testing.T) (found []target, corpora map[target]corpus) {
	corpora = make(map[target]corpus)
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && name != "." && strings.HasPrefix(d.Name(), ".") {
				err = fs.SkipDir
			}
			return err
		}
		if pkg, rest, ok := strings.Cut(name, "/testdata/fuzz/"); ok {
			info, err := d.Info()
			if err != nil {
				return err
			}
			of := target{pkg, path.Dir(rest)}
			corpora[of] = corpus{corpora[of].inputs + 1, corpora[of].bytes + info.Size()}
		}
		if strings.HasSuffix(name, "_test.go") {
			b, err := fs.ReadFile(os.DirFS(root), name)
			if err != nil {
				return err
			}
			for _, m := range fuzzFunction.FindAllSubmatch(b, -1) {
				found = append(found, target{path.Dir(name), string(m[1])})
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found, corpora
}
