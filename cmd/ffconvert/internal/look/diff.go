package look

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/dustin/go-humanize"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/dataset/lookup"
	"github.com/ffconvert/ffconvert/internal/option"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/text"
)

// A Differ writes the differences of two datasets.
type Differ struct {
	Datasets
	Format option.Choice // text or json
	By     option.Choice // what matches samples, key or number; "": key where both datasets have keys
	Decode bool          // compare fields, and not the bytes of records
}

// Run compares two datasets or shards, and reports whether they have the same samples.
func (o *Differ) Run(ctx context.Context, pathA, pathB string, stdout io.Writer) (same bool, err error) {
	defer func() { err = o.End(err) }()
	a, err := o.Open(ctx, pathA)
	if err != nil {
		return false, err
	}
	b, err := o.Open(ctx, pathB)
	if err != nil {
		return false, err
	}
	for _, d := range []*lookup.Dataset{a, b} {
		if err := d.Whole(); err != nil {
			return false, err
		}
	}
	how := lookup.CompareOptions{Decode: o.Decode}
	if how.ByNumber, err = o.byNumber(a, b); err != nil {
		return false, err
	}
	if known := min(len(a.Encodings()), len(b.Encodings())) > 0; known && !slices.Equal(a.Encodings(), b.Encodings()) {
		how.Decode = true
	}
	w := &diffWriter{out: bufio.NewWriterSize(stdout, 64<<10), json: o.Format.Value == "json"}
	totals, err := lookup.Compare(ctx, a, b, how, w.write)
	if err != nil {
		return false, errors.Join(w.out.Flush(), err)
	}
	w.close(diffSide{pathA, a}, diffSide{pathB, b}, &totals, how)
	return totals.Same(), w.out.Flush()
}

// byNumber reports whether samples are matched by their numbers.
func (o *Differ) byNumber(a, b *lookup.Dataset) (bool, error) {
	var keyed [2]bool
	for i, d := range []*lookup.Dataset{a, b} {
		var err error
		if keyed[i], err = d.Keyed(); err != nil {
			return false, err
		}
		if o.By.Value == "key" && !keyed[i] {
			return false, &place.Error{Where: d.Path, Off: -1, Err: errors.New("its samples have no keys"), Hint: "--by number"}
		}
	}
	if o.By.Value == "" && keyed[0] != keyed[1] {
		without := a
		if keyed[0] {
			without = b
		}
		return false, &place.Error{Where: without.Path, Off: -1, Err: errors.New("its samples have no keys, those of the other dataset have"), Hint: "--by number compares them one by one"}
	}
	return o.By.Value == "number" || !keyed[0] && o.By.Value == "", nil
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
			b = fmt.Appendf(b, "+ %s  %d", sampleName(d.B), d.B.At.Size)
		case d.B == nil:
			b = fmt.Appendf(b, "- %s  %d", sampleName(d.A), d.A.At.Size)
		default:
			b = fmt.Appendf(b, "~ %s", sampleName(d.B))
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
			b = appendSample(fmt.Appendf(b, `,"%s":{`, side.name), side.row)
			b = append(b, '}')
		}
	}
	return terminal.EscapeJSON(append(b, "}\n"...))
}

// A diffDone is the last line of diff --format json.
type diffDone struct {
	Done     bool   `json:"done"`
	Same     bool   `json:"same"`
	A        int64  `json:"a_samples"`
	B        int64  `json:"b_samples"`
	AShards  int    `json:"a_shards"`
	BShards  int    `json:"b_shards"`
	AOf      counts `json:"a_of"`
	BOf      counts `json:"b_of"`
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

// text formats how many samples and shards were compared, of how many.
func (d diffSide) text(samples int64) string {
	shards, of := d.Of()
	return fmt.Sprintf("%s: %s in %s", text.Name(d.name), countedOf(samples, of, "sample"), countedOf(int64(len(d.Files())), int64(shards), "shard"))
}

// countedOf returns "9 samples" for all of 9, else "3 of 9 samples".
func countedOf(n, of int64, noun string) string {
	counted := terminal.Counted(of, noun)
	if n < of {
		counted = humanize.Comma(n) + " of " + counted
	}
	return counted
}
