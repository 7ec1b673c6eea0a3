package format

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/arrow"
	"github.com/ffconvert/ffconvert/internal/option"
	"github.com/ffconvert/ffconvert/internal/text"
)

// Names in directories that save_to_disk of Hugging Face's datasets writes.
const (
	stateName = "state.json" // lists the files of the dataset
	mostState = 64 << 20     // largest size in bytes
)

// savedName matches the names that save_to_disk gives to files.
var savedName = text.Pattern(`^(data-[0-9]+-of-[0-9]+|dataset)\.arrow$`)

var isArrow = hasExt(".arrow", ".arrows", ".feather", ".ipc")

func arrowOptions(set *option.Set) Opener {
	var opts arrow.Options
	set.AddLimit("max-batch-size", "most bytes of the compressed buffers of a batch, decompressed", option.MaxSize(&opts.MaxBatch, arrow.DefaultMaxBatch))
	set.AddLimit("max-value-size", "largest value accepted, and all nested values of a row", option.MaxSize(&opts.MaxValue, arrow.DefaultMaxValue))
	return Opener{Arrange: arrangeArrow, Open: func(ctx context.Context, req OpenRequest) (converters.Source, error) {
		if err := checkSaved(ctx, req); err != nil {
			return nil, err
		}
		opts.Fields, opts.Load = req.Records.Needs(), req.Records.Loads
		return arrow.Open(req.Parts, opts)
	}}
}

// arrangeArrow selects the Arrow files of a directory. If save_to_disk wrote it, only the files of the dataset are
// selected, in the order of their numbers; map and filter leave other files there.
func arrangeArrow(names []string) ([]string, error) {
	saved := slices.Contains(names, stateName)
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return !isArrow(name) || saved && strings.HasPrefix(name, "cache-")
	})
	if saved {
		slices.SortFunc(names, func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) })
	}
	return names, nil
}

// checkSaved returns an error if the state.json next to files does not list them, or lists a file that does not exist.
func checkSaved(ctx context.Context, req OpenRequest) error {
	parts := req.Parts
	dirs := make(map[string]*savedDir)
	for i := range parts {
		of, file := dirOf(&parts[i], req.Files)
		if file == "" || !of.readable() || of.remote && !savedName().MatchString(file) {
			continue
		}
		d := dirs[of.name]
		if d == nil {
			d = &savedDir{dir: of}
			if err := d.read(ctx); err != nil {
				return err
			}
			dirs[of.name] = d
		}
		if at := slices.Index(d.missing, file); at >= 0 {
			d.missing = slices.Delete(d.missing, at, at+1)
		} else if d.saved {
			err := fmt.Errorf("%w: %s does not name it", converters.ErrUnsupported, d.name+stateName)
			return &converters.Error{Where: parts[i].Name, Off: -1, Err: err, Hint: "convert the directory, or move the file out of it"}
		}
	}
	for _, d := range dirs { // otherwise samples of a missing file would be lost unnoticed
		if err := d.look(ctx, d.missing, stateName+" names it"); err != nil {
			return err
		}
	}
	return nil
}

// A savedDir is the directory of a part.
type savedDir struct {
	dir
	saved   bool     // written by save_to_disk
	missing []string // listed files that are not among the parts
}

// read reads state.json, if it exists.
func (d *savedDir) read(ctx context.Context) error {
	text, err := d.dir.read(ctx, stateName, mostState, "")
	if err != nil || text == nil {
		return err
	}
	type data []struct {
		Filename string `json:"filename"`
	}
	var state struct {
		Data    *data `json:"_data_files"`
		Indices data  `json:"_indices_data_files"`
	}
	switch err := json.Unmarshal(text, &state); {
	case err != nil || state.Data == nil:
		return nil // state.json of another program
	case len(state.Indices) > 0:
		err := fmt.Errorf("%w: its rows are chosen by a table of indices", converters.ErrUnsupported)
		return &converters.Error{Where: d.name + stateName, Off: -1, Err: err, Hint: "load it, and save it again by a newer version of datasets"}
	}
	d.saved = true
	for _, f := range *state.Data {
		if f.Filename != filepath.Base(f.Filename) {
			return &converters.Error{Where: d.name + stateName, Off: -1, Err: fmt.Errorf("%w: the file name %.200q", converters.ErrMalformed, f.Filename)}
		}
		d.missing = append(d.missing, f.Filename)
	}
	return nil
}
