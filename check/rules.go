package check

import (
	"slices"

	"github.com/ffconvert/ffconvert/findings"
)

// IDs of the rules. They are stable.
const (
	// What a conversion refuses.
	Missing        = "missing"
	Truncated      = "truncated"
	Malformed      = "malformed"
	Unsupported    = "unsupported"
	Duplicate      = "duplicate"
	Changed        = "changed"
	Limit          = "limit"
	Unreadable     = "unreadable"
	MissingTrailer = "missing-trailer"
	Concatenated   = "concatenated"
	DuplicateKey   = "duplicate-key"
	EmptyDataset   = "empty-dataset"
	MissingField   = "missing-field"
	Undecodable    = "undecodable"

	// What it accepts, and may not be what was meant.
	OddFields     = "odd-fields"
	EmptyField    = "empty-field"
	EmptySample   = "empty-sample"
	EmptyPart     = "empty-part"
	EmptyLine     = "empty-line"
	RepeatedKey   = "repeated-key"
	CaseCollision = "case-collision"
	OddKey        = "odd-key"
	SkippedFile   = "skipped-file"
	SkippedLink   = "skipped-link"
	ReservedField = "reserved-field"
	OddTable      = "odd-table"
	WrongType     = "wrong-type"
	Unchecked     = "unchecked"

	// What it passes over on purpose.
	Skipped    = "skipped"
	LeftOut    = "left-out"
	NotDecoded = "not-decoded"
)

// Rules returns all rules, in the order of documents.
func Rules() []findings.Rule { return slices.Clone(rules[:]) }

