package convert

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/convert/option"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/cbor"
	"github.com/ffconvert/ffconvert/converters/csv"
	"github.com/ffconvert/ffconvert/converters/folder"
	"github.com/ffconvert/ffconvert/converters/tar"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/input"
	"github.com/ffconvert/ffconvert/internal/crcline"
	"github.com/ffconvert/ffconvert/internal/text"
)

// loaded returns a function that reports whether an index must read a field; nil: it reads none.
func loaded(rec encode.Options) func(string) bool {
	switch {
	case rec.Load == nil && !rec.Decode:
		return nil
	case rec.Load == nil:
		return encode.Decodable
	}
	return func(field string) bool {
		return slices.Contains(*rec.Load, field) || rec.Decode && encode.Decodable(field)
	}
}

// duplicateOption adds on-duplicate-key.
func duplicateOption(set *option.Set, where string) *option.Choice {
	v := &option.Choice{Value: "error", Words: []string{"error", "keep"}}
	set.Add("on-duplicate-key", "what to do when a key comes back later in one "+where+": error or keep", v)
	return v
}

func tarOptions(set *option.Set) Opener {
	var opts tar.Options
	set.Add("allow-missing-trailer", "accept a tar that ends at a member without the two zero blocks", option.Bool(&opts.AllowMissingTrailer))
	set.Add("concatenated", "read on where another tar was appended to a tar", option.Bool(&opts.Concatenated))
	duplicates := duplicateOption(set, "tar")
	set.AddLimit("max-sample-size", "largest sample accepted", option.MaxSize(&opts.MaxSample, tar.DefaultMaxSample))
	set.AddLimit("max-header-size", "largest PAX header or long name accepted", option.MaxSize(&opts.MaxHeader, tar.DefaultMaxHeader))
	return OpenFunc(func(_ context.Context, parts []converters.Part, rec encode.Options) (converters.Source, error) {
		opts.KeepDuplicates, opts.Load = duplicates.Value == "keep", loaded(rec)
		return tar.Open(parts, opts), nil
	})
}

func folderOptions(set *option.Set) Opener {
	var opts folder.Options
	var classes, list string
	var maxClasses int64
	set.Add("flat", "no classes: a record a file, its key the path", option.Bool(&opts.Flat))
	set.Add("group", "files of one directory with the same name up to the first dot are one sample", option.Bool(&opts.Group))
	set.Add("split", "the first directory is the split, not the class; convert these: train,val", option.List(&opts.Splits))
	set.Add("classes", "number the classes as this file does: one name a line, or the meta.json of another conversion", option.Text(&classes))
	set.Add("ext", "keep files that end in one of these alone: jpg,png (default all)", option.List(&opts.Ext))
	set.Add("list", "convert the files that this list names, on lines NAME SOURCE as tarp's recipes have them; a SOURCE is below DIR, or text:CONTENT", option.Text(&list))
	set.Add("hidden", "keep hidden files and directories", option.Bool(&opts.Hidden))
	set.Add("follow-outside", "follow symbolic links that lead out of the folder", option.Bool(&opts.FollowOutside))
	duplicates := duplicateOption(set, "directory")
	set.AddLimit("max-sample-size", "largest sample accepted", option.MaxSize(&opts.MaxSample, folder.DefaultMaxSample))
	set.AddLimit("max-classes-size", "largest file of --classes accepted", option.MaxSize(&maxClasses, defaultMaxClasses))
	return OpenFunc(func(ctx context.Context, parts []converters.Part, rec encode.Options) (converters.Source, error) {
		opts.KeepDuplicates, opts.Load = duplicates.Value == "keep", loaded(rec)
		if list != "" {
			return openList(list, parts, opts, classes != "")
		}
		if opts.Flat && (opts.Splits != nil || classes != "") {
			return nil, &option.Error{Name: "flat", Text: "true", Err: errors.New("it has no classes, so split and classes do not go with it")}
		}
		if classes != "" {
			var err error
			if opts.Classes, err = readClasses(classes, maxClasses); err != nil {
				return nil, err
			}
		}
		return folder.Open(ctx, parts, opts)
	})
}

// openList opens the files of one folder that a list names.
func openList(name string, roots []converters.Part, opts folder.Options, classes bool) (converters.Source, error) {
	refuse := func(why string) error {
		return &option.Error{Name: "list", Text: name, Err: errors.New(why)}
	}
	switch {
	case len(roots) != 1:
		return nil, refuse("its sources are below one folder")
	case opts.Flat || opts.Group || opts.Splits != nil || opts.Ext != nil || opts.Hidden || opts.FollowOutside || classes:
		return nil, refuse("it names files and samples, so flat, group, split, ext, hidden, follow-outside and classes do not go with it")
	}
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &converters.Error{Where: name, Off: -1, Err: input.ErrNotFound, Hint: "option list"}
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return folder.OpenList(f, name, roots[0].Path, opts)
}

const defaultMaxClasses = 64 << 20 // bytes; a million names have some 20 MB

