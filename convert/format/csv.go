package format

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/csv"
	"github.com/ffconvert/ffconvert/internal/option"
)

// A table is a CSV source with its options.
type table struct {
	opts      csv.Options
	naming    csv.Naming
	delimiter string
	set       *option.Set
}

func csvOptions(set *option.Set) Opener {
	t := &table{set: set, delimiter: ",", opts: csv.Options{MaxColumns: csv.DefaultMaxColumns}}
	namingOptions(set, &t.naming)
	set.Add("header", "the first line of every part names the columns; of files named .csv or .tsv this is found, unless --header=false", option.Bool(&t.opts.Header))
	set.Add("columns", "columns to keep, in order; without --header, the names of all columns", option.List(&t.opts.Columns))
	set.Add("delimiter", "what stands between values; tab for a tabulator", option.Text(&t.delimiter))
	set.Add("dtype", "float64, float32 or int64 for rows of numbers, or types of columns: id=int64,name=str (default: told from the first rows)", option.Text(&t.opts.DType))
	set.Add("rows-per-sample", "rows that make one record", option.Count(&t.opts.RowsPerSample, 1))
	set.AddLimit("max-row-size", "longest row accepted, 1GiB at most", option.MaxSizeTo(&t.opts.MaxRow, csv.DefaultMaxRow, csv.MostRow))
	set.AddLimit("max-columns", fmt.Sprintf("most columns of a row accepted, %d at most", csv.MostColumns), option.Between(&t.opts.MaxColumns, 1, csv.MostColumns))
	set.AddLimit("max-sample-size", "largest sample accepted", option.MaxSize(&t.opts.MaxSample, csv.DefaultMaxSample))
	return Opener{Open: t.open, Arrange: t.arrange}
}

// arrange selects the files with names of OneFlow parts, or, if there are none, all files with names of tables, in name
// order.
func (t *table) arrange(names []string) ([]string, error) {
	parts, err := t.naming.Arrange(names)
	if err == nil || slices.ContainsFunc(names, t.isPart) || t.set.Given("data-part-num") || t.set.Given("part-name-prefix") || t.set.Given("part-name-suffix-length") {
		return parts, err
	}
	tables := slices.DeleteFunc(slices.Sorted(slices.Values(names)), func(name string) bool { return !isTable(name) })
	if len(tables) == 0 {
		return nil, err
	}
	return tables, nil
}

// isPart reports whether a file name begins as the names of OneFlow parts do.
func (t *table) isPart(name string) bool {
	rest, ok := strings.CutPrefix(name, t.naming.Prefix)
	return ok && rest != "" && rest[0] >= '0' && rest[0] <= '9'
}

var isTable = hasExt(".csv", ".tsv")

func (t *table) open(_ context.Context, req OpenRequest) (converters.Source, error) {
	delimiter := t.delimiter
	if delimiter == "tab" || delimiter == `\t` {
		delimiter = "\t"
	}
	if len(delimiter) != 1 {
		return nil, &option.Error{Name: "delimiter", Text: delimiter, Err: errors.New("want one character, or tab")}
	}
	t.opts.Delimiter = delimiter[0]
	t.opts.FindHeader = !t.set.Given("header") && !slices.ContainsFunc(req.Parts, func(p converters.Part) bool { return !isTable(p.Name) || t.isPart(path.Base(p.Name)) })
	switch req.Records.Encoding {
	case "":
		t.opts.Form = csv.Auto
	case "raw":
		t.opts.Form = csv.Packed
	case "arrow":
		t.opts.Form = csv.Table
	default:
		t.opts.Form = csv.Fields
	}
	return csv.Open(req.Parts, t.opts)
}
