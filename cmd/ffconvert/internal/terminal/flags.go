package terminal

import (
	"regexp"
	"strings"

	"github.com/ffconvert/ffconvert/internal/place"
)

// flagTable has the flag for each option of a library. Libraries do not know flags: their hints and
// place.OptionsErrors name options, a field of a struct, or "option NAME" for the flag --NAME.
var flagTable = []string{
	"WriteOptions.FollowOutside", "--follow-outside",
	"WriteOptions.MaxFiles", "--max-files",
	"WriteOptions.MaxFile", "--max-file-size",
	"WriteOptions.Overwrite", "--overwrite",

	"Options.AllowMissingTrailer", "--allow-missing-trailer",
	"Options.AllowPipe", "--allow-pipe",
	"Options.CacheDir", "--cache-dir",
	"Options.Classes", "--classes",
	"Options.Columns", "--columns",
	"Options.Concatenated", "--concatenated",
	"Options.Continued", "--continued",
	"Options.Damaged", "--damaged",
	"Options.Decode", "--decode",
	"Options.Delimiter", "--delimiter",
	"Options.DType", "--dtype",
	"Options.Encoding", "--encode",
	"Options.Fields", "--fields",
	"Options.FollowOutside", "--follow-outside",
	"Options.Form Fields", "--encode msgpack",
	"Options.Group", "--group",
	"Options.Header", "--header",
	"Options.Items", "--encode raw",
	"Options.Lists", "--lists",
	"Options.KeepDuplicates", "--on-duplicate-key keep",
	"Options.MaxColumns", "--max-columns",
	"Options.MaxDepth", "--max-depth",
	"Options.MaxFooter", "--max-footer-size",
	"Options.MaxHeader", "--max-header-size",
	"Options.MaxItem", "--max-item-size",
	"Options.MaxLine", "--max-line-size",
	"Options.MaxNames", "--max-names", // before MaxName: the first that matches is taken
	"Options.MaxName", "--max-name-size",
	"Options.MaxBatch", "--max-batch-size",
	"Options.MaxPage", "--max-page-size",
	"Options.MaxPixels", "--max-pixels",
	"Options.MaxRatio", "--max-ratio",
	"Options.MaxRow", "--max-row-size",
	"Options.MaxSample", "--max-sample-size",
	"Options.MaxValue", "--max-value-size",
	"Options.MaxWindow", "--max-window",
	"Options.Missing", "--missing",
	"Options.Quota", "--cache-size",
	"Options.Rename", "--rename",
	"Options.RequireEnd", "--require-end",
	"Options.Resize", "--resize",
	"Options.Rewrite", "--rewrite",
	"Options.RowsPerSample", "--rows-per-sample",
	"Options.Scratch", "--scratch-dir",
	"Options.Size", "--scratch-size",
	"Options.Splits", "--split",
	"Options.Tensor", "--tensor",
	"Options.Timeout", "--filter-timeout",
	"Options.Whole", "--encode raw",
	"Options.Workers", "--jobs",

	"Limits.MaxDecode", "--max-decode-size",
	"Limits.MaxDepth", "--max-decode-depth",
	"Limits.MaxPixels", "--max-pixels",

	"Naming.Parts", "--data-part-num",
	"Naming.Prefix", "--part-name-prefix",
	"Naming.SuffixLength", "--part-name-suffix-length",

	"Sizes.Shards", "--shards",
	"Sizes.ShardSize", "--shard-size",
	"Sizes.Min", "--min-shard-size",
	"Sizes.Max", "--max-shards",

	"have all parts here first", "--exact has all parts here first",
}

var (
	flags  = strings.NewReplacer(flagTable...)
	option = regexp.MustCompile(`\boption ([a-z])`)
)

// Flags returns the text of a library with the flags of the options that it names.
func Flags(text string) string { return option.ReplaceAllString(flags.Replace(text), "--$1") }

// ErrorText returns the text of an error with the flags of the options that it names.
func ErrorText(err error) string { return replaceHints(err.Error(), err) }

func replaceHints(s string, err error) string {
	switch e := err.(type) {
	case *place.Error:
		if e.Hint != "" {
			s = strings.Replace(s, "("+e.Hint, "("+Flags(e.Hint), 1)
		}
	case *place.OptionsError:
		s = strings.Replace(s, e.Text, Flags(e.Text), 1)
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			s = replaceHints(s, inner)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			s = replaceHints(s, inner)
		}
	}
	return s
}
