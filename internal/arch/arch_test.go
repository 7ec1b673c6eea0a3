package arch

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// layers are the packages of the product from the bottom to the top. A folder stands for all below it that is not named by
// itself. A package imports what is in its own layer or below.
var layers = []struct {
	name    string
	folders []string
}{
	{"helpers", []string{
		"internal/checksum", "internal/files", "internal/option",
		"internal/pickle", "internal/picture", "internal/place", "internal/text",
	}},
	{"bytes", []string{"aio", "record", "verify", "internal/direct"}},
	{"samples", []string{"converters", "decode", "encode", "internal/arrowipc", "internal/heads", "internal/jsonvalue", "internal/samples/wrap", "internal/sidecar"}},
	{"files", []string{"internal/cache", "internal/input", "internal/stage", "internal/store"}},
	{"shards", []string{"internal/samples/choose", "shard"}},
	{"dataset", []string{"dataset"}},
	{"programs", []string{"convert", "export", "internal/browse", "internal/check", "internal/findings", "internal/samples", "loader", "packed"}},
	{"commands", []string{"cmd/ffconvert"}},
}

// layerOf returns the index of a package's layer, that of the longest folder which holds it, or -1.
func layerOf(pkg string) int {
	found, longest := -1, -1
	for i, l := range layers {
		for _, folder := range l.folders {
			if isIn(pkg, folder) && len(folder) > longest {
				found, longest = i, len(folder)
			}
		}
	}
	return found
}

func TestLayers(t *testing.T) {
	t.Parallel()
	for _, p := range product(t) {
		layer := layerOf(p.name)
		if layer < 0 {
			t.Errorf("package %s is in no layer", p.name)
			continue
		}
		for _, imported := range slices.Sorted(maps.Keys(p.imports)) {
			files := strings.Join(p.imports[imported], ", ")
			switch below := layerOf(imported); {
			case isSupport(imported):
				t.Errorf("%s: imports %s, which is test support", files, imported)
			case below > layer:
				t.Errorf("%s: imports %s of the layer %q, which is above %q", files, imported, layers[below].name, layers[layer].name)
			}
		}
	}
}

// TestLayersAreThere fails for a folder of a layer, or of test support, that is not in the tree.
func TestLayersAreThere(t *testing.T) {
	t.Parallel()
	packages, err := tree()
	if err != nil {
		t.Fatal(err)
	}
	folders := slices.Clone(support)
	for _, l := range layers {
		folders = append(folders, l.folders...)
	}
	for _, folder := range folders {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(packages)), func(pkg string) bool { return isIn(pkg, folder) }) {
			t.Errorf("folder %s is not in the tree", folder)
		}
	}
}

// unsafeFile is the one file that may import unsafe.
const unsafeFile = "aio/syscall_linux.go"

func TestUnsafe(t *testing.T) {
	t.Parallel()
	packages, err := tree()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range packages {
		for _, file := range p.unsafe {
			if file != unsafeFile {
				t.Errorf("%s imports unsafe; only %s may", file, unsafeFile)
			}
		}
	}
}
