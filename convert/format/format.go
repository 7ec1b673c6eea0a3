package format

import (
	"context"
	"io"

	"github.com/ffconvert/ffconvert/convert/option"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/input"
)

// A Format is one kind of dataset that can be converted.
type Format struct {
	Name        string
	Directories bool                         // its sources are directories; else they are files
	Inspects    bool                         // the content of the first part decides how all are read
	Stream      string                       // its option with which all parts are one stream, so that none can be read without the others; "": none
	Match       func(name string) bool       // which files of a directory are its parts; nil: all
	Options     func(set *option.Set) Opener // adds the options of the format; the Opener reads their values

	// NoEnd means that a file may be cut between two samples and look complete.
	NoEnd bool
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

// A Cataloger is an Opener that knows which files a directory must hold.
type Cataloger interface {
	Opener
	// Contents is [input.Options.Contents].
	Contents(read func(name string) (text []byte, where string, err error)) (*input.Contents, error)
	// Sound is [input.Options.Sound].
	Sound(name string, file io.ReaderAt, size int64) bool
}

// An OpenFunc is a function as an Opener.
type OpenFunc func(ctx context.Context, parts []converters.Part, rec encode.Options) (converters.Source, error)

// Open calls the function.
func (f OpenFunc) Open(ctx context.Context, parts []converters.Part, rec encode.Options) (converters.Source, error) {
	return f(ctx, parts, rec)
}
