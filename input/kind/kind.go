// Package kind tells by content and name what a file or a directory is.
//
//	found := kind.File("a.bin", head, size)
//	if len(found) == 1 { fmt.Println(found[0].What) } // "a tar"
//
// It opens no file: the caller reads the first bytes, decompressed. What it tells is a guess
// for people, and for commands that say what they guessed; a reader of the format has the last
// word.
package kind

import (
	"path"
	"slices"
	"strings"

	"github.com/gabriel-vasile/mimetype"
)

// HeadSize is how many first bytes of a file are enough.
const HeadSize = 64 << 10

// A Kind is what a file or a directory is taken for.
type Kind struct {
	ID   string // a word: tar, ffrecord, csv, cbor, msgpack, folder, image, json, zip, …
	What string // for people, with an article: "a tar"

	// Format names the source format that reads it, Flags what has to be said to it beside
	// the name: "--delimiter", "tab". Format is "" where no format reads it.
	Format string
	Flags  []string

	// Sure says that the content proves it: a checksum, or magic bytes of four bytes or more.
	Sure bool
}

// File tells what a file of a name is, of which head is the first [HeadSize] bytes, or all where
// it has fewer, decompressed. size is that of all its bytes, -1 where it is not known. Several
// kinds are candidates of equal right; none means that it is not known.
func File(name string, head []byte, size int64) []Kind {
	if len(head) == 0 {
		return nil
	}
	cut := size < 0 && len(head) >= HeadSize || size > int64(len(head))
	mime := mimetype.Detect(head)
	switch {
	case isTar(head):
		return []Kind{tarKind}
	case isText(head, cut): // before magic bytes that are letters
		return text(name, mime, head, cut)
	}
	for _, is := range []func([]byte, int64) (Kind, bool){record, tfRecord, magic} {
		if k, ok := is(head, size); ok {
			return []Kind{k}
		}
	}
	if k, ok := named(mime); ok {
		if by := Name(name); !k.Sure && len(by) == 1 && by[0].Format == "cbor" {
			return items(name, head, cut) // magic bytes of two bytes, as a BMP has, begin other files too
		}
		return []Kind{k}
	}
	return items(name, head, cut)
}

// Name tells what a file is by its name alone, as that of an object elsewhere.
func Name(name string) []Kind {
	switch ext(name) {
	case ".tar", ".tgz", ".tzst", ".tbz2", ".txz":
		return []Kind{tarKind}
	case ".csv":
		return []Kind{table(',')}
	case ".tsv":
		return []Kind{table('\t')}
	case ".cbor", ".cbors", ".cborseq":
		return []Kind{cborKind}
	case ".mp", ".msgpack":
		return []Kind{msgpackKind}
	}
	return nil
}

// ext is the extension of a name in lower case, that of a compression left out.
func ext(name string) string {
	name = strings.ToLower(name)
	for _, compressed := range []string{".gz", ".zst", ".bz2", ".xz"} {
		name = strings.TrimSuffix(name, compressed)
	}
	return path.Ext(name)
}

// The kinds that formats read.
var (
	tarKind     = Kind{ID: "tar", What: "a tar", Format: "tar", Sure: true}
	cborKind    = Kind{ID: "cbor", What: "a CBOR sequence", Format: "cbor"}
	msgpackKind = Kind{ID: "msgpack", What: "a stream of MessagePack", Format: "cbor", Flags: []string{"--format", "msgpack"}}
)

// named tells the kinds that a MIME type of more than text stands for.
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
