package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/cbor"
	"github.com/ffconvert/ffconvert/converters/csv"
	"github.com/ffconvert/ffconvert/converters/folder"
	"github.com/ffconvert/ffconvert/converters/tar"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/encode"
)

// opener is an openable that is nothing but a function.
type opener func(ctx context.Context, parts []converters.Part, rec encode.Options) (converters.Source, error)

func (o opener) open(ctx context.Context, parts []converters.Part, rec encode.Options) (converters.Source, error) {
	return o(ctx, parts, rec)
}

// loaded tells which fields an index must read for records as rec says.
func loaded(rec encode.Options) func(string) bool {
	if !rec.Decode {
		return nil
	}
	return encode.Decodable
}

// duplicateFlag adds --on-duplicate-key.
func duplicateFlag(flags *pflag.FlagSet, where string) *choiceValue {
	v := &choiceValue{value: "error", choices: []string{"error", "keep"}}
	flags.Var(v, "on-duplicate-key", "what to do when a key comes back later in one "+where+": error or keep")
	return v
}

func tarFlags(flags *pflag.FlagSet) openable {
	var opts tar.Options
	flags.BoolVar(&opts.AllowMissingTrailer, "allow-missing-trailer", false, "accept a tar that ends at a member without the two zero blocks")
	flags.BoolVar(&opts.Concatenated, "concatenated", false, "read on where another tar was appended to a tar")
	duplicates := duplicateFlag(flags, "tar")
	sizeFlag(flags, &opts.MaxSample, "max-sample-size", tar.DefaultMaxSample, "largest sample accepted")
	sizeFlag(flags, &opts.MaxHeader, "max-header-size", tar.DefaultMaxHeader, "largest PAX header or long name accepted")
	return opener(func(_ context.Context, parts []converters.Part, rec encode.Options) (converters.Source, error) {
		opts.KeepDuplicates, opts.Load = duplicates.value == "keep", loaded(rec)
		return tar.Open(parts, opts), nil
	})
}

