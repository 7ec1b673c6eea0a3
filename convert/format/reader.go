package format

import (
	"context"
	"io"

	"github.com/ffconvert/ffconvert/convert/option"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/rekey"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/input"
)

// A Reader is a format and values of its options.
type Reader struct {
	Format
	Set *option.Set

	opener Opener
	keys   *keyOptions
}

// Reader returns the format with the defaults of its options.
func (f Format) Reader() *Reader {
	r := &Reader{Format: f, Set: &option.Set{}}
	r.opener = f.Options(r.Set)
	r.keys = newKeyOptions(r.Set)
	return r
}

// A decoder is an Opener that copies records unless their fields are needed.
type decoder interface {
	// setDecoding makes Open decode records, whatever the options of the new records.
	setDecoding()
}

// A looker is an Opener that decodes records if their encoding is known.
type looker interface{ setLooking() }

// DecodeKnown makes Open decode records, whatever the options of the new ones, if the encoding of all of them is known.
func (r *Reader) DecodeKnown() {
	if o, ok := r.opener.(looker); ok {
		o.setLooking()
	}
}

// A merger is an Opener of datasets that have keys already.
type merger interface {
	// merges reports whether the parts are of several datasets, so that keys may clash.
	merges(parts []converters.Part) bool
}

// A numberer is an Opener that may number the classes of all parts when it opens them.
type numberer interface {
	numbers() bool
	setClasses(classes []string)
}

// SetClasses gives the reader the classes of the dataset by number, which it otherwise finds in its parts.
func (r *Reader) SetClasses(classes []string) {
	if o, ok := r.opener.(numberer); ok {
		o.setClasses(classes)
	}
}

// A fetcher is an Opener that reads files beside its parts.
type fetcher interface{ setFiles(Files) }

// Files are remote files that lie beside the parts of a dataset and are not parts themselves.
type Files interface {
	// Fetch makes files local and returns their paths. If one does not exist the error is
	// [input.ErrNotFound]. sound is [input.Options.Sound]; it may be nil.
	Fetch(ctx context.Context, urls []string, sound func(url string, file io.ReaderAt, size int64) bool) ([]string, error)
	// Look returns an error unless all files exist.
	Look(ctx context.Context, urls []string) error
}

// SetFiles gives the reader a way to files beside remote parts. Without it these are not read.
func (r *Reader) SetFiles(files Files) {
	if o, ok := r.opener.(fetcher); ok {
		o.setFiles(files)
	}
}

// InputOptions returns in with the fields set that depend on the format.
func (r *Reader) InputOptions(in input.Options) input.Options {
	in.Directories, in.Match, in.Arrange = r.Directories, r.Match, nil
	in.AllowPipe = in.AllowPipe && !r.Directories // a program writes a stream, not a directory
	if a, ok := r.opener.(Arranger); ok {
		in.Arrange = a.Arrange
	}
	in.Contents, in.Sound = nil, nil
	if c, ok := r.opener.(Cataloger); ok {
		in.Contents, in.Sound = c.Contents, c.Sound
	}
	return in
}

// Open opens a dataset of local parts: see [Opener].
func (r *Reader) Open(ctx context.Context, parts []converters.Part, rec encode.Options) (converters.Source, error) {
	if o, ok := r.opener.(decoder); ok && r.keys.given() {
		o.setDecoding()
	}
	src, err := r.opener.Open(ctx, parts, rec)
	if err != nil || !r.keys.given() && !r.merges(parts) {
		return src, err
	}
	how, err := r.keys.options(src.Parts(), parts)
	if err != nil {
		return nil, err
	}
	how.Unique = how.Unique || r.merges(parts)
	return rekey.Wrap(src, how), nil
}

// Joins reports whether keys of the samples of parts are compared, or looked up, or the classes of files numbered, or parts are one
// stream. Then all parts must be local before the first shard is planned.
func (r *Reader) Joins(parts []converters.Part) bool {
	o, ok := r.opener.(numberer)
	return r.keys.given() || r.merges(parts) || ok && o.numbers() || r.Stream != "" && r.Set.Text(r.Stream) == "true"
}

func (r *Reader) merges(parts []converters.Part) bool {
	m, ok := r.opener.(merger)
	return ok && m.merges(parts)
}
