package format

import (
	"github.com/ffconvert/ffconvert/converters/csv"
	"github.com/ffconvert/ffconvert/converters/tfrecord"
	"github.com/ffconvert/ffconvert/internal/option"
)

// ofrecordOptions adds the options of OFRecord. Its parts have the same names as those of CSV.
func ofrecordOptions(set *option.Set) Opener {
	var opts tfrecord.Options
	var naming csv.Naming
	namingOptions(set, &naming)
	o := featuresOptions(set, &opts, tfrecord.OpenOFRecord)
	set.Add("continued", "read the parts as one stream, as OneFlow does: a record may continue in the next part", option.Bool(&opts.Continued))
	o.Arrange = func(names []string) ([]string, error) { return naming.Arrange(names) }
	return o
}

// namingOptions adds the options for the names of the parts in a directory. They have the names of the parameters of
// OneFlow's loader.
func namingOptions(set *option.Set, n *csv.Naming) {
	*n = csv.Naming{Prefix: "part-", SuffixLength: -1}
	set.Add("data-part-num", "number of parts in a directory (default: found, without a gap)", option.AtLeast(&n.Parts, 0))
	set.Add("part-name-prefix", "what the name of a part begins with", option.Text(&n.Prefix))
	set.Add("part-name-suffix-length", "digits that the number of a part is padded to; -1: not padded, or any", option.Between(&n.SuffixLength, -1, 255))
}
