package format

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/ffconvert/ffconvert/convert/option"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/ffr"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/record"
)

func ffrOptions(set *option.Set) Opener {
	o := &ffrOpener{records: option.Choice{Words: []string{"msgpack", "cbor", "pickle", "arrow", "raw"}}}
	set.Add("allow-legacy", "accept shards without a header checksum, as old writers made them", option.Bool(&o.limits.AllowLegacy))
	set.Add("records", "what the records of other people's shards are: msgpack, cbor, pickle, arrow or raw (default: opaque bytes)", &o.records)
	set.AddLimit("max-sample-size", "largest sample accepted", option.MaxSize(&o.limits.MaxSample, record.DefaultMaxSample))
	return o
}

type ffrOpener struct {
	limits  record.Options
	records option.Choice
	decode  bool  // records, whatever the options of the new ones
	look    bool  // as decode, if the encoding of all records is known
	files   Files // manifests and indexes of remote shards; nil: there are none
}

func (o *ffrOpener) setFiles(files Files) { o.files = files }

func (o *ffrOpener) setDecoding() { o.decode = true }

func (o *ffrOpener) setLooking() { o.look = true }

func (o *ffrOpener) merges(parts []converters.Part) bool {
	dirs := make(map[string]bool)
	for i := range parts {
		dirs[filepath.Dir(parts[i].Name)] = true
	}
	return len(dirs) > 1
}

// Open opens shards. For datasets of ffconvert it reads the manifests beside them.
func (o *ffrOpener) Open(ctx context.Context, parts []converters.Part, rec encode.Options) (converters.Source, error) {
	known, err := shardsOf(ctx, parts, o.files)
	if err != nil {
		return nil, err
	}
	return o.open(parts, known, rec)
}

// open opens parts, of which it is known which shards they are.
func (o *ffrOpener) open(parts []converters.Part, shards []knownShard, rec encode.Options) (converters.Source, error) {
	var err error
	each := make([]string, len(parts)) // encodings
	opts := ffr.Options{Record: o.limits, Limits: rec.Limits, Load: rec.Loads(ffr.RecordField)}
	for i, k := range shards {
		each[i] = o.records.Value
		var shard ffr.Shard
		if k.dataset != nil {
			each[i] = k.dataset.Encode.Encoding
			shard = k.shard()
		}
		opts.Shards = append(opts.Shards, shard)
	}
	if opts.Description, err = describeShards(shards); err != nil {
		return nil, err
	}
	says := &opts.Description
	known := !slices.Contains(each, "")
	if o.decode || o.look && known || decodes(rec) {
		opts.Decode = func(part int) string { return each[part] }
		says.Encoding = rec.Encoding
	}
	for i, e := range each {
		switch {
		case opts.Decode != nil && e == "":
			err = fmt.Errorf("%w: what its records are is not known, as it is not a dataset of ffconvert", converters.ErrUnsupported)
			return nil, &converters.Error{Where: parts[i].Name, Off: -1, Err: err, Hint: "option records"}
		case opts.Decode == nil && e != each[0]:
			err = fmt.Errorf("%w: its records are %s, those of %s %s", converters.ErrUnsupported, cmp.Or(e, "opaque"), parts[0].Name, cmp.Or(each[0], "opaque"))
			return nil, &converters.Error{Where: parts[i].Name, Off: -1, Err: err, Hint: "Options.Encoding writes all anew in one"}
		}
	}
	if says.Encoding == "" && len(each) > 0 {
		says.Encoding = each[0]
	}
	if says.Encoded = opts.Decode == nil; says.Encoding == "" {
		says.Encoding, says.Encoded = "raw", false // opaque
	}
	return ffr.Open(parts, opts), nil
}

// decodes reports whether records are made anew, and not copied.
func decodes(rec encode.Options) bool {
	return !rec.Encoded && (rec.Encoding != "" || rec.Rewrites())
}
