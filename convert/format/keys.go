package format

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/option"
	"github.com/ffconvert/ffconvert/internal/samples/wrap"
	"github.com/ffconvert/ffconvert/internal/text"
)

// keyOptions are the options of every format that change keys and add fields from separate tables.
type keyOptions struct {
	rule      string
	prefix    string
	fields    []string
	unmatched bool

	columns   []string // of the tables of fields
	delimiter string
	quotes    option.Choice
}

// sourceWord is replaced in a prefix of keys by the name of the input.
const sourceWord = "{source}"

func newKeyOptions(set *option.Set) *keyOptions {
	o := &keyOptions{quotes: option.Choice{Value: "auto", Words: []string{"auto", "yes", "no"}}}
	set.Add("key", `change keys: REGEX=REPLACEMENT, where \1 is what the first group matched; all matches are replaced`, option.Text(&o.rule))
	set.Add("key-prefix", "put this before every key; "+sourceWord+" in it is the name of the dataset, or of the file without its extensions", option.Text(&o.prefix))
	set.Add("add-field", "add a field by key from a table: NAME=FILE.csv, .tsv or .jsonl, whose column key, or first column, has the keys", option.List(&o.fields))
	set.Add("table-columns", "the tables of --add-field have no line that names their columns, which are id,text,…", option.List(&o.columns))
	set.Add("table-delimiter", `what is between the columns of these tables: one character, or tab (default: a comma, in .tsv a tab)`, option.Text(&o.delimiter))
	set.Add("table-quotes", "whether quotes around a value of these tables are not of it: yes, no, or auto: yes with commas, else no, and refused where it may be either", &o.quotes)
	set.Add("unmatched", "accept, and count, samples without a row in a table of --add-field, rows without a sample, and, of a folder, files that --pair finds no partner for", option.Bool(&o.unmatched))
	return o
}

// given reports whether the options change samples.
func (o *keyOptions) given() bool { return o.rule != "" || o.prefix != "" || o.fields != nil }

// options returns the changes to the samples of parts. inputs are the inputs of the source: a folder of classes has one
// part for each class.
func (o *keyOptions) options(parts, inputs []converters.Part) (wrap.Keys, error) {
	opts := wrap.Keys{Unmatched: o.unmatched, Unique: o.rule != "" || o.prefix != ""}
	if o.rule != "" {
		expr, template, ok := strings.Cut(o.rule, "=")
		rule, err := text.ParseRule(expr, template)
		if !ok {
			err = errors.New("want REGEX=REPLACEMENT")
		}
		if err != nil {
			return opts, &option.Error{Name: "key", Text: o.rule, Err: err}
		}
		opts.Rules = append(opts.Rules, rule)
	}
	if o.prefix != "" {
		named := strings.Contains(o.prefix, sourceWord)
		for i := range parts {
			if input := inputOf(&parts[i], inputs); named && sourceName(input) == "" {
				return opts, &option.Error{Name: "key-prefix", Text: o.prefix, Err: fmt.Errorf("the input %q has no name for %s: write one in its place", input.Name, sourceWord)}
			}
		}
		opts.Prefix = func(part int) string {
			return strings.ReplaceAll(o.prefix, sourceWord, sourceName(inputOf(&parts[part], inputs)))
		}
	}
	for _, text := range o.fields {
		name, file, ok := strings.Cut(text, "=")
		if !ok || name == "" || file == "" {
			return opts, &option.Error{Name: "add-field", Text: text, Err: errors.New("want NAME=FILE")}
		}
		table, sum, err := o.readTable(file, name)
		if err != nil {
			return opts, err
		}
		opts.Tables = append(opts.Tables, table)
		opts.Added = append(opts.Added, converters.AddedField{Name: name, File: filepath.Base(file), SHA256: sum})
	}
	return opts, nil
}

// delimiter returns the separator of the columns of a table.
func delimiter(text string) (rune, error) {
	r, n := utf8.DecodeRuneInString(text)
	switch {
	case text == "tab", text == `\t`:
		return '\t', nil
	case n != len(text) || r == utf8.RuneError || strings.ContainsRune("\"\r\n", r):
		return 0, &option.Error{Name: "table-delimiter", Text: text, Err: errors.New("want one character, or tab")}
	}
	return r, nil
}

// inputOf returns the input that is the part or contains it.
func inputOf(p *converters.Part, inputs []converters.Part) *converters.Part {
	for i := range inputs {
		if name := inputs[i].Name; p.Name == name || strings.HasPrefix(p.Name, strings.TrimSuffix(name, "/")+"/") {
			return &inputs[i]
		}
	}
	return p
}

// sourceName returns the name of the dataset that has the part as a shard, else the name of the part's file up to the
// first dot (not counting leading dots). For a directory such as . it returns the name of that directory; for the root,
// "".
func sourceName(p *converters.Part) string {
	dir, file := path.Split(filepath.ToSlash(p.Name))
	if strings.HasSuffix(file, ".ffr") && path.Base(dir) != "." && dir != "" {
		return directoryName(dir)
	}
	if strings.Trim(file, ".") == "" {
		return directoryName(p.Name)
	}
	name, _, _ := strings.Cut(strings.TrimLeft(file, "."), ".")
	return name
}

// directoryName returns the last element of the path of a directory.
func directoryName(dir string) string {
	name := path.Base(filepath.ToSlash(dir))
	if strings.Trim(name, "./") == "" {
		whole, err := filepath.Abs(dir)
		if err != nil {
			return ""
		}
		name = path.Base(filepath.ToSlash(whole))
	}
	return strings.Trim(name, "./")
}

// readTable reads the values of a field, and returns the digest of their file.
func (o *keyOptions) readTable(file, field string) (*wrap.Table, string, error) {
	f, err := openNamed(file, "add-field")
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	sum := sha256.New()
	in := io.TeeReader(f, sum)
	rows := wrap.Rows{Columns: o.columns, Quotes: o.quotes.Value}
	read := func() (*wrap.Table, error) { return wrap.ReadRows(in, file, field, rows) }
	switch ext := strings.ToLower(filepath.Ext(file)); {
	case ext == ".jsonl", ext == ".ndjson":
		read = func() (*wrap.Table, error) { return wrap.ReadJSONL(in, file, field) }
	case o.delimiter != "":
		rows.Comma, err = delimiter(o.delimiter)
	case ext == ".tsv", ext == ".tab":
		rows.Comma = '\t'
	case ext != ".csv":
		err = &option.Error{Name: "add-field", Text: file, Err: errors.New("want a file that ends in .csv, .tsv or .jsonl, or table-delimiter")}
	}
	if err != nil {
		return nil, "", err
	}
	table, err := read()
	return table, hex.EncodeToString(sum.Sum(nil)), err
}
