package format

import (
	"context"
	"io"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/option"
)

// A Format is one kind of dataset that can be converted.
type Format struct {
	Name        string
	Directories bool                         // its sources are directories; else they are files
	Inspects    bool                         // the content of the first part decides how all parts are read
	Stream      string                       // name of the option that makes all parts one stream; "": none
	Match       func(name string) bool       // reports whether a file of a directory is a part; nil: all are
	Options     func(set *option.Set) Opener // adds the options of the format; the Opener reads their values

	// NoEnd means that a file may be truncated between two samples and look complete.
	NoEnd bool
}

// An OpenRequest describes a dataset to open.
type OpenRequest struct {
	Parts   []converters.Part // local files
	Records encode.Options    // of the records to make; if Encoding is "", the source proposes one: see converters.Describer
	Files   Files             // reads other files in the directories of remote parts; nil: they are not read

	// Classes are the names of the classes by number, from a plan. If there are none, the plan has numeric labels. nil:
	// the classes are found in the parts.
	Classes []string

	// Decode decodes records that could be copied unchanged. DecodeKnown does so only if the
	// encoding of all of them is known.
	Decode, DecodeKnown bool

	// Columns makes fields of the columns of raw records that are rows of numbers, if they are decoded.
	Columns bool
}

// Files gives access to remote files that are in the directories of the parts of a dataset but are no parts.
type Files interface {
	// Fetch makes files local and returns their paths. If one does not exist the error is
	// [input.ErrNotFound]. sound is [input.Options.Sound]; it may be nil.
	Fetch(ctx context.Context, urls []string, sound func(url string, file io.ReaderAt, size int64) bool) ([]string, error)
	// Look returns an error unless all files exist.
	Look(ctx context.Context, urls []string) error
}

// An Opener opens datasets of one format, with the current values of its options. All functions but Open may be nil.
type Opener struct {
	Open func(ctx context.Context, req OpenRequest) (converters.Source, error)

	// Arrange selects the parts from the names in a directory, and sorts them. nil: see Format.Match.
	Arrange func(names []string) ([]string, error)

	// Contents and Sound are for directories that list the files that they must contain: see [input.Options].
	Contents func(read func(name string) (text []byte, where string, err error)) (*input.Contents, error)
	Sound    func(name string, file io.ReaderAt, size int64) bool

	merges  func(parts []converters.Part) bool // reports whether the parts are of several datasets with keys, which may clash
	numbers func() bool                        // reports whether opening the source numbers the classes of all parts
	shards  *ffrOpener                         // for the format ffr: see Reader.Samples
}
