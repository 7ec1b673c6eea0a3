package check

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/findings"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/stage"
	"github.com/ffconvert/ffconvert/internal/store"
)

// IDs of the rules. They are stable: scripts and CI configurations name them.
const (
	// Errors: a conversion refuses them, or the data is damaged.
	Missing          = "missing"
	Truncated        = "truncated"
	Malformed        = "malformed"
	Unsupported      = "unsupported"
	Duplicate        = "duplicate"
	changed          = "changed"
	Limit            = "limit"
	ruleUnmatched    = "unmatched"
	Unreadable       = "unreadable"
	MissingTrailer   = "missing-trailer"
	Concatenated     = "concatenated"
	DuplicateKey     = "duplicate-key"
	EmptyDataset     = "empty-dataset"
	ruleMissingField = "missing-field"
	ruleUndecodable  = "undecodable"

	// Warnings: a conversion accepts them, but they may be mistakes.
	ruleOddFields     = "odd-fields"
	ruleEmptyField    = "empty-field"
	ruleEmptySample   = "empty-sample"
	ruleEmptyPart     = "empty-part"
	ruleEmptyLine     = "empty-line"
	ruleRepeatedKey   = "repeated-key"
	ruleCaseCollision = "case-collision"
	ruleOddKey        = "odd-key"
	ruleSkippedFile   = "skipped-file"
	ruleSkippedLink   = "skipped-link"
	ruleReservedField = "reserved-field"
	ruleOddTable      = "odd-table"
	ruleOddSource     = "odd-source"
	ruleWrongType     = "wrong-type"
	ruleUnchecked     = "unchecked"

	// Notes: what a conversion or the check skips on purpose.
	ruleSkipped    = "skipped"
	ruleLeftOut    = "left-out"
	ruleNotDecoded = "not-decoded"
)

// Rules returns a copy of all rules, in the order in which reports list them. Their Help names options of
// the libraries, as hints do.
func Rules() []findings.Rule { return slices.Clone(rules[:]) }

