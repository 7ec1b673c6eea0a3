package export

import (
	"context"
	"fmt"
	"strings"

	"github.com/ffconvert/ffconvert/shard/plan"
)

// whyNotRebuilt returns the reason why the tars do not hold all records of one dataset, "" if they may.
func (w *tarWriter) whyNotRebuilt() string {
	m := w.src.Dataset
	switch {
	case m == nil:
		return "the shards are not one whole dataset of ffconvert"
	case w.src.Changed:
		return "keys or fields were changed"
	case w.opts.Encode.Fields != "" || w.opts.Encode.Rename != nil:
		return "the tars do not have the fields of the records"
	case !w.opts.Choice.IsZero():
		return "the tars do not have all samples"
	case len(m.Encodes) > 0:
		return "the records are in several encodings"
	}
	return ""
}

// rebuild returns the command that rebuilds the shards of the dataset from the tars, byte for byte, or the reason why
// none does.
func (w *tarWriter) rebuild(ctx context.Context, t *template) (command, not string, err error) {
	if not := w.whyNotRebuilt(); not != "" {
		return "", not, nil
	}
	plain, decoded := len(w.proofs) > 0, len(w.proofs) > 0
	for _, p := range w.proofs {
		plain, decoded = plain && p.plain, decoded && p.decoded
	}
	if !plain && !decoded {
		return "", "the records hold a key or values that the files of a tar do not", nil
	}
	if even, err := w.even(ctx); err != nil {
		return "", "", err
	} else if !even {
		return "", "the shards were not cut evenly, at samples", nil
	}
	m := w.src.Dataset
	args := []string{"ffconvert", "tar", "--encode", m.Encode.Encoding}
	if strings.Contains(m.Encode.Encoding, ";") {
		args[3] = quoted(m.Encode.Encoding)
	}
	if !plain {
		args = append(args, "--decode")
	}
	args = append(args, "--shards", fmt.Sprint(len(m.Shards)), quoted(t.pattern(len(w.jobs))), "OUT")
	return strings.Join(args, " "), "", nil
}

// even reports whether a plan with the same number of shards would have the same cuts.
func (w *tarWriter) even(ctx context.Context) (bool, error) {
	if len(w.src.Heads) == 1 {
		return true, nil
	}
	spec, err := wholeForm()
	if err != nil {
		return false, err
	}
	index, err := plan.Index(ctx, w.src.Whole, plan.IndexOptions{Encodings: plan.OneEncoding(spec), Workers: w.opts.workers()})
	if err != nil {
		return false, err
	}
	p, err := plan.New(index, plan.Options{Sizes: plan.Sizes{Shards: len(w.src.Heads)}})
	if err != nil {
		return false, err
	}
	for i := range p.Shards {
		if p.Shards[i].Samples != w.src.Heads[i].Samples {
			return false, nil
		}
	}
	return true, nil
}

// quoted returns a word quoted for a shell.
func quoted(word string) string {
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
