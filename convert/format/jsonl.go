package format

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/jsonl"
	"github.com/ffconvert/ffconvert/internal/option"
)

func jsonlOptions(set *option.Set) Opener {
	opts := jsonl.Options{MaxDepth: jsonl.DefaultMaxDepth}
	set.Add("key-field", "the member of an object that is its key, a text or an integer (default: __key__, where there is one)", option.Text(&opts.KeyField))
	set.Add("require-end", requireEnd, option.Bool(&opts.RequireEnd))
	set.AddLimit("max-line-size", "longest line accepted, 1GiB at most", option.MaxSizeTo(&opts.MaxLine, jsonl.DefaultMaxLine, jsonl.MostLine))
	set.AddLimit("max-depth", fmt.Sprintf("deepest nesting accepted, %d at most", jsonl.MostDepth), option.Between(&opts.MaxDepth, 1, jsonl.MostDepth))
	set.AddLimit("max-sample-size", "largest sample accepted", option.MaxSize(&opts.MaxSample, jsonl.DefaultMaxSample))
	return Opener{Open: func(_ context.Context, req OpenRequest) (converters.Source, error) {
		parts := req.Parts
		opts.Load = loaded(req.Records)
		var dirs []string
		for i := range parts {
			of, name := dirOf(&parts[i], req.Files)
			rest, ok := strings.CutPrefix(name, jsonl.MetadataName)
			if !ok || !slices.Contains([]string{"", ".gz", ".zst", ".bz2", ".xz"}, rest) {
				continue // it lists no other files of its directory
			}
			if of.remote {
				err := fmt.Errorf("%w: the files that its lines name are not fetched", converters.ErrUnsupported)
				return nil, &converters.Error{Where: parts[i].Name, Off: -1, Err: err, Hint: "copy the directory here; or another name of the file converts its lines alone"}
			}
			dirs = append(dirs, filepath.Join(".", of.name))
		}
		switch len(dirs) {
		case 0:
			return jsonl.Open(parts, opts), nil
		case len(parts):
			return jsonl.OpenFiles(parts, dirs, opts), nil
		}
		err := fmt.Errorf("%w: files named %s, and other files", converters.ErrUnsupported, jsonl.MetadataName)
		return nil, &converters.Error{Where: parts[0].Name, Off: -1, Err: err, Hint: "convert them apart, or as collections of one ffconvert spec"}
	}}
}