var rules = [...]findings.Rule{
	{ID: Missing, Level: findings.Error, Short: "An input does not exist",
		Help: "Check the name, or fetch the file."},
	{ID: Truncated, Level: findings.Error, Short: "A file ends too early",
		Help: "The copy is incomplete: fetch it again. The part that was read may be wrong, too."},
	{ID: Malformed, Level: findings.Error, Short: "Bytes that the format does not allow",
		Help: "The file is damaged, or has another format. The bytes after this place were not checked."},
	{ID: Unsupported, Level: findings.Error, Short: "Something that cannot be converted without loss",
		Help: "Write the dataset without it; the finding says what it is."},
	{ID: Duplicate, Level: findings.Error, Short: "Something that may appear only once appears twice",
		Help: "Remove one of the two. The bytes after this place were not checked."},
	{ID: changed, Level: findings.Error, Short: "A file changed while it was checked",
		Help: "Wait until the program that writes it is done, and check again."},
	{ID: Limit, Level: findings.Error, Short: "Something is over a limit",
		Help: "Raise the limit if the file is what you expect."},
	{ID: ruleUnmatched, Level: findings.Error, Short: "Files, or rows of a table and samples, that belong together do not match",
		Help: "Complete the files or the table, or change the rule that joins them, or accept what is alone by option unmatched."},
	{ID: Unreadable, Level: findings.Error, Short: "The operating system could not read a file",
		Help: "Check permissions and the device."},
	{ID: MissingTrailer, Level: findings.Error, Short: "A tar ends without its two zero blocks",
		Help: "It may have lost members at its end. Fetch it again, or accept it by option allow-missing-trailer."},
	{ID: Concatenated, Level: findings.Error, Short: "Another tar was appended to a tar",
		Help: "Most readers stop at the end of the first. Split it, or read both by option concatenated."},
	{ID: DuplicateKey, Level: findings.Error, Short: "A key comes back later in its part, as another sample",
		Help: "The members of a sample must be next to each other: sort the archive by name. option on-duplicate-key keep makes separate samples of them."},
	{ID: EmptyDataset, Level: findings.Error, Short: "There is nothing to convert",
		Help: "No part has a sample, or option missing skip leaves all of them out. Check the names of the inputs and of the fields."},
	{ID: ruleMissingField, Level: findings.Error, Short: "A sample lacks a required field",
		Help: "Add it, name an alternative as in jpg;png, or leave such samples out by option missing skip."},
	{ID: ruleUndecodable, Level: findings.Error, Short: "A field does not decode as its name says",
		Help: "The payload is damaged, or has another type. A conversion keeps its bytes unchanged, unless option decode decodes it."},

	{ID: ruleOddFields, Level: findings.Warning, Short: "Samples have other fields than most",
		Help: "A member is missing, or misnamed. option fields says which fields a record must have."},
	{ID: ruleEmptyField, Level: findings.Warning, Short: "A field has no bytes",
		Help: "An empty payload is usually the result of a failed download or export."},
	{ID: ruleEmptySample, Level: findings.Warning, Short: "A sample has no fields",
		Help: "It becomes a record with nothing but its key."},
	{ID: ruleEmptyPart, Level: findings.Warning, Short: "A part has no samples",
		Help: "It is a folder without files or an archive without members. Check that you meant to convert it."},
	{ID: ruleEmptyLine, Level: findings.Warning, Short: "A line of CSV is empty",
		Help: "It is skipped. A row may have been lost there."},
	{ID: ruleRepeatedKey, Level: findings.Warning, Short: "A key is in the dataset more than once",
		Help: "Two records will have one key. Was a shard named twice, or copied?"},
	{ID: ruleCaseCollision, Level: findings.Warning, Short: "Two keys differ only in upper and lower case",
		Help: "Unpacked on a file system that ignores case, one replaces the other."},
	{ID: ruleOddKey, Level: findings.Warning, Short: "A key that makes a poor file name",
		Help: "ffconvert never uses keys as paths. Other programs do."},
	{ID: ruleSkippedFile, Level: findings.Warning, Short: "A file that belongs to no sample is skipped",
		Help: "Its bytes will not be in any record. Move or rename it so that it belongs to a sample, or remove it."},
	{ID: ruleSkippedLink, Level: findings.Warning, Short: "A link or a device in an archive is skipped",
		Help: "The target of a link will not be in any record under the link's name. Write the archive with GNU tar's --dereference."},
	{ID: ruleReservedField, Level: findings.Warning, Short: "A field has a name that webdataset uses itself",
		Help: "A sample whose __bad__ is not empty is skipped, as webdataset does; __local_path__ is kept, but webdataset with a cache gives it another value. Rename the member."},
	{ID: ruleOddTable, Level: findings.Warning, Short: "The rows of CSV may be read in another way than you meant",
		Help: "The first row looks like a header, rows have one column, or integers beyond 2^53 are rounded to float64. option header, option delimiter and option dtype choose otherwise."},
	{ID: ruleOddSource, Level: findings.Warning, Short: "A source may be read in another way than you meant, or not as a whole",
		Help: "A tar of tars, a file that describes others, a table that does not fit, a hash that cannot be compared, files that are missing by the names of the others. The finding says what else there is."},
	{ID: ruleWrongType, Level: findings.Warning, Short: "An image has another type than its name says",
		Help: "Readers that choose their decoder by the name fail. Rename the field."},
	{ID: ruleUnchecked, Level: findings.Warning, Short: "A field was not decoded: it is too large, or the decoder does not support it",
		Help: "It may be sound. option max-pixels raises the limit for images."},

	{ID: ruleSkipped, Level: findings.Note, Short: "Entries are skipped",
		Help: "They belong to no sample: directories, hidden files, headers."},
	{ID: ruleLeftOut, Level: findings.Note, Short: "Samples are left out because they lack a field",
		Help: "option missing skip leaves them out."},
	{ID: ruleNotDecoded, Level: findings.Note, Short: "Fields were read and not decoded",
		Help: "There is no decoder for them: they could be read, but their content was not checked."},
}

