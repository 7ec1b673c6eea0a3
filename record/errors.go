package record

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/ffconvert/ffconvert/internal/place"
)

// A kind is a sentinel for one kind of damage. errors.Is(kind, ErrCorrupt) is true.
type kind string

func (k kind) Error() string { return string(k) }
func (k kind) Is(target error) bool {
	return target == ErrCorrupt || k == ErrTruncated && target == io.ErrUnexpectedEOF
}

// PlaceKind makes a damaged file end with the exit status of corruption.
func (k kind) PlaceKind() place.Kind { return place.Corrupt }

// ErrCorrupt matches (by errors.Is) every error that means that the bytes of a file are damaged. It does not match I/O
// errors, samples out of range and ErrTooLarge.
var ErrCorrupt = place.New(place.Corrupt, "corrupt shard")

// Kinds of damage. Each also matches ErrCorrupt.
const (
	// ErrChecksum: a CRC does not match. FormatError.Sample is the sample, or -1 for the header.
	ErrChecksum = kind("wrong checksum")
	// ErrHeader: the header contradicts itself or the size of the file.
	ErrHeader = kind("bad header")
	// ErrTruncated: the file ends within a structure. It also matches io.ErrUnexpectedEOF.
	ErrTruncated = kind("truncated")
	// ErrLegacy: the header has no checksum. Options.AllowLegacy accepts the file.
	ErrLegacy = kind("written without a header checksum")
	// errUnfinished: the file has the head that a Writer leaves until Close, or a head of zeros,
	// which a killed writer of the original implementation leaves. No option accepts the file.
	errUnfinished = kind("unfinished: its writer was stopped; write it again")
)

var (
	// ErrTooLarge: the file exceeds a limit of Options or of Writer. It may be sound.
	ErrTooLarge   = place.New(place.Refused, "over the limit")
	errNotRegular = place.New(place.Refused, "not a regular file")
	// ErrReplaced: the name of an open file is gone, or another file has it.
	ErrReplaced = place.New(place.Refused, "the file was removed or replaced after it was opened")
	// errRange: an index or a number of samples is out of range.
	errRange = errors.New("sample out of range")
)

// A FormatError describes a defect, or a failed read, at one place of one file. Its text is one line.
type FormatError struct {
	Path   string // of the file; may be empty
	Sample int64  // index in that file; -1 for the header or the whole file
	Off    int64  // byte offset in the file; -1 if unknown
	Err    error  // an error of this package with details, or an I/O error
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

// truncated returns an [ErrTruncated] with details.
func truncated(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrTruncated, fmt.Sprintf(format, args...))
}
