package convert

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/ffconvert/ffconvert/convert/option"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/rekey"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/input"
	"github.com/ffconvert/ffconvert/internal/replace"
)

// keyOptions are options of every format: other keys, and fields that are kept beside the samples.
type keyOptions struct {
	rule      string
	prefix    string
	fields    []string
	unmatched bool
}

// sourceWord stands for the name of the input in the prefix of keys.
const sourceWord = "{source}"

func newKeyOptions(set *option.Set) *keyOptions {
	o := &keyOptions{}
	set.Add("key", `change keys: REGEX=REPLACEMENT, where \1 is what the first group matched; all matches are replaced`, option.Text(&o.rule))
	set.Add("key-prefix", "put this before every key; "+sourceWord+" in it is the name of the dataset, or of the file without its extensions", option.Text(&o.prefix))
	set.Add("add-field", "add a field by key from a table: NAME=FILE.csv, or .jsonl, whose column key has the keys", option.List(&o.fields))
	set.Add("unmatched", "accept samples without a row in a table of --add-field, and rows without a sample", option.Bool(&o.unmatched))
	return o
}

// given reports whether the options change samples.
func (o *keyOptions) given() bool { return o.rule != "" || o.prefix != "" || o.fields != nil }

// options returns what to change in the samples of parts.
func (o *keyOptions) options(parts []converters.Part) (rekey.Options, []converters.AddedField, error) {
	opts := rekey.Options{Unmatched: o.unmatched, Unique: o.rule != "" || o.prefix != ""}
	if o.rule != "" {
		expr, template, ok := strings.Cut(o.rule, "=")
		rule, err := replace.Parse(expr, template)
		if !ok {
			err = errors.New("want REGEX=REPLACEMENT")
		}
		if err != nil {
			return opts, nil, &option.Error{Name: "key", Text: o.rule, Err: err}
		}
		opts.Rules = append(opts.Rules, rule)
	}
	if o.prefix != "" {
		opts.Prefix = func(part int) string { return strings.ReplaceAll(o.prefix, sourceWord, sourceName(&parts[part])) }
	}
	var added []converters.AddedField
	for _, text := range o.fields {
		name, file, ok := strings.Cut(text, "=")
		if !ok || name == "" || file == "" {
			return opts, nil, &option.Error{Name: "add-field", Text: text, Err: errors.New("want NAME=FILE")}
		}
		table, sum, err := readTable(file, name)
		if err != nil {
			return opts, nil, err
		}
		opts.Tables = append(opts.Tables, table)
		added = append(added, converters.AddedField{Name: name, File: filepath.Base(file), SHA256: sum})
	}
	return opts, added, nil
}

// sourceName returns the name of the dataset that a part is a shard of, else of its file up to the first dot.
func sourceName(p *converters.Part) string {
	dir, file := path.Split(filepath.ToSlash(p.Name))
	if strings.HasSuffix(file, ".ffr") && path.Base(dir) != "." && dir != "" {
		return path.Base(dir)
	}
	name, _, _ := strings.Cut(file, ".")
	return name
}

// readTable reads the values of a field, and returns the digest of their file.
func readTable(file, field string) (*rekey.Table, string, error) {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", &converters.Error{Where: file, Off: -1, Err: input.ErrNotFound, Hint: "option add-field"}
	}
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	sum := sha256.New()
	in := io.TeeReader(f, sum)
	var table *rekey.Table
	switch strings.ToLower(filepath.Ext(file)) {
	case ".csv":
		table, err = rekey.ReadCSV(in, file, field)
	case ".jsonl", ".ndjson":
		table, err = rekey.ReadJSONL(in, file, field)
	default:
		err = &option.Error{Name: "add-field", Text: file, Err: errors.New("want a file that ends in .csv or .jsonl")}
	}
	return table, hex.EncodeToString(sum.Sum(nil)), err
}

// A keyedOpener opens sources and changes their keys and fields.
type keyedOpener struct {
	Opener
	*keyOptions
}

// An arrangingOpener is a keyedOpener of an Arranger.
type arrangingOpener struct {
	keyedOpener
	Arranger
}

func (a arrangingOpener) Open(ctx context.Context, parts []converters.Part, rec encode.Options) (converters.Source, error) {
	return a.keyedOpener.Open(ctx, parts, rec)
}

// withKeys returns the opener of a format with the options of keys.
func withKeys(set *option.Set, of Opener) Opener {
	k := keyedOpener{of, newKeyOptions(set)}
	if a, ok := of.(Arranger); ok {
		return arrangingOpener{k, a}
	}
	return k
}

// unkeyed returns the opener of the format.
func unkeyed(o Opener) Opener {
	if k, ok := o.(keyedOpener); ok {
		return k.Opener
	}
	return o
}

// A merger is an Opener of datasets that have keys already.
type merger interface {
	// setDecoding makes Open decode records, whatever the options of the new records.
	setDecoding()
	// merges reports whether the parts are of several datasets, so that keys may clash.
	merges(parts []converters.Part) bool
}

func (k keyedOpener) Open(ctx context.Context, parts []converters.Part, rec encode.Options) (converters.Source, error) {
	m, keyed := k.Opener.(merger)
	if keyed && k.given() {
		m.setDecoding()
	}
	src, err := k.Opener.Open(ctx, parts, rec)
	if err != nil || !k.given() && !(keyed && m.merges(parts)) {
		return src, err
	}
	opts, added, err := k.options(parts)
	if err != nil {
		return nil, err
	}
	opts.Unique = opts.Unique || keyed && m.merges(parts)
	opts.Added = added
	return rekey.Wrap(src, opts), nil
}

// joins reports whether all samples must be indexed before the first shard is planned.
func (k keyedOpener) joins(parts []converters.Part) bool {
	m, keyed := k.Opener.(merger)
	return k.given() || keyed && m.merges(parts)
}
