package format

import (
	"strings"

	"github.com/ffconvert/ffconvert/internal/option"
)

// formats is the table of source formats: see docs/adding-a-format.md.
var formats = []Format{
	{Name: "tar", Match: hasExt(".tar", ".tgz", ".tzst", ".tbz2", ".txz"), Options: tarOptions},
	{Name: "folder", Directories: true, Options: folderOptions},
	{Name: "csv", Inspects: true, NoEnd: true, Options: csvOptions},
	{Name: "cbor", Match: hasExt(".cbor", ".cbors", ".cborseq", ".mp", ".msgpack"), Options: cborOptions},
	{Name: "jsonl", Match: hasExt(".jsonl", ".ndjson"), Options: jsonlOptions},
	{Name: "parquet", Inspects: true, Match: hasExt(".parquet"), Options: parquetOptions},
	{Name: "arrow", Inspects: true, Options: arrowOptions},
	{Name: "tfrecord", Inspects: true, NoEnd: true, Match: isTFRecord, Options: tfrecordOptions},
	{Name: "ofrecord", Inspects: true, NoEnd: true, Stream: "continued", Options: ofrecordOptions},
	{Name: "mds", Match: isMDS, Options: mdsOptions},
	{Name: "ffr", Match: hasExt(".ffr"), Options: ffrOptions},
}

// Named returns the format with that name.
func Named(name string) (Format, bool) {
	for _, f := range formats {
		if f.Name == name {
			return f, true
		}
	}
	return Format{}, false
}

func Names() []string {
	names := make([]string, len(formats))
	for i := range formats {
		names[i] = formats[i].Name
	}
	return names
}

// Program returns the format for programs that write samples to standard output, as a CBOR sequence of
// maps. name is the name of the format in plans.
func Program(name string) Format {
	return Format{Name: name, Options: func(set *option.Set) Opener {
		return itemOptions(set, &option.Choice{Value: "cbor"})
	}}
}

// hasExt returns a function that reports whether a name has one of the extensions, optionally followed by the
// extension of a compression.
func hasExt(exts ...string) func(string) bool {
	return func(name string) bool {
		name = strings.ToLower(name)
		for _, compressed := range []string{".gz", ".zst", ".bz2", ".xz"} {
			name = strings.TrimSuffix(name, compressed)
		}
		for _, ext := range exts {
			if strings.HasSuffix(name, ext) {
				return true
			}
		}
		return false
	}
}
