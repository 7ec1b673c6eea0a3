package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/cliflag"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/summary"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/dataset/lookup"
	"github.com/ffconvert/ffconvert/internal/option"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/text"
)

type diffOptions struct {
	lookupFlags
	format, by option.Choice
	decode     bool
}

func newDiffCommand() *cobra.Command {
	opts := diffOptions{format: formatValue(), by: option.Choice{Words: []string{"key", "number"}}}
	cmd := &cobra.Command{
		Use:   "diff A B",
		Short: "Compare the samples of two datasets",
		Long: `Compare the samples of two datasets, or two shards: which were added, removed or changed, a line
each, and a summary. Samples are told by their keys, wherever they are; those of one key in their
order. Datasets without keys are compared sample by sample.

A sample is changed if the size or the CRC-32 of its record, or its label, is another one: indexes
and headers say so, and no record is read. Where the records are of different encodings, or with
--decode, all records are read, checked and decoded, and their fields compared.

Memory: 48 bytes a sample of A, of 4,194,304 at once, and a bit a sample of B.

` + exitStatus,
		Example: `  ffconvert diff out/ out2/
  ffconvert diff --decode msgpack/ cbor/
  ffconvert diff out/ out2/ --format json | jq -r 'select(.change=="added").key'`,
		Args: cliflag.WantArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return opts.end(runDiff(cmd.Context(), opts, args[0], args[1], cmd.OutOrStdout()))
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.Var(&opts.format, "format", "output: text, or json with an object a line")
	flags.Var(&opts.by, "by", "what tells samples apart: key or number (default: key where there are keys)")
	flags.BoolVar(&opts.decode, "decode", false, "compare fields, and not the bytes of records")
	opts.lookupFlags.add(flags)
	return cmd
}

func runDiff(ctx context.Context, opts diffOptions, pathA, pathB string, stdout io.Writer) error {
	a, err := opts.open(ctx, pathA)
	if err != nil {
		return err
	}
	b, err := opts.open(ctx, pathB)
	if err != nil {
		return err
	}
	for _, d := range []*lookup.Dataset{a, b} {
		if err := d.Whole(); err != nil {
			return explainLookup(err)
		}
	}
	how := lookup.CompareOptions{Decode: opts.decode}
	if how.ByNumber, err = opts.byNumber(a, b); err != nil {
		return err
	}
	if known := min(len(a.Encodings()), len(b.Encodings())) > 0; known && !slices.Equal(a.Encodings(), b.Encodings()) {
		how.Decode = true
	}
	w := &diffWriter{out: bufio.NewWriterSize(stdout, 64<<10), json: opts.format.Value == "json"}
	totals, err := lookup.Compare(ctx, a, b, how, w.write)
	if err != nil {
		return errors.Join(w.out.Flush(), explainLookup(err))
	}
	w.close(diffSide{pathA, a}, diffSide{pathB, b}, &totals, how)
	if err := w.out.Flush(); err != nil || totals.Same() {
		return err
	}
	return &refusal{fmt.Sprintf("%s and %s differ", text.Name(pathA), text.Name(pathB)), exitDiffers}
}

// byNumber reports whether samples are matched by their numbers.
func (o *diffOptions) byNumber(a, b *lookup.Dataset) (bool, error) {
	var keyed [2]bool
	for i, d := range []*lookup.Dataset{a, b} {
		var err error
		if keyed[i], err = d.Keyed(); err != nil {
			return false, err
		}
		if o.by.Value == "key" && !keyed[i] {
			return false, &place.Error{Where: d.Path, Off: -1, Err: errors.New("its samples have no keys"), Hint: "--by number"}
		}
	}
	if o.by.Value == "" && keyed[0] != keyed[1] {
		without := a
		if keyed[0] {
			without = b
		}
		return false, &place.Error{Where: without.Path, Off: -1, Err: errors.New("its samples have no keys, those of the other dataset have"), Hint: "--by number compares them one by one"}
	}
	return o.by.Value == "number" || !keyed[0] && o.by.Value == "", nil
}

// A diffWriter prints differences.
type diffWriter struct {
	out  *bufio.Writer
	json bool
	line []byte
}

func (w *diffWriter) write(d lookup.Difference) error {
	b := w.line[:0]
	if w.json {
		b = appendDifference(b, &d)
	} else {
		switch {
		case d.A == nil:
			b = fmt.Appendf(b, "+ %s  %d", summary.SampleName(d.B), d.B.At.Size)
		case d.B == nil:
			b = fmt.Appendf(b, "- %s  %d", summary.SampleName(d.A), d.A.At.Size)
		default:
			b = fmt.Appendf(b, "~ %s", summary.SampleName(d.B))
			if d.A.Placed {
				b = fmt.Appendf(b, "  %d", d.A.At.Size)
				if d.A.At.Size != d.B.At.Size {
					b = fmt.Appendf(b, " -> %d", d.B.At.Size)
				}
			}
		}
		b = append(b, '\n')
	}
	w.line = b
	_, err := w.out.Write(b)
	return err
}

// appendDifference appends a difference as a line of JSON.
func appendDifference(b []byte, d *lookup.Difference) []byte {
	b = fmt.Appendf(b, `{"change":"%s"`, d.Change())
	for _, side := range []struct {
		name string
		row  *lookup.Row
	}{{"a", d.A}, {"b", d.B}} {
		if side.row != nil {
			b = summary.AppendSample(fmt.Appendf(b, `,"%s":{`, side.name), side.row)
			b = append(b, '}')
		}
	}
	return terminal.EscapeJSON(append(b, "}\n"...))
}

// A diffOf is what a dataset has, of which one shard may be compared.
type diffOf struct {
	Shards  int   `json:"shards"`
	Samples int64 `json:"samples"`
}

// A diffDone is the last line of diff --format json.
type diffDone struct {
	Done     bool   `json:"done"`
	Same     bool   `json:"same"`
	A        int64  `json:"a_samples"`
	B        int64  `json:"b_samples"`
	AShards  int    `json:"a_shards"`
	BShards  int    `json:"b_shards"`
	AOf      diffOf `json:"a_of"`
	BOf      diffOf `json:"b_of"`
	Alike    int64  `json:"alike"`
	Changed  int64  `json:"changed"`
	Removed  int64  `json:"removed"`
	Added    int64  `json:"added"`
	Compared string `json:"compared"` // records or fields
	By       string `json:"by"`       // key or number
}

// close prints the summary. Errors of writing stay in out.
func (w *diffWriter) close(a, b diffSide, t *lookup.Compared, how lookup.CompareOptions) {
	if w.json {
		done := diffDone{Done: true, Same: t.Same(), A: t.A, B: t.B, AShards: len(a.Files()), BShards: len(b.Files()),
			Alike: t.Alike, Changed: t.Changed, Removed: t.Removed, Added: t.Added, Compared: "records", By: "key"}
		done.AOf.Shards, done.AOf.Samples = a.Of()
		done.BOf.Shards, done.BOf.Samples = b.Of()
		if how.Decode {
			done.Compared = "fields"
		}
		if how.ByNumber {
			done.By = "number"
		}
		_ = terminal.NewJSONEncoder(w.out).Encode(done)
		return
	}
	what := "sizes, checksums and labels, by the indexes,"
	if how.Decode {
		what = "fields"
	}
	n := humanize.Comma
	fmt.Fprintf(w.out, "%s, %s; %s alike, %s changed, %s removed, %s added (%s compared)\n",
		a.text(t.A), b.text(t.B), n(t.Alike), n(t.Changed), n(t.Removed), n(t.Added), what)
}

// A diffSide is one of the datasets, by the name that the user gave it.
type diffSide struct {
	name string
	*lookup.Dataset
}

// text says how many samples and shards were compared, and of how many.
func (d diffSide) text(samples int64) string {
	shards, of := d.Of()
	return fmt.Sprintf("%s: %s in %s", text.Name(d.name), terminal.CountedOf(samples, of, "sample"), terminal.CountedOf(int64(len(d.Files())), int64(shards), "shard"))
}
