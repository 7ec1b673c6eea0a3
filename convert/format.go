package convert

import (
	"context"
	"strings"

	"github.com/ffconvert/ffconvert/convert/option"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
)

// A Format is one kind of dataset that can be converted.
type Format struct {
	Name        string
	Directories bool                         // its sources are directories; else they are files
	Inspects    bool                         // the content of the first part decides how all are read
	Match       func(name string) bool       // which files of a directory are its parts; nil: all
	Options     func(set *option.Set) Opener // adds the options of the format; the Opener reads their values
}

// An Opener opens datasets of one format, with the current values of its options.
type Opener interface {
	// Open opens a dataset for records of the options rec. If rec.Encoding is "", the source
	// proposes one: see converters.Describer.
	Open(ctx context.Context, parts []converters.Part, rec encode.Options) (converters.Source, error)
}

// An Arranger is an Opener that puts the files of a directory in an order of its own.
type Arranger interface {
	Opener
	// Arrange selects the parts among the names in a directory, and sorts them.
	Arrange(names []string) ([]string, error)
}

// An OpenFunc is a function as an Opener.
type OpenFunc func(ctx context.Context, parts []converters.Part, rec encode.Options) (converters.Source, error)

// Open calls the function.
func (f OpenFunc) Open(ctx context.Context, parts []converters.Part, rec encode.Options) (converters.Source, error) {
	return f(ctx, parts, rec)
}

// A Reader is a format and values of its options.
type Reader struct {
	Format
	Opener
	Set *option.Set
}

// Reader returns the format with the defaults of its options.
func (f Format) Reader() *Reader {
	r := &Reader{Format: f, Set: &option.Set{}}
	r.Opener = withKeys(r.Set, f.Options(r.Set))
	return r
}

// formats is the one table of source formats: see docs/adding-a-format.md.
var formats = []Format{
	{Name: "tar", Match: hasExt(".tar", ".tgz", ".tzst", ".tbz2", ".txz"), Options: tarOptions},
	{Name: "folder", Directories: true, Options: folderOptions},
	{Name: "csv", Inspects: true, Options: csvOptions},
	{Name: "cbor", Match: hasExt(".cbor", ".cbors", ".cborseq", ".mp", ".msgpack"), Options: cborOptions},
	{Name: "ffr", Match: hasExt(".ffr"), Options: ffrOptions},
}

// FormatNamed returns the format of a name.
func FormatNamed(name string) (Format, bool) {
	for _, f := range formats {
		if f.Name == name {
			return f, true
		}
	}
	return Format{}, false
}

// FormatNames returns the names of all formats.
func FormatNames() []string {
	names := make([]string, len(formats))
	for i := range formats {
		names[i] = formats[i].Name
	}
	return names
}

// ProgramFormat returns the format of programs that write samples to standard output: a CBOR
// sequence of maps. name is the format in the plan.
func ProgramFormat(name string) Format {
	return Format{Name: name, Options: func(set *option.Set) Opener {
		return itemOptions(set, &option.Choice{Value: "cbor"})
	}}
}

// hasExt returns a function that reports whether a name has one of the extensions, followed by the
// extension of a compression or not.
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