var rules = [...]findings.Rule{
	{ID: Missing, Level: findings.Error, Short: "An input does not exist",
		Help: "Check the name, or fetch the file."},
	{ID: Truncated, Level: findings.Error, Short: "A file ends too early",
		Help: "The copy is incomplete: fetch it again. What was read of it cannot be relied on."},
	{ID: Malformed, Level: findings.Error, Short: "Bytes are not what the format wants",
		Help: "The file is damaged, or of another format. What lies behind the place was not looked at."},
	{ID: Unsupported, Level: findings.Error, Short: "Something that cannot be converted without loss",
		Help: "Write the dataset without it; the finding says what it is."},
	{ID: Duplicate, Level: findings.Error, Short: "Something that may be there once is there twice",
		Help: "Remove one of the two. What lies behind the place was not looked at."},
	{ID: Changed, Level: findings.Error, Short: "A file changed while it was looked at",
		Help: "Wait until whatever writes it is done, and check again."},
	{ID: Limit, Level: findings.Error, Short: "Something is over a limit",
		Help: "Raise the limit by its flag if the file is what you expect."},
	{ID: Unreadable, Level: findings.Error, Short: "The operating system could not read a file",
		Help: "Check permissions and the device."},
	{ID: MissingTrailer, Level: findings.Error, Short: "A tar ends without its two zero blocks",
		Help: "It may have lost members at its end. Fetch it again, or accept it by --allow-missing-trailer."},
	{ID: Concatenated, Level: findings.Error, Short: "Another tar was appended to a tar",
		Help: "Most readers stop at the end of the first. Split it, or read both by --concatenated."},
	{ID: DuplicateKey, Level: findings.Error, Short: "A key comes back later in its part, as another sample",
		Help: "Members of a sample must stand together: sort the archive by name. --on-duplicate-key keep makes samples of their own of them."},
	{ID: EmptyDataset, Level: findings.Error, Short: "There is nothing to convert",
		Help: "No part has a sample, or --missing skip leaves all of them out. Check the names of the inputs and of the fields."},
	{ID: MissingField, Level: findings.Error, Short: "A sample lacks a field that was asked for",
		Help: "Add it, ask for an alternative as in jpg;png, or leave such samples out by --missing skip."},
	{ID: Undecodable, Level: findings.Error, Short: "A field does not decode as what its name says",
		Help: "The payload is damaged, or of another kind. A conversion keeps its bytes as they are, unless --decode is to decode it."},

	{ID: OddFields, Level: findings.Warning, Short: "Samples have other fields than most",
		Help: "A member is missing, or misnamed. --fields says which fields a record must have."},
	{ID: EmptyField, Level: findings.Warning, Short: "A field has no bytes",
		Help: "An empty payload is mostly a download or an export that failed."},
	{ID: EmptySample, Level: findings.Warning, Short: "A sample has no fields",
		Help: "It becomes a record of its key alone."},
	{ID: EmptyPart, Level: findings.Warning, Short: "A part has no samples",
		Help: "Check that it is what was meant: a folder without files, an archive without members."},
	{ID: EmptyLine, Level: findings.Warning, Short: "A line of CSV is empty",
		Help: "It is passed over. A row may have been lost there."},
	{ID: RepeatedKey, Level: findings.Warning, Short: "A key is in the dataset more than once",
		Help: "Two records will have one key. Was a shard named twice, or copied?"},
	{ID: CaseCollision, Level: findings.Warning, Short: "Two keys differ in upper and lower case alone",
		Help: "Unpacked on a file system that ignores case, one replaces the other."},
	{ID: OddKey, Level: findings.Warning, Short: "A key that is troublesome as a file name",
		Help: "ffconvert never uses keys as paths. Other programs do."},
	{ID: SkippedFile, Level: findings.Warning, Short: "A file that belongs to no sample is passed over",
		Help: "Its bytes will be in no record. Give it a place or a name that makes a sample of it, or remove it."},
	{ID: SkippedLink, Level: findings.Warning, Short: "A link or a device in an archive is passed over",
		Help: "What a link points to will be in no record under that name. Write the archive with GNU tar's --dereference."},
	{ID: ReservedField, Level: findings.Warning, Short: "A field has a name that webdataset uses itself",
		Help: "A sample whose __bad__ is not empty is passed over, as webdataset does; __local_path__ is kept, and is another value where webdataset has a cache. Rename the member."},
	{ID: OddTable, Level: findings.Warning, Short: "The rows of CSV may not be what was meant",
		Help: "The first row looks like a header, rows are one column, or integers beyond 2^53 are rounded to float64. --header, --delimiter and --dtype say what is meant."},
	{ID: WrongType, Level: findings.Warning, Short: "An image is of another type than its name says",
		Help: "Readers that choose their decoder by the name fail. Rename the field."},
	{ID: Unchecked, Level: findings.Warning, Short: "A field was not decoded: too large, or a kind that the decoder does not know",
		Help: "Nothing is known to be wrong with it. --max-pixels raises the limit of images."},

	{ID: Skipped, Level: findings.Note, Short: "Entries are passed over",
		Help: "They belong to no sample: directories, hidden files, headers."},
	{ID: LeftOut, Level: findings.Note, Short: "Samples are left out for want of a field",
		Help: "--missing skip asked for that."},
	{ID: NotDecoded, Level: findings.Note, Short: "Fields were read and not decoded",
		Help: "There is no decoder for them here: that they could be read is all that is known."},
}

// skipRules are the reasons of sources to pass over an entry that are more than a note.
var skipRules = map[string]string{
	"symbolic link":        SkippedLink,
	"hard link":            SkippedLink,
	"character device":     SkippedLink,
	"block device":         SkippedLink,
	"fifo":                 SkippedLink,
	"name without key":     SkippedFile,
	"file outside a class": SkippedFile,
	"empty line":           EmptyLine,

	"sample marked __bad__": ReservedField,
}

// A waiver is a refusal that a flag waives, or something that is accepted and told of.
type waiver struct{ rule, hint string }

// waivers are those of the sources, as Span.Skip names them.
var waivers = map[string]waiver{
	"missing end of archive": {MissingTrailer, "--allow-missing-trailer, if no member is missing"},
	"appended archive":       {Concatenated, "--concatenated reads both"},
	"key that came back":     {DuplicateKey, "--on-duplicate-key keep"},

	"field named __local_path__": {ReservedField, ""},
}
