package record

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/ffconvert/ffconvert/internal/place"
)

// kind is a sentinel that says what is wrong with a file. Each of them is ErrCorrupt too.
type kind string

func (k kind) Error() string        { return string(k) }
func (k kind) Is(target error) bool { return target == ErrCorrupt }

// PlaceKind makes a damaged file end with the exit status of corruption.
func (k kind) PlaceKind() place.Kind { return place.Corrupt }

// ErrCorrupt is the umbrella: errors.Is(err, ErrCorrupt) says that the bytes themselves are at
// fault. It does not hold for an I/O error, an index out of range, or a limit.
var ErrCorrupt = place.New(place.Corrupt, "corrupt shard")

// What can be wrong with a file. All are found with errors.Is, and all are ErrCorrupt.
const (
	// ErrChecksum: a CRC differs, the header's where FormatError.Sample is -1, else that sample's.
	ErrChecksum = kind("wrong checksum")
	// ErrHeader: the header contradicts itself or the size of the file.
	ErrHeader = kind("bad header")
	// ErrTruncated: the file ends inside a structure. It is io.ErrUnexpectedEOF as well.
	ErrTruncated = kind("truncated")
	// ErrLegacy: the header has no checksum. Options.AllowLegacy accepts that.
	ErrLegacy = kind("written without a header checksum; --allow-legacy accepts it")
	// ErrUnfinished: the head is the one that a Writer leaves until Close, or all zero, which is
	// what a killed writer of the original implementation leaves. No option accepts it.
	ErrUnfinished = kind("unfinished: its writer was stopped; write it again")
)

var (
	// ErrTooLarge: a limit of Options or the Writer is exceeded. The file may be sound.
	ErrTooLarge = place.New(place.Refused, "over the limit")
	// ErrRange: no sample has that index.
	ErrRange = errors.New("sample out of range")
)

// A FormatError is an error about one place of one file. Its text is one line.
type FormatError struct {
	Path   string // of the file; may be empty
	Sample int64  // index in that file, -1: the header, or no one sample
	Off    int64  // byte of the file, -1: no one place
	Err    error  // what is wrong: a sentinel of this package with details, or an I/O error
}

func (e *FormatError) Error() string {
	var b strings.Builder
	if e.Path != "" {
		b.WriteString(e.Path)
		b.WriteString(": ")
	}
	if e.Sample >= 0 {
		fmt.Fprintf(&b, "sample %d: ", e.Sample)
	}
	if e.Off >= 0 {
		fmt.Fprintf(&b, "byte %d: ", e.Off)
	}
	b.WriteString(e.Err.Error())
	return b.String()
}

func (e *FormatError) Unwrap() error { return e.Err }

// truncated is ErrTruncated and io.ErrUnexpectedEOF in one; the text says what was expected.
func truncated(format string, args ...any) error {
	return &cutError{fmt.Sprintf(format, args...)}
}

type cutError struct{ text string }

func (e *cutError) Error() string   { return string(ErrTruncated) + ": " + e.text }
func (e *cutError) Unwrap() []error { return []error{ErrTruncated, io.ErrUnexpectedEOF} }
