package main

import (
	"fmt"
	"maps"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/cliflag"
	"github.com/ffconvert/ffconvert/convert/format"
)

// A sourceFormat is a format of package convert/format, with the help of its command.
type sourceFormat struct {
	format.Format
	source  string // the sources in the usage line
	short   string // one line of help, after "Convert"
	long    string
	example string
	plugin  bool // an executable; sources are its arguments
}

// formats are the source formats that have a command. What reads them is in the table of package convert/format: see
// docs/adding-a-format.md.
var formats = []sourceFormat{
	{
		Format: named("tar"),
		source: "TAR...",
		short:  "WebDataset tars",
		long: `Convert WebDataset tars. Consecutive members that share a key, their path up to the
first dot of the base name, are one sample; what follows the dot names the field.`,
		example: `  ffconvert tar 'shards-<000..009>.tar' out/
  ffconvert tar --fields 'jpg;png,cls' --shuffle train/*.tar.gz out/
  ffconvert tar --encode raw:jpg --shard-size 1GiB tars/ out/
  ffconvert tar 's3://bucket/train-{000000..000146}.tar' out/
  zstdcat big.tar.zst | ffconvert tar - out/`,
	},
	{
		Format: named("folder"),
		source: "DIR...",
		short:  "image folders with classes, and plain folders",
		long: `Convert folders of files. The first directory of a path is the class of its files, as
torchvision's ImageFolder has it: a sample is the bytes of one file, under its suffix, and
cls, the number of its class among the sorted classes. With --flat there are no classes,
and a key is the whole path.`,
		example: `  ffconvert folder imagenet/train out/
  ffconvert folder --split train,val --ext jpg,png imagenet/ out/
  ffconvert folder --group --decode captions/ out/
  ffconvert folder --flat --encode raw:pdf papers/ out/
  ffconvert folder --pair 'images/(.*)\.jpg=masks/\1.png' ade20k/ out/
  ffconvert folder --fetch connections=64 s3://bucket/imagenet/train out/`,
	},
	{
		Format: named("csv"),
		source: "DIR|FILE...",
		short:  "CSV, with the part-NNN naming of OneFlow",
		long: `Convert CSV. The files part-0, part-1 and so on of a directory are the parts of a dataset,
as OneFlow's OFRecord loader names them; files may be named one by one, too. A row of
numbers becomes little-endian float64, so that numpy.frombuffer reads the record. Where
a value of the first rows is no number, columns have types, and a row becomes a map.`,
		example: `  ffconvert csv data/ out/
  ffconvert csv --part count=8 --part digits=5 data/ out/
  ffconvert csv --header --columns x,y --dtype float32 points.csv out/
  ffconvert csv --header --encode arrow 'trips-{01..12}.csv.gz' out/`,
	},
	{
		Format: named("cbor"),
		source: "FILE...",
		short:  "CBOR sequences, and streams of MessagePack",
		long: `Convert CBOR sequences (RFC 8742): items one behind the other. A record is the item's own
bytes, unchanged. With another --encode, or with --fields, --rename or --decode, a map
with text keys is a sample with fields, and __key__ its key. A stream that begins with the
mark {"__begin__": {}}, as that of examples/stream.py does, must have an end mark.`,
		example: `  ffconvert cbor 'x-{00..07}.cbors' out/
  python3 examples/stream.py MODULE:DATASET | ffconvert cbor - out/
  ffconvert cbor --encode msgpack --fields image,label x.cbors out/
  ffconvert cbor --format msgpack stream.mp out/`,
	},
	{
		Format: named("jsonl"),
		source: "FILE...",
		short:  "JSON Lines, and image folders with a metadata.jsonl",
		long: `Convert JSON Lines: an object a line, whose members are the fields of a sample, and __key__
its key. Anything else on a line is refused. A program that writes a pipe says by an end
mark, {"__end__": {}}, that it has finished: see --require-end. Of a metadata.jsonl, file_name and *_file_name
name files of its directory, which become fields under their suffixes.`,
		example: `  ffconvert jsonl 'c4-{00000..01023}.json.gz' out/
  ffconvert jsonl --key-field id --where 'lang=de' docs.jsonl.zst out/
  ffconvert jsonl images/metadata.jsonl out/
  (psql -qAt -c 'select row_to_json(t) from t' && echo '{"__end__": {}}') |
    ffconvert jsonl --require-end - out/`,
	},
	{
		Format: named("parquet"),
		source: "DIR|FILE...",
		short:  "Parquet, as the datasets of Hugging Face are",
		long: `Convert Parquet files. A row is a sample, a column a field; only the columns that --fields,
--rename and --where name are read. A struct of bytes and path, as Hugging Face has it
for images and audio, becomes the bytes, and COLUMN.path. Lists, structs and maps
become nested values, dates and times integers of their unit.`,
		example: `  ffconvert parquet 'data/train-*.parquet' out/
  ffconvert parquet --fields jpg,label --rename jpg=image data/ out/
  ffconvert parquet --encode raw:image --shard-size 1GiB data/ out/
  ffconvert parquet 's3://bucket/data/train-*.parquet' out/`,
	},
	{
		Format: named("arrow"),
		source: "DIR|FILE...",
		short:  "Arrow files and streams, Feather, save_to_disk",
		long: `Convert Arrow files and streams, Feather files (version 2), and the directories that
save_to_disk of Hugging Face's datasets makes, whose state.json names their files. Rows,
columns, images and audio are as parquet has them. Of a DatasetDict name a split's directory.`,
		example: `  ffconvert arrow saved/train out/
  ffconvert arrow --fields jpg,label --rename jpg=image saved/train out/
  ffconvert arrow table.feather 'https://host/stream.arrow' out/
  ffconvert arrow --encode raw:image 's3://bucket/saved/train/' out/`,
	},
	{
		Format: named("tfrecord"),
		source: "FILE...",
		short:  "TFRecord, TensorFlow's Examples and SequenceExamples",
		long: `Convert TFRecord files. An Example is a sample, its features are the fields, in the order of
their names, and the feature __key__ is its key. A feature that has one value in each of the
first 1,000 records that have it is that value, another is a list; a later record that says
otherwise is refused, and --lists decides. With --encode raw a record is the Example's own
bytes, unchanged. All checksums are compared.`,
		example: `  ffconvert tfrecord 'train-*-of-01024' out/
  ffconvert tfrecord --encode raw:image/encoded 'gs://bucket/val-*' out/
  ffconvert tfrecord --lists bbox,ids --rename jpg=image tfrecords/ out/
  ffconvert tfrecord --encode raw train.tfrecord.gz out/`,
	},
	{
		Format: named("ofrecord"),
		source: "DIR|FILE...",
		short:  "OFRecord, of OneFlow's data loader",
		long: `Convert OFRecord files. The files part-0, part-1 and so on of a directory are the parts of a
dataset; files may be named one by one, too. The features of a record are the fields, in the
order of their names; which of them are lists is told as tfrecord tells it, and --lists
decides. With --continued the parts are one stream, and a record may go on in the next.`,
		example: `  ffconvert ofrecord data/ out/
  ffconvert ofrecord --part digits=5 data/ out/
  ffconvert ofrecord --encode raw:encoded --continued data/ out/`,
	},
	{
		Format: named("mds"),
		source: "DIR|FILE...",
		short:  "MDS shards of MosaicML's streaming",
		long: `Convert MDS shards, which MosaicML's streaming writes: a sample is a record, its columns are
the fields. The index.json beside the shards, or above them, says what they are; the hashes
that it has are compared. Columns of arrays become numpy's array files; pkl is refused.`,
		example: `  ffconvert mds mds/train out/
  ffconvert mds 's3://bucket/mds/train/' out/
  ffconvert mds --rename jpg=image 'mds/part-*/' out/`,
	},
	{
		Format: named("ffr"),
		source: "DIR|FILE...",
		short:  "FFRecord shards: merge, cut and encode anew",
		long: `Convert FFRecord shards: datasets of ffconvert, and other people's files. A record is copied
unchanged, after its CRC was compared; keys and labels come from the index beside a shard.
With --encode, --fields, --rename or --decode records are decoded, and encoded anew.`,
		example: `  ffconvert ffr --shard-size 1GiB old/ new/
  ffconvert ffr monday/ tuesday/ both/
  ffconvert ffr --shuffle --seed 7 in/ shuffled/
  ffconvert ffr --encode cbor --fields jpg,cls in/ out/
  ffconvert ffr --records pickle --encode msgpack theirs/ ours/`,
	},
}

