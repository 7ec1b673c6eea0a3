package input

import (
	"path"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/internal/text"
	"github.com/gabriel-vasile/mimetype"
)

// HeadSize is the number of bytes at the start of a file that KindOf needs.
const HeadSize = 64 << 10

// A Kind is a format of files or directories. It is a guess for messages and for defaults that a command reports. Only a
// reader of the format can confirm it.
type Kind struct {
	ID   string // tar, ffrecord, csv, cbor, msgpack, folder, image, json, zip, …
	What string // description with an article: "a tar"

	Format string   // source format that reads it; "" if there is none
	Flags  []string // flags that the format needs: "--delimiter", "tab"

	// Sure means that the content proves the kind, by a checksum or by at least four magic bytes.
	Sure bool
}

// KindOf guesses the kind of a file. head is its first [HeadSize] bytes, or all bytes if it has fewer,
// decompressed: KindOf does not read the file. size is the number of all bytes, decompressed, or -1 if
// unknown. Several results are equally likely; none means that the kind is unknown.
func KindOf(name string, head []byte, size int64) []Kind {
	if len(head) == 0 {
		return nil
	}
	cut := size < 0 && len(head) >= HeadSize || size > int64(len(head))
	mime := mimetype.Detect(head)
	switch {
	case isTar(head):
		return []Kind{tarKind}
	case isText(head, cut): // before magic, since some magic bytes are letters
		return kindOfText(name, mime, head, cut)
	}
	for _, is := range []func([]byte, int64) (Kind, bool){record, tfRecord, mds, magic, ofRecord} {
		if k, ok := is(head, size); ok {
			return []Kind{k}
		}
	}
	if k, ok := named(mime); ok {
		if by := KindOfName(name); !k.Sure && len(by) == 1 && by[0].Format == "cbor" {
			return items(name, head, cut) // not mimetype: its two-byte magics, such as BM of BMP, match other files as well
		}
		return []Kind{k}
	}
	if k, plausible := shard(head, size); plausible && ext(name) == ".ffr" {
		return []Kind{k}
	}
	return items(name, head, cut)
}

// tfShard matches the names that TensorFlow gives to the shards of a dataset.
var tfShard = text.Pattern(`-[0-9]{5,}-of-[0-9]{5,}$`)

// KindOfName guesses the kind of a file from its name only, for example the name of a remote object.
func KindOfName(name string) []Kind {
	if tfShard().MatchString(uncompressed(name)) {
		return []Kind{tfrecordByName}
	}
	if f := formatOf(name); f != nil {
		return []Kind{f.Kind}
	}
	return nil
}

// A format is a kind with a source format, and how its files are named.
type format struct {
	Kind
	suffixes []string // in lower case
	what     string   // of a file in a directory
}

var formats = []format{
	{tarKind, []string{".tar", ".tgz", ".tzst", ".tbz2", ".txz"}, "tar"},
	{table(','), []string{".csv"}, "CSV part"},
	{table('\t'), []string{".tsv"}, "CSV part"},
	{cborKind, []string{".cbor", ".cbors", ".cborseq"}, "CBOR file"},
	{msgpackKind, []string{".msgpack", ".mp"}, "MessagePack file"},
	{parquetKind, []string{".parquet"}, "Parquet file"},
	{arrowKind, []string{".arrow", ".arrows", ".feather", ".ipc"}, "Arrow file"},
	{jsonlKind, []string{".jsonl", ".ndjson"}, "JSON Lines file"},
	{tfrecordByName, []string{".tfrecord", ".tfrecords", ".tfrec"}, "TFRecord file"},
	{mdsKind, []string{".mds"}, ""},
	{shardKind, []string{".ffr"}, ""},
}

// formatOf returns the format for the extension of a name; nil if there is none.
func formatOf(name string) *format {
	i := slices.IndexFunc(formats, func(f format) bool { return slices.Contains(f.suffixes, ext(name)) })
	if i < 0 {
		return nil
	}
	return &formats[i]
}

// ext returns the extension of a name in lower case, without the extension of a compression.
func ext(name string) string {
	return path.Ext(uncompressed(name))
}

// uncompressed returns a name in lower case, without the extension of a compression.
func uncompressed(name string) string {
	name = strings.ToLower(name)
	for _, compressed := range []string{".gz", ".zst", ".zstd", ".bz2", ".xz"} {
		name = strings.TrimSuffix(name, compressed)
	}
	return name
}

// Kinds with a source format.
var (
	tarKind     = Kind{ID: "tar", What: "a tar", Format: "tar", Sure: true}
	cborKind    = Kind{ID: "cbor", What: "a CBOR sequence", Format: "cbor"}
	jsonlKind   = Kind{ID: "jsonl", What: "JSON Lines", Format: "jsonl"}
	parquetKind = Kind{ID: "parquet", What: "a Parquet file", Format: "parquet", Sure: true}
	mdsKind     = Kind{ID: "mds", What: "an MDS shard", Format: "mds"}
	arrowKind   = Kind{ID: "arrow", What: "an Arrow file", Format: "arrow", Sure: true}
	shardKind   = Kind{ID: "ffrecord", What: "an FFRecord file", Format: "ffr"}
	msgpackKind = Kind{ID: "msgpack", What: "a stream of MessagePack", Format: "cbor", Flags: []string{"--format", "msgpack"}}
)

// named returns the kind of a MIME type other than text.
func named(mime *mimetype.MIME) (Kind, bool) {
	for _, row := range []struct{ mime, id, what string }{
		{"application/vnd.apache.parquet", "parquet", "a Parquet file"},
		{"application/x-hdf5", "hdf5", "an HDF5 file"},
		{"application/x-hdf", "hdf5", "an HDF5 file"},
		{"application/x-7z-compressed", "archive", "a 7z archive"},
		{"application/x-rar-compressed", "archive", "a RAR archive"},
		{"application/pdf", "pdf", "a PDF"},
		{"application/vnd.sqlite3", "sqlite", "an SQLite database"},
	} {
		if mime.Is(row.mime) {
			return Kind{ID: row.id, What: row.what, Sure: true}, true
		}
	}
	for m := mime; m != nil; m = m.Parent() {
		if m.Is("application/zip") {
			return Kind{ID: "archive", What: "a zip archive", Sure: true}, true
		}
	}
	major, minor, _ := strings.Cut(mime.String(), "/")
	switch minor = strings.ToUpper(strings.TrimPrefix(minor, "x-")); {
	case mime.Is("image/svg+xml"):
	case major == "image":
		return Kind{ID: "image", What: "a " + minor + " image", Sure: slices.Contains([]string{"JPEG", "PNG", "GIF", "WEBP", "TIFF"}, minor)}, true
	case major == "audio":
		return Kind{ID: "audio", What: "audio (" + minor + ")"}, true
	case major == "video":
		return Kind{ID: "video", What: "a video (" + minor + ")"}, true
	}
	return Kind{}, false
}
