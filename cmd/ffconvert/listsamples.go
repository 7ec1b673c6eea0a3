package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/samples"
	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/dataset/lookup"
	"github.com/ffconvert/ffconvert/packed"
)

// listsSamples reports whether ls lists samples: of a directory, or of a shard that is not a packed folder.
func (o *listOptions) listsSamples(path string) (bool, error) {
	if st, err := os.Stat(path); convert.IsURL(path) || err == nil && st.IsDir() {
		return true, nil
	}
	f, err := o.limits.open(path)
	if err == nil {
		return false, f.Close()
	}
	return errors.Is(err, packed.ErrNotPacked), err
}

// runListSamples lists the samples of a dataset or a shard.
func runListSamples(ctx context.Context, opts listOptions, path string, stdout io.Writer) error {
	d, err := opts.open(ctx, path)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(stdout, 64<<10)
	var line []byte
	write := func(r *lookup.Row, data []byte) (err error) {
		l := samples.Line{Row: r, JSON: opts.format.Value == "json", Long: opts.long}
		if opts.long {
			if l.Sample, err = d.Decode(r, data); err != nil {
				return err
			}
		}
		line = l.Append(line[:0])
		_, err = out.Write(line)
		return err
	}
	if opts.long {
		err = d.WalkRecords(ctx, write)
	} else {
		for r, fault := range d.Walk(ctx) {
			if err = fault; err == nil {
				err = write(r, nil)
			}
			if err != nil {
				break
			}
		}
	}
	return errors.Join(out.Flush(), explainLookup(err)) // rows before the error are shown
}