func folderFlags(flags *pflag.FlagSet) openable {
	var opts folder.Options
	var classes string
	var maxClasses int64
	flags.BoolVar(&opts.Flat, "flat", false, "no classes: a record a file, its key the path")
	flags.BoolVar(&opts.Group, "group", false, "files of one directory with the same name up to the first dot are one sample")
	flags.StringSliceVar(&opts.Splits, "split", nil, "the first directory is the split, not the class; convert these: train,val")
	flags.StringVar(&classes, "classes", "", "number the classes as this file does: one name a line, or the meta.json of another conversion")
	flags.StringSliceVar(&opts.Ext, "ext", nil, "keep files that end in one of these alone: jpg,png (default all)")
	flags.BoolVar(&opts.Hidden, "hidden", false, "keep hidden files and directories")
	flags.BoolVar(&opts.FollowOutside, "follow-outside", false, "follow symbolic links that lead out of the folder")
	duplicates := duplicateFlag(flags, "directory")
	sizeFlag(flags, &opts.MaxSample, "max-sample-size", folder.DefaultMaxSample, "largest sample accepted")
	sizeFlag(flags, &maxClasses, "max-classes-size", defaultMaxClasses, "largest file of --classes accepted")
	return opener(func(ctx context.Context, parts []converters.Part, rec encode.Options) (converters.Source, error) {
		opts.KeepDuplicates, opts.Load = duplicates.value == "keep", loaded(rec)
		if opts.Flat && (opts.Splits != nil || classes != "") {
			return nil, errors.New("--flat has no classes, so --split and --classes do not go with it")
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

const defaultMaxClasses = 64 << 20 // bytes; a million names have some 20 MB

// readClasses reads the names of classes, in the order of their numbers.
func readClasses(name string, most int64) ([]string, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, min(most, math.MaxInt64-1)+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > most {
		return nil, &converters.Error{Where: name, Off: -1, Err: fmt.Errorf("%w: it has more than %d bytes", converters.ErrLimit, most), Hint: "--max-classes-size"}
	}
	if filepath.Ext(name) != ".json" {
		return strings.Split(strings.TrimSuffix(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n"), "\n"), nil
	}
	var meta dataset.Meta
	if err := json.Unmarshal(data, &meta); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(meta.Classes) == 0 {
		return nil, fmt.Errorf("%s: it names no classes", name)
	}
	return meta.Classes, nil
}

// A table is CSV with its flags.
type table struct {
	opts      csv.Options
	naming    csv.Naming
	delimiter string
}

func csvFlags(flags *pflag.FlagSet) openable {
	var t table
	flags.IntVar(&t.naming.Parts, "data-part-num", 0, "number of parts in a directory (default: found, without a gap)")
	flags.StringVar(&t.naming.Prefix, "part-name-prefix", "part-", "what the name of a part begins with")
	flags.IntVar(&t.naming.SuffixLength, "part-name-suffix-length", -1, "digits that the number of a part is padded to; -1: not padded, or any")
	flags.BoolVar(&t.opts.Header, "header", false, "the first line of every part names the columns")
	flags.StringSliceVar(&t.opts.Columns, "columns", nil, "columns to keep, in order; without --header, the names of all columns")
	flags.StringVar(&t.delimiter, "delimiter", ",", "what stands between values; tab for a tabulator")
	flags.StringVar(&t.opts.DType, "dtype", "", "float64, float32 or int64 for rows of numbers, or types of columns: id=int64,name=str (default: told from the first rows)")
	flags.Int64Var(&t.opts.RowsPerSample, "rows-per-sample", 1, "rows that make one record")
	sizeFlag(flags, &t.opts.MaxRow, "max-row-size", csv.DefaultMaxRow, "longest row accepted, 1GiB at most")
	countFlag(flags, &t.opts.MaxColumns, "max-columns", csv.DefaultMaxColumns, "most columns of a row accepted, 16777216 at most")
	sizeFlag(flags, &t.opts.MaxSample, "max-sample-size", csv.DefaultMaxSample, "largest sample accepted")
	return &t
}

func (t *table) arrange(names []string) ([]string, error) { return t.naming.Arrange(names) }

func (t *table) open(_ context.Context, parts []converters.Part, rec encode.Options) (converters.Source, error) {
	switch {
	case t.delimiter == "tab" || t.delimiter == `\t`:
		t.delimiter = "\t"
	case len(t.delimiter) != 1:
		return nil, fmt.Errorf("--delimiter %q: want one character, or tab", t.delimiter)
	case t.opts.RowsPerSample < 1:
		return nil, errors.New("--rows-per-sample must be 1 or more")
	}
	t.opts.Delimiter = t.delimiter[0]
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

func cborFlags(flags *pflag.FlagSet) openable {
	form := &choiceValue{value: "cbor", choices: []string{"cbor", "msgpack"}}
	flags.Var(form, "format", "what the files hold: cbor, or msgpack")
	return itemFlags(flags, form)
}

// pluginFlags are those of what a plugin writes: always CBOR.
func pluginFlags(flags *pflag.FlagSet) openable { return itemFlags(flags, &choiceValue{value: "cbor"}) }

func itemFlags(flags *pflag.FlagSet, form *choiceValue) openable {
	var opts cbor.Options
	countFlag(flags, &opts.MaxDepth, "max-depth", cbor.DefaultMaxDepth, "deepest nesting accepted, 65535 at most")
	sizeFlag(flags, &opts.MaxItem, "max-item-size", cbor.DefaultMaxItem, "largest item accepted")
	sizeFlag(flags, &opts.MaxName, "max-name-size", cbor.DefaultMaxName, "longest key or name of a field accepted")
	return opener(func(_ context.Context, parts []converters.Part, rec encode.Options) (converters.Source, error) {
		opts.MessagePack, opts.Load = form.value == "msgpack", loaded(rec)
		opts.Items = (rec.Encoding == "" || rec.Encoding == "raw") && rec.Fields == "" && rec.Rename == nil && !rec.Decode
		return cbor.Open(parts, opts), nil
	})
}
