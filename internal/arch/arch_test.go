package arch

import (
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/ffconvert/ffconvert"

// mayImport is the import table: package to the packages of this module that it may
// import, tests aside. A package that is not here must earn its place in a decision note.
var mayImport = map[string][]string{
	"aio":                          {"internal/place"},
	"converters":                   {"aio", "internal/place", "internal/blocking", "internal/pin"},
	"record":                       {"internal/place", "aio"},
	"internal/ahead":               {},
	"internal/arrowipc":            {"converters", "internal/place"},
	"internal/replace":             {},
	"internal/sidecar":             {"converters", "internal/arrowipc", "internal/place"},
	"internal/aisfake":             {},
	"internal/atomicfile":          {"internal/blocking"},
	"internal/blocking":            {},
	"internal/blocksum":            {"internal/place"},
	"internal/heads":               {"converters"},
	"internal/jsonvalue":           {"converters"},
	"internal/need":                {},
	"internal/pickle":              {},
	"internal/picture":             {},
	"internal/picture/picturetest": {},
	"internal/place":               {"internal/text"},
	"internal/text":                {},
	"internal/whole":               {},
	"internal/whole/wholetest":     {"internal/picture/picturetest"},
	"internal/pin":                 {},
	"internal/python":              {"internal/need"},
	"internal/testproxy":           {},
	"internal/testserver":          {"internal/need"},
	"internal/versitygw":           {"internal/testserver"},
	"converters/tar":               {"converters", "converters/internal/fieldname", "converters/internal/window", "internal/text"},
	"converters/folder":            {"internal/ahead", "internal/blocking", "converters", "converters/internal/fieldname", "internal/replace", "internal/text"},
	"converters/csv":               {"converters", "converters/internal/window", "internal/text"},
	"converters/cbor":              {"converters", "converters/internal/endmark", "converters/internal/window", "internal/heads", "internal/text"},
	"converters/internal/endmark":  {"converters", "internal/text"},
	"converters/internal/features": {"converters", "converters/internal/window", "internal/text"},
	"converters/ofrecord":          {"converters", "converters/internal/features"},
	"converters/partname":          {"converters"},
	"converters/tfrecord":          {"converters", "converters/internal/features"},
	"converters/jsonl":             {"converters", "converters/internal/endmark", "converters/internal/fieldname", "converters/internal/window", "internal/ahead", "internal/blocking", "internal/text", "decode", "internal/place"},
	"converters/internal/columns":  {"converters", "internal/text"},
	"converters/arrow":             {"converters", "converters/internal/columns", "converters/internal/window", "internal/arrowipc"},
	"converters/parquet":           {"converters", "converters/internal/columns", "converters/internal/window"},
	"converters/mds":               {"converters", "converters/internal/window", "internal/blocking", "internal/crcline", "internal/text", "decode", "internal/place"},
	"converters/ffr":               {"converters", "converters/internal/window", "internal/blocking", "internal/place", "internal/sidecar", "record", "decode"},
	"converters/mix":               {"converters"},
	"converters/rekey":             {"converters", "internal/replace", "decode"},
	"converters/convertertest":     {"converters"},
	"input":                        {"converters", "internal/text", "internal/place", "internal/blocking", "internal/replace", "input/cache", "input/remote", "internal/pin"},
	"input/stage":                  {"aio", "converters", "internal/text", "internal/place", "internal/blocking", "internal/blocksum", "input", "input/kind", "input/remote", "input/cache", "internal/pin"},
	"input/cache":                  {"internal/place", "internal/blocking", "internal/blocksum"},
	"input/kind":                   {},
	"internal/crc64":               {},
	"input/remote":                 {"internal/crc64", "internal/place", "internal/pin"},
	"encode":                       {"converters", "decode", "internal/heads", "internal/pickle", "internal/picture", "internal/place", "internal/whole"},
	"decode":                       {"converters", "internal/arrowipc", "internal/heads", "internal/jsonvalue", "internal/pickle", "internal/picture", "internal/place"},
	"browse/internal/guard":        {"internal/text"},
	"browse/internal/thumb":        {"internal/picture"},
	"browse/internal/view":         {"converters", "internal/jsonvalue", "internal/picture", "internal/text"},
	"packed":                       {"internal/ahead", "internal/place", "internal/blocking", "record", "aio", "verify", "internal/atomicfile", "internal/direct", "internal/pickle"},
	"verify":                       {"internal/place", "record", "aio"},
	"findings":                     {"internal/text"},
	"loader":                       {"aio", "converters", "dataset/lookup", "internal/place", "loader/order", "record", "decode"},
	"loader/order":                 {"internal/place"},
	"examples/train":               {"dataset", "loader", "loader/order"},
	"browse":                       {"browse/internal/find", "browse/internal/guard", "browse/internal/survey", "browse/internal/thumb", "browse/internal/view", "converters", "dataset", "dataset/compare", "dataset/lookup", "internal/jsonvalue", "internal/place", "internal/text", "shard/plan", "verify", "decode"},
	"check":                        {"converters", "encode", "findings", "internal/picture", "internal/place", "shard/plan", "decode"},
	"shard/choose":                 {"converters", "internal/place"},
	"shard/plan":                   {"shard/choose", "internal/place", "internal/text", "converters", "encode", "record", "internal/blocksum", "internal/crcline"},
	"dataset":                      {"shard/choose", "internal/place", "converters", "encode", "record", "aio", "verify", "shard/plan", "internal/atomicfile", "internal/blocking", "internal/crcline", "internal/pin"},
	"browse/internal/find":         {"converters", "dataset", "dataset/lookup", "encode", "internal/place", "internal/text"},
	"browse/internal/survey":       {"dataset/lookup", "record"},
	"dataset/bucket":               {"dataset", "input/remote", "internal/crcline", "internal/place", "record", "shard/plan"},
	"dataset/transfer":             {"aio", "converters", "dataset", "dataset/bucket", "input/remote", "internal/atomicfile", "internal/blocking", "internal/place", "record", "verify"},
	"dataset/compare":              {"converters", "dataset/lookup", "encode"},
	"dataset/signature":            {"internal/place"},
	"dataset/lookup":               {"converters", "dataset", "internal/atomicfile", "internal/blocking", "internal/place", "internal/sidecar", "record", "decode"},
	"shard":                        {"internal/text", "converters", "encode", "record", "aio", "verify", "shard/plan", "dataset", "internal/atomicfile", "internal/direct"},
	"convert/filter":               {"converters", "converters/cbor", "encode", "input", "input/cache", "input/stage", "internal/heads", "internal/place", "internal/text"},
	"convert":                      {"aio", "convert/filter", "convert/format", "convert/option", "convert/spec", "converters", "converters/cbor", "converters/mix", "dataset", "dataset/bucket", "encode", "input", "input/remote", "input/stage", "internal/place", "internal/text", "shard", "shard/choose", "shard/plan", "verify", "decode"},
	"convert/format":               {"convert/option", "converters", "converters/arrow", "converters/cbor", "converters/csv", "converters/ffr", "converters/folder", "converters/jsonl", "converters/mds", "converters/ofrecord", "converters/parquet", "converters/partname", "converters/rekey", "converters/tar", "converters/tfrecord", "dataset", "decode", "encode", "input", "input/kind", "input/stage", "internal/crcline", "internal/replace", "internal/text", "record"},
	"export":                       {"aio", "converters", "converters/tar", "dataset", "encode", "internal/atomicfile", "internal/blocking", "internal/crcline", "internal/direct", "internal/jsonvalue", "internal/place", "record", "shard/choose", "shard/plan", "verify", "decode"},
	"convert/option":               {},
	"convert/spec":                 {"convert/option", "converters", "converters/mix", "encode", "input"},
	"internal/arch":                {},
	"internal/bench":               {},
	"internal/crcline":             {},
	"internal/direct":              {"aio", "internal/atomicfile"},
	"internal/faults":              {},
	"internal/fuzz":                {},
	"internal/golden":              {},
	"internal/inputtest":           {"input/remote", "internal/need"},
	"internal/memsource":           {"converters"},
	"internal/shardtest":           {"aio", "converters", "encode", "dataset", "shard", "shard/plan", "internal/memsource", "internal/pin"},
	"internal/arrowjs":             {"converters", "internal/need"},
	"internal/arrowtest":           {},
	"internal/chromium":            {"internal/need"},
	"internal/pages":               {},
	"internal/parquettest":         {"internal/need"},
	"internal/slurm":               {},
	"internal/faults/table":        {},
	"testdata/generate":            {},
	"converters/internal/fieldname": {
		"converters",
	},
	"converters/internal/window": {
		"converters",
	},

	"cmd/ffconvert":                     {"aio", "browse", "check", "cmd/ffconvert/internal/arrayjob", "cmd/ffconvert/internal/audit", "cmd/ffconvert/internal/bench", "cmd/ffconvert/internal/checkinput", "cmd/ffconvert/internal/cliflag", "cmd/ffconvert/internal/help", "cmd/ffconvert/internal/hint", "cmd/ffconvert/internal/inspect", "cmd/ffconvert/internal/progress", "cmd/ffconvert/internal/samples", "cmd/ffconvert/internal/stop", "cmd/ffconvert/internal/summary", "cmd/ffconvert/internal/terminal", "convert", "convert/format", "convert/option", "convert/spec", "converters", "dataset", "dataset/bucket", "dataset/signature", "dataset/compare", "dataset/lookup", "dataset/transfer", "export", "findings", "input", "input/cache", "input/kind", "input/stage", "internal/place", "internal/text", "packed", "record", "shard/choose", "shard/plan", "verify", "decode"},
	"cmd/ffconvert/internal/audit":      {"cmd/ffconvert/internal/hint", "cmd/ffconvert/internal/terminal", "convert", "convert/format", "dataset", "dataset/bucket", "dataset/signature", "findings", "input", "internal/text", "record", "shard/plan", "verify", "internal/place", "dataset/lookup"},
	"cmd/ffconvert/internal/checkinput": {"check", "cmd/ffconvert/internal/hint", "cmd/ffconvert/internal/terminal", "convert/format", "converters", "encode", "findings", "input", "input/remote", "input/stage"},
	"cmd/ffconvert/internal/cliflag":    {"aio", "cmd/ffconvert/internal/help", "cmd/ffconvert/internal/progress", "cmd/ffconvert/internal/stop", "convert", "convert/format", "convert/option", "dataset/bucket", "dataset/signature", "encode", "input", "input/remote", "input/stage", "internal/text", "record", "shard/choose", "shard/plan", "verify", "decode"},
	"cmd/ffconvert/internal/hint":       {"check", "cmd/ffconvert/internal/summary", "cmd/ffconvert/internal/terminal", "convert", "convert/format", "convert/option", "converters", "dataset", "findings", "input", "input/kind", "input/remote", "input/stage", "internal/place", "internal/text", "record", "shard/plan"},
	"cmd/ffconvert/internal/samples":    {"cmd/ffconvert/internal/terminal", "converters", "dataset/lookup", "internal/jsonvalue", "internal/text"},
	"cmd/ffconvert/internal/terminal":   {"findings", "internal/place", "internal/text"},
	"cmd/ffconvert/internal/progress":   {"cmd/ffconvert/internal/terminal", "convert/option", "converters", "dataset", "internal/text"},
	"cmd/ffconvert/internal/summary":    {"dataset", "cmd/ffconvert/internal/terminal", "aio", "convert", "converters", "export", "internal/text", "packed", "shard", "shard/plan"},
	"cmd/ffconvert/internal/arrayjob":   {"shard/plan"},
	"cmd/ffconvert/internal/stop":       {"cmd/ffconvert/internal/terminal", "shard"},
	"cmd/ffconvert/internal/help":       {"aio", "convert/option", "encode", "shard/plan", "decode"},
	"cmd/ffconvert/internal/bench":      {"cmd/ffconvert/internal/terminal", "aio", "record"},
	"cmd/ffconvert/internal/inspect":    {"dataset/signature", "shard/choose", "cmd/ffconvert/internal/terminal", "cmd/ffconvert/internal/summary", "converters", "dataset", "internal/text", "packed", "record", "shard/plan", "decode"},
}

// unsafeFile is the one file that may import unsafe.
const unsafeFile = "aio/syscall_linux.go"

// elsewhere reports whether a directory of the tree is none of this module: it is hidden, or a
// module of its own, which nothing here can import.
func elsewhere(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return strings.HasPrefix(filepath.Base(dir), ".") || err == nil
}

func TestImports(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	found := make(map[string]bool)
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != root && elsewhere(name) {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		pkg := path.Dir(filepath.ToSlash(rel))
		found[pkg] = true
		allowed, known := mayImport[pkg]
		if !known {
			t.Errorf("package %s is not in the import table", pkg)
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			imported := strings.Trim(spec.Path.Value, `"`)
			if imported == "unsafe" && filepath.ToSlash(rel) != unsafeFile {
				t.Errorf("%s imports unsafe; only %s may", rel, unsafeFile)
			}
			ours, isOurs := strings.CutPrefix(imported, module+"/")
			if isOurs && !slices.Contains(allowed, ours) {
				t.Errorf("%s imports %s; the import table does not allow it", rel, ours)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, pkg := range slices.Sorted(maps.Keys(mayImport)) {
		if !found[pkg] {
			t.Errorf("package %s is in the import table, but not in the tree", pkg)
		}
	}
}
