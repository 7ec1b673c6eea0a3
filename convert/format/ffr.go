package format

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/ffr"
	"github.com/ffconvert/ffconvert/decode"
	"github.com/ffconvert/ffconvert/internal/option"
	"github.com/ffconvert/ffconvert/record"
)

func ffrOptions(set *option.Set) Opener {
	o := &ffrOpener{records: option.Choice{Words: []string{"msgpack", "cbor", "pickle", "arrow", "raw"}}}
	set.Add("allow-legacy", "accept shards without a header checksum, as old writers made them", option.Bool(&o.limits.AllowLegacy))
	set.Add("records", "what the records of other people's shards are: msgpack, cbor, pickle, arrow or raw (default: opaque bytes)", &o.records)
	set.AddLimit("max-sample-size", "largest sample accepted", option.MaxSize(&o.limits.MaxSample, record.DefaultMaxSample))
	return Opener{Open: o.open, Contents: manifestContents, Sound: soundShard, merges: manyDirectories, shards: o}
}

type ffrOpener struct {
	limits  record.Options
	records option.Choice
}

// manyDirectories reports whether the shards are in several directories.
func manyDirectories(parts []converters.Part) bool {
	dirs := make(map[string]bool)
	for i := range parts {
		dirs[filepath.Dir(parts[i].Name)] = true
	}
	return len(dirs) > 1
}

// open opens shards. For datasets of ffconvert it also reads their manifests.
func (o *ffrOpener) open(ctx context.Context, req OpenRequest) (converters.Source, error) {
	known, err := shardsOf(ctx, req.Parts, req.Files)
	if err != nil {
		return nil, err
	}
	return o.openKnown(req, known)
}

// openKnown opens parts with known datasets.
func (o *ffrOpener) openKnown(req OpenRequest, shards []knownShard) (converters.Source, error) {
	var err error
	parts, rec := req.Parts, req.Records
	each := make([]string, len(parts)) // encoding of each part
	opts := ffr.Options{Record: o.limits, Load: rec.Loads(ffr.RecordField)}
	for i, k := range shards {
		opts.Shards, each[i] = append(opts.Shards, k.shard()), o.records.Value
		if k.dataset != nil {
			each[i] = k.dataset.Encode.Encoding
		}
	}
	if opts.Description, err = describeShards(shards); err != nil {
		return nil, err
	}
	desc := &opts.Description
	known := !slices.Contains(each, "")
	if req.Decode || req.DecodeKnown && known || !rec.Encoded && (rec.Encoding != "" || rec.Rewrites()) {
		opts.Decode = func(part int) (func([]byte) (*converters.Sample, error), error) {
			if k := shards[part]; req.Columns && each[part] == "raw" && k.dataset != nil {
				if rows := decode.NewRows(k.dir.meta.Description); rows != nil {
					return rows, nil
				}
			}
			d, err := decode.New(each[part], rec.Limits)
			return d.Decode, err
		}
		desc.Encoding = rec.Encoding
	}
	for i, e := range each {
		switch {
		case opts.Decode != nil && e == "":
			err = fmt.Errorf("%w: what its records are is not known, as it is not a dataset of ffconvert", converters.ErrUnsupported)
			return nil, &converters.Error{Where: parts[i].Name, Off: -1, Err: err, Hint: "option records"}
		case opts.Decode == nil && e != each[0]:
			err = fmt.Errorf("%w: its records are %s, those of %s %s", converters.ErrUnsupported, cmp.Or(e, "opaque"), parts[0].Name, cmp.Or(each[0], "opaque"))
			return nil, &converters.Error{Where: parts[i].Name, Off: -1, Err: err, Hint: "option encode writes all anew in one"}
		}
	}
	if desc.Encoding == "" && len(each) > 0 {
		desc.Encoding = each[0]
	}
	if desc.Encoded = opts.Decode == nil; desc.Encoding == "" {
		desc.Encoding, desc.Encoded = "raw", false // the fields of records are not known
	}
	return ffr.Open(parts, opts), nil
}