// readClasses reads the names of classes, in the order of their numbers.
func readClasses(name string, most int64) ([]string, error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &converters.Error{Where: name, Off: -1, Err: input.ErrNotFound, Hint: "option classes"}
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, min(most, math.MaxInt64-1)+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > most {
		return nil, &converters.Error{Where: name, Off: -1, Err: fmt.Errorf("%w: it has more than %s", converters.ErrLimit, text.Count(most, "byte")), Hint: "option max-classes-size"}
	}
	if filepath.Ext(name) != ".json" {
		lines := strings.Split(strings.TrimSuffix(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n"), "\n")
		return lines, listedTwice(name, lines)
	}
	var meta dataset.Meta
	if err := json.Unmarshal(data, &meta); err != nil {
		return nil, fmt.Errorf("%s: %w", name, crcline.Words(err))
	}
	if len(meta.Classes) == 0 {
		return nil, fmt.Errorf("%s: it names no classes", name)
	}
	return meta.Classes, listedTwice(name, meta.Classes)
}

// listedTwice refuses a file of classes that lists one twice.
func listedTwice(file string, classes []string) error {
	seen := make(map[string]bool, len(classes))
	for _, class := range classes {
		if seen[class] {
			return &option.Error{Name: "classes", Text: file, Err: fmt.Errorf("class %q is listed twice", class)}
		}
		seen[class] = true
	}
	return nil
}

// A table is CSV with its options.
type table struct {
	opts      csv.Options
	naming    csv.Naming
	delimiter string
}

func csvOptions(set *option.Set) Opener {
	t := table{delimiter: ",", naming: csv.Naming{Prefix: "part-", SuffixLength: -1}, opts: csv.Options{MaxColumns: csv.DefaultMaxColumns}}
	set.Add("data-part-num", "number of parts in a directory (default: found, without a gap)", option.AtLeast(&t.naming.Parts, 0))
	set.Add("part-name-prefix", "what the name of a part begins with", option.Text(&t.naming.Prefix))
	set.Add("part-name-suffix-length", "digits that the number of a part is padded to; -1: not padded, or any", option.Between(&t.naming.SuffixLength, -1, 255))
	set.Add("header", "the first line of every part names the columns", option.Bool(&t.opts.Header))
	set.Add("columns", "columns to keep, in order; without --header, the names of all columns", option.List(&t.opts.Columns))
	set.Add("delimiter", "what stands between values; tab for a tabulator", option.Text(&t.delimiter))
	set.Add("dtype", "float64, float32 or int64 for rows of numbers, or types of columns: id=int64,name=str (default: told from the first rows)", option.Text(&t.opts.DType))
	set.Add("rows-per-sample", "rows that make one record", option.Count(&t.opts.RowsPerSample, 1))
	set.AddLimit("max-row-size", "longest row accepted, 1GiB at most", option.MaxSizeTo(&t.opts.MaxRow, csv.DefaultMaxRow, csv.MostRow))
	set.AddLimit("max-columns", fmt.Sprintf("most columns of a row accepted, %d at most", csv.MostColumns), option.Between(&t.opts.MaxColumns, 1, csv.MostColumns))
	set.AddLimit("max-sample-size", "largest sample accepted", option.MaxSize(&t.opts.MaxSample, csv.DefaultMaxSample))
	return &t
}

func (t *table) Arrange(names []string) ([]string, error) { return t.naming.Arrange(names) }

func (t *table) Open(_ context.Context, parts []converters.Part, rec encode.Options) (converters.Source, error) {
	delimiter := t.delimiter
	if delimiter == "tab" || delimiter == `\t` {
		delimiter = "\t"
	}
	if len(delimiter) != 1 {
		return nil, &option.Error{Name: "delimiter", Text: delimiter, Err: errors.New("want one character, or tab")}
	}
	t.opts.Delimiter = delimiter[0]
	switch rec.Encoding {
	case "":
		t.opts.Form = csv.Auto
	case "raw":
		t.opts.Form = csv.Packed
	case "arrow":
		t.opts.Form = csv.Table
	default:
		t.opts.Form = csv.Fields
	}
	return csv.Open(parts, t.opts)
}

func cborOptions(set *option.Set) Opener {
	form := &option.Choice{Value: "cbor", Words: []string{"cbor", "msgpack"}}
	set.Add("format", "what the files hold: cbor, or msgpack", form)
	return itemOptions(set, form)
}

func itemOptions(set *option.Set, form *option.Choice) Opener {
	opts := cbor.Options{MaxDepth: cbor.DefaultMaxDepth}
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

func (o *itemOpener) setDecoding()                  { o.decode = true }
func (o *itemOpener) merges([]converters.Part) bool { return false }

func (o *itemOpener) Open(_ context.Context, parts []converters.Part, rec encode.Options) (converters.Source, error) {
	o.opts.Fields = o.decode
	o.opts.MessagePack, o.opts.Load = o.form.Value == "msgpack", loaded(rec)
	o.opts.Items = (rec.Encoding == "" || rec.Encoding == "raw") && rec.Fields == "" && rec.Rename == nil && !rec.Decode && !o.decode
	return cbor.Open(parts, *o.opts), nil
}