// formatNamed returns the format of a name.
func formatNamed(name string) (sourceFormat, bool) {
	for _, f := range formats {
		if f.Name == name {
			return f, true
		}
	}
	return sourceFormat{}, false
}

// named returns a format of package convert, which must exist.
func named(name string) format.Format {
	f, known := format.Named(name)
	if !known {
		panic("ffconvert: no format " + name)
	}
	return f
}

func newFormatsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "formats",
		Short: "List the source formats",
		Long: `List the source formats that this program converts, a line each: those built in, then the
executables on PATH whose names begin with ffconvert-.

` + exitStatus,
		Example: "  ffconvert formats",
		Args:    cliflag.WantArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			t := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			for _, f := range formats {
				fmt.Fprintf(t, "%s\t%s\n", f.Name, f.short)
			}
			plugins := findPlugins(newRootCommand())
			for _, name := range slices.Sorted(maps.Keys(plugins)) {
				fmt.Fprintf(t, "%s\t%s\n", name, plugins[name])
			}
			return t.Flush()
		},
	}
}

// sourceHelp is the help about the names of sources; "" for a plugin, which gets them as arguments.
func (f sourceFormat) sourceHelp() string {
	switch {
	case f.plugin:
		return ""
	case f.Directories:
		return `Sources are directories; shell globs and patterns ({a,b}, {000..009}) name several. So do
URLs (s3, gs and ais): one stands for the tree of objects below it, which is fetched first.
@FILE stands for the names in a file, a line each.

`
	}
	return `Sources are files, directories, shell globs, patterns ({000..009} or <000..009>, lists
{a,b}, joined by ::), URLs (http, https, s3, gs and ais, with globs where the service gives
lists, and a / at the end for the objects below), @FILE for the names in a file, a line
each, pipe:COMMAND with --allow-pipe, and - for standard input. gzip, zstd, bzip2 and xz
are told from content. What is fetched or decompressed goes through a cache. Remote parts
are fetched while others are converted, and shards are cut between them: see --exact.

`
}

const outputHelp = `OUT receives PART_00000.ffr and so on, a manifest, and an Arrow index a shard. A shard has
its name only once it is complete, synced, re-read past the page cache and checked.
An interrupted conversion goes on when the same command is run again.`
