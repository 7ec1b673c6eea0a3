package format

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"path"
	"path/filepath"
	"strings"

	"github.com/ffconvert/ffconvert/convert/option"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/rekey"
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
func (o *keyOptions) options(parts []converters.Part) (rekey.Options, error) {
	opts := rekey.Options{Unmatched: o.unmatched, Unique: o.rule != "" || o.prefix != ""}
	if o.rule != "" {
		expr, template, ok := strings.Cut(o.rule, "=")
		rule, err := replace.Parse(expr, template)
		if !ok {
			err = errors.New("want REGEX=REPLACEMENT")
		}
		if err != nil {
			return opts, &option.Error{Name: "key", Text: o.rule, Err: err}
		}
		opts.Rules = append(opts.Rules, rule)
	}
	if o.prefix != "" {
		opts.Prefix = func(part int) string { return strings.ReplaceAll(o.prefix, sourceWord, sourceName(&parts[part])) }
	}
	for _, text := range o.fields {
		name, file, ok := strings.Cut(text, "=")
		if !ok || name == "" || file == "" {
			return opts, &option.Error{Name: "add-field", Text: text, Err: errors.New("want NAME=FILE")}
		}
		table, sum, err := readTable(file, name)
		if err != nil {
			return opts, err
		}
		opts.Tables = append(opts.Tables, table)
		opts.Added = append(opts.Added, converters.AddedField{Name: name, File: filepath.Base(file), SHA256: sum})
	}
	return opts, nil
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
	f, err := openNamed(file, "add-field")
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
