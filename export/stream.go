package export

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/jsonvalue"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// Stream writes the samples in order, in the format msgpack, cbor, jsonl or arrow: as a sequence of maps in MessagePack
// or CBOR, as JSON Lines, or as one Arrow IPC stream. A map has the key of the sample, if any, as __key__, then its
// fields.
func Stream(ctx context.Context, w io.Writer, src *Source, format string, opts Options) error {
	how := opts.Encode
	how.Encoding, how.Decode, how.Encoded = "", false, false
	if format == "msgpack" || format == "cbor" {
		how.Encoding = format
	}
	spec, err := encode.Parse(how)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, 1<<18)
	end := func() error { return nil }
	switch format {
	case "msgpack", "cbor":
	case "jsonl":
		spec = spec.WithForm(func() encode.Form { return encodeLine })
	case "arrow":
		t := &table{w: out, byName: make(map[string]*column)}
		end = t.close
		spec = spec.WithForm(func() encode.Form { return t.encode })
	default:
		return fmt.Errorf("internal error: no stream in %q", format)
	}
	runs, err := src.runs(ctx, opts)
	if err != nil {
		return err
	}
	total := int64(0)
	for _, p := range src.Samples.Parts() {
		total += p.Size
	}
	progress := plan.Tally{To: plan.StartPhase(opts.Progress, "export", total).Add}
	defer progress.Flush()
	enc := spec.NewEncoder()
	err = src.encode(ctx, runs, enc, func(_ int, _ *converters.Sample, rec *encode.Record) error {
		for _, part := range rec.Parts {
			if _, err := out.Write(part); err != nil {
				return err
			}
		}
		progress.Add(1, rec.Size)
		return nil
	})
	if err != nil {
		return err
	}
	return errors.Join(end(), out.Flush())
}

// runs returns the chosen samples in order. It reads no payload if only keys decide the choice.
func (s *Source) runs(ctx context.Context, opts Options) ([]converters.Run, error) {
	from := s.Whole
	form, err := wholeForm()
	if opts.Choice.Where != "" || opts.Choice.Sort != "" {
		from = s.Samples // fields, their sizes or the total size decide
		form, err = encode.Parse(encode.Options{})
	}
	if err != nil {
		return nil, err
	}
	opts.Sizes = plan.Sizes{Shards: 1}
	pieces, err := s.pieces(ctx, from, form, opts)
	if err != nil {
		return nil, err
	}
	return pieces[0].Runs, nil
}

func (s *Source) failed(part int, sample *converters.Sample, err error) error {
	return &converters.Error{Where: s.Samples.Parts()[part].Name, Off: sample.Off, Entry: sample.Key, Err: err, Hint: place.HintOf(err)}
}

// encodeLine is an encoder for JSON Lines: it appends an object and a newline.
func encodeLine(b *encode.Builder, s *converters.Sample) (err error) {
	from := len(b.Written)
	buf := append(b.Written, '{')
	if s.Key != "" {
		buf = jsonvalue.AppendString(append(jsonvalue.AppendString(buf, converters.KeyField), ':'), s.Key)
	}
	for i := range s.Fields {
		f := &s.Fields[i]
		if f.Name == converters.KeyField && s.Key != "" {
			return fmt.Errorf("field %q: %w: the key has that name", f.Name, converters.ErrDuplicate)
		}
		if len(buf)-from > 1 {
			buf = append(buf, ',')
		}
		buf = append(jsonvalue.AppendString(buf, f.Name), ':')
		if buf, err = jsonvalue.Append(buf, &f.Value); err != nil {
			return fmt.Errorf("field %q: %w", f.Name, err)
		}
	}
	b.Written = append(buf, "}\n"...)
	return nil
}
