package format

import (
	"context"
	"fmt"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/cbor"
	"github.com/ffconvert/ffconvert/internal/option"
)

func cborOptions(set *option.Set) Opener {
	form := &option.Choice{Value: "cbor", Words: []string{"cbor", "msgpack"}}
	set.Add("format", "what the files hold: cbor, or msgpack", form)
	return itemOptions(set, form)
}

// requireEnd is the help of option require-end.
const requireEnd = "refuse a stream without an end mark, whose program may have died"

func itemOptions(set *option.Set, form *option.Choice) Opener {
	opts := cbor.Options{MaxDepth: cbor.DefaultMaxDepth}
	set.Add("require-end", requireEnd, option.Bool(&opts.RequireEnd))
	set.AddLimit("max-depth", fmt.Sprintf("deepest nesting accepted, %d at most", cbor.MostDepth), option.Between(&opts.MaxDepth, 1, cbor.MostDepth))
	set.AddLimit("max-item-size", "largest item accepted", option.MaxSize(&opts.MaxItem, cbor.DefaultMaxItem))
	set.AddLimit("max-name-size", "longest key or name of a field accepted", option.MaxSize(&opts.MaxName, cbor.DefaultMaxName))
	return Opener{Open: func(_ context.Context, req OpenRequest) (converters.Source, error) {
		rec := req.Records
		opts.MessagePack, opts.Load = form.Value == "msgpack", loaded(rec)
		opts.Fields = req.Decode
		opts.Items = (rec.Encoding == "" || rec.Encoding == "raw") && !rec.Rewrites() && !req.Decode
		return cbor.Open(req.Parts, opts), nil
	}}
}
