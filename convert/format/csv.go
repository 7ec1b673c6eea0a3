package format

import (
	"context"
	"errors"
	"fmt"

	"github.com/ffconvert/ffconvert/convert/option"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/csv"
	"github.com/ffconvert/ffconvert/converters/partname"
	"github.com/ffconvert/ffconvert/encode"
)

// A table is CSV with its options.
type table struct {
	opts      csv.Options
	naming    partname.Naming
	delimiter string
}

func csvOptions(set *option.Set) Opener {
	t := table{delimiter: ",", opts: csv.Options{MaxColumns: csv.DefaultMaxColumns}}
	namingOptions(set, &t.naming)
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
