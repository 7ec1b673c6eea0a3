package format

import (
	"context"
	"fmt"

	"github.com/ffconvert/ffconvert/convert/option"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/cbor"
	"github.com/ffconvert/ffconvert/encode"
)

func cborOptions(set *option.Set) Opener {
	form := &option.Choice{Value: "cbor", Words: []string{"cbor", "msgpack"}}
	set.Add("format", "what the files hold: cbor, or msgpack", form)
	return itemOptions(set, form)
}

// requireEnd is the help of the option require-end.
const requireEnd = "refuse a stream without an end mark, whose program may have died"

func itemOptions(set *option.Set, form *option.Choice) Opener {
	opts := cbor.Options{MaxDepth: cbor.DefaultMaxDepth}
	set.Add("require-end", requireEnd, option.Bool(&opts.RequireEnd))
	set.AddLimit("max-depth", fmt.Sprintf("deepest nesting accepted, %d at most", cbor.MostDepth), option.Between(&opts.MaxDepth, 1, cbor.MostDepth))
	set.AddLimit("max-item-size", "largest item accepted", option.MaxSize(&opts.MaxItem, cbor.DefaultMaxItem))
	set.AddLimit("max-name-size", "longest key or name of a field accepted", option.MaxSize(&opts.MaxName, cbor.DefaultMaxName))
	return &itemOpener{opts: &opts, form: form}
}

// An itemOpener opens streams of items.
type itemOpener struct {
	opts   *cbor.Options
	form   *option.Choice
	decode bool // items, whatever the options of records
}

func (o *itemOpener) setDecoding() { o.decode = true }

func (o *itemOpener) Open(_ context.Context, parts []converters.Part, rec encode.Options) (converters.Source, error) {
	o.opts.Fields = o.decode
	o.opts.MessagePack, o.opts.Load = o.form.Value == "msgpack", loaded(rec)
	o.opts.Items = (rec.Encoding == "" || rec.Encoding == "raw") && !rec.Rewrites() && !o.decode
	return cbor.Open(parts, *o.opts), nil
}