// skipRules maps a reason for skipping an entry (Span.Skip) to its rule, if the entry is more than a note.
var skipRules = map[string]string{
	"symbolic link":        ruleSkippedLink,
	"hard link":            ruleSkippedLink,
	"character device":     ruleSkippedLink,
	"block device":         ruleSkippedLink,
	"fifo":                 ruleSkippedLink,
	"name without key":     ruleSkippedFile,
	"file outside a class": ruleSkippedFile,
	"empty line":           ruleEmptyLine,

	"sample marked __bad__": ruleReservedField,
}

// acceptedRules maps a defect that a source accepts (Span.Skip) to its rule and hint.
var acceptedRules = map[string]struct{ rule, hint string }{
	"missing end of archive": {MissingTrailer, "option allow-missing-trailer, if no member is missing"},
	"appended archive":       {Concatenated, "option concatenated reads both"},
	"key that came back":     {DuplicateKey, "option on-duplicate-key keep"},

	"field named __local_path__": {ruleReservedField, ""},
}

// Refusal returns a finding for an error of a source or of opening an input. The finding has the
// place and the hint of the error; if it has no place, that is file.
func Refusal(err error, file string) findings.Finding {
	f := findings.Finding{Place: findings.Place{File: file, Offset: -1}}
	if at, ok := errors.AsType[*place.Error](err); ok {
		f.Place = findings.Place{File: at.Where, Offset: at.Off, Entry: at.Entry}
		f.Hint, err = at.Hint, at.Err
	}
	f.Rule, f.Text = ruleOf(err), err.Error()
	if inner, ok := errors.AsType[*place.Error](err); ok { // about names in a directory
		bare := *inner
		bare.Hint = ""
		f.Text, f.Hint = bare.Error(), cmp.Or(f.Hint, inner.Hint)
	}
	return f
}

// ruleOf returns the ID of the rule for an error of an input, a source or an encoder, by its sentinel. The rule is Malformed for
// other damage and Unreadable for all other errors.
func ruleOf(err error) string {
	for _, row := range ruleKinds {
		if errors.Is(err, row.err) {
			return row.rule
		}
	}
	if place.KindOf(err) == place.Corrupt {
		return Malformed
	}
	return Unreadable
}

var ruleKinds = [...]struct {
	err  error
	rule string
}{
	{input.ErrNotFound, Missing},
	{input.ErrNoMatch, Missing},
	{input.ErrNotRegular, Unsupported},
	{input.ErrNotDirectory, Unsupported},
	{input.ErrKey, Unsupported},
	{stage.ErrTruncated, Truncated},
	{input.ErrMalformed, Malformed},
	{stage.ErrCompression, Unsupported},
	{input.ErrChanged, changed},
	{stage.ErrRatio, Limit},
	{stage.ErrQuota, Limit},
	{input.ErrCommand, Truncated},
	{store.ErrLength, Truncated},
	{store.ErrSum, Malformed},
	{store.ErrPage, Malformed},
	{store.ErrDenied, Missing},
	{store.ErrTLS, Missing},
	{store.ErrRedirect, Missing},
	{converters.ErrTruncated, Truncated},
	{converters.ErrMalformed, Malformed},
	{converters.ErrUnsupported, Unsupported},
	{converters.ErrDuplicate, Duplicate},
	{converters.ErrChanged, changed},
	{converters.ErrLimit, Limit},
	{converters.ErrUnmatched, ruleUnmatched},
	{encode.ErrMissing, ruleMissingField},
	{fs.ErrNotExist, Missing},
}
