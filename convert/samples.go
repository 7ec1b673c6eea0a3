package convert

import (
	"context"

	"github.com/ffconvert/ffconvert/convert/format"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
)

// WithSamples finds the shards that Sources name, makes them local files, opens them and calls use. Reader is of the format
// ffr. Of the options, Input, Encode.Limits and Listed count. If clash is true, keys of several datasets may clash.
// Copies that Input.CacheDir does not keep are removed in the end.
func (c Conversion) WithSamples(ctx context.Context, clash bool, use func(*format.Samples) error) error {
	c.Input.Laid = nil // nothing here says what was taken
	in, err := (&request{Conversion: c, collections: []collection{{Reader: c.Reader}}}).find(ctx)
	if err != nil {
		return err
	}
	if err := c.Reader.CheckKind(in.names); err != nil {
		return err
	}
	return in.work(ctx, nil, func(w *work) error {
		return w.local(ctx, in.firstOf(0), func(parts []converters.Part) error {
			req := format.OpenRequest{Parts: parts, Records: encode.Options{Limits: c.Encode.Limits}, Files: w.beside}
			s, err := c.Reader.Samples(ctx, req, clash)
			if err != nil {
				return err
			}
			in.tell(nil)
			return use(s)
		})
	})
}
