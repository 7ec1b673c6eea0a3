package format

import (
	"context"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/option"
	"github.com/ffconvert/ffconvert/internal/samples/wrap"
)

// A Reader is a format with values of its options.
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

// InputOptions returns in with the fields that depend on the format set.
func (r *Reader) InputOptions(in input.Options) input.Options {
	in.Directories, in.Match, in.Arrange = r.Directories, r.Match, r.opener.Arrange
	in.AllowPipe = in.AllowPipe && !r.Directories // a program writes a stream, not a directory
	in.Contents, in.Sound = r.opener.Contents, r.opener.Sound
	return in
}

// Open opens a dataset.
func (r *Reader) Open(ctx context.Context, req OpenRequest) (converters.Source, error) {
	req.Decode = req.Decode || r.keys.given()
	src, err := r.opener.Open(ctx, req)
	if err != nil || !r.keys.given() && !r.merges(req.Parts) {
		return src, err
	}
	how, err := r.keys.options(src.Parts(), req.Parts)
	if err != nil {
		return nil, err
	}
	how.Unique = how.Unique || r.merges(req.Parts)
	return wrap.Rekey(src, how), nil
}

// Joins reports whether opening or indexing needs all parts: to compare or look up keys, to number the classes of
// files, or because the parts are one stream. Then all parts must be local before the first shard is planned.
func (r *Reader) Joins(parts []converters.Part) bool {
	return r.keys.given() || r.merges(parts) || r.opener.numbers != nil && r.opener.numbers() || r.Stream != "" && r.Set.Text(r.Stream) == "true"
}

func (r *Reader) merges(parts []converters.Part) bool {
	return r.opener.merges != nil && r.opener.merges(parts)
}
