package format

import (
	"context"
	"io"

	"github.com/ffconvert/ffconvert/convert/option"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/input"
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

// An OpenRequest is a dataset to open, and what for.
type OpenRequest struct {
	Parts   []converters.Part // local files
	Records encode.Options    // of the records to make. If its Encoding is "", the source proposes one: see converters.Describer
	Files   Files             // for files beside remote parts; nil: these are not read

	// Classes are the classes of the dataset by number, as a plan has them; without any, its labels are given. nil: they
	// are found in the parts.
	Classes []string

	// Decode makes samples of the fields of records that could be copied as they are. DecodeKnown does so if the
	// encoding of all of them is known.
	Decode, DecodeKnown bool
}

// Files are remote files that lie beside the parts of a dataset and are not parts themselves.
type Files interface {
	// Fetch makes files local and returns their paths. If one does not exist the error is
	// [input.ErrNotFound]. sound is [input.Options.Sound]; it may be nil.
	Fetch(ctx context.Context, urls []string, sound func(url string, file io.ReaderAt, size int64) bool) ([]string, error)
	// Look returns an error unless all files exist.
	Look(ctx context.Context, urls []string) error
}

// An Opener opens datasets of one format, with the current values of its options. Functions other than Open may be nil.
type Opener struct {
	Open func(ctx context.Context, req OpenRequest) (converters.Source, error)

	// Arrange selects the parts among the names in a directory, and sorts them. nil: see Format.Match.
	Arrange func(names []string) ([]string, error)

	// Contents and Sound are for a directory that says which files it must hold: see [input.Options].
	Contents func(read func(name string) (text []byte, where string, err error)) (*input.Contents, error)
	Sound    func(name string, file io.ReaderAt, size int64) bool

	merges  func(parts []converters.Part) bool // the parts are of several datasets that have keys, which may clash
	numbers func() bool                        // the source numbers the classes of all parts when it is opened
	shards  *ffrOpener                         // of the format ffr: see Reader.Samples
}
