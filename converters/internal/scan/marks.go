package scan

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/text"
)

// Names of the single entry of a mark.
const (
	BeginMark = "__begin__"
	endMark   = "__end__"
)

// IsMark reports whether a map with one entry of this name is a mark.
func IsMark(name string) bool { return name == endMark || name == BeginMark }

// Marks check items in a stream that state that the stream is complete.
//
// A mark is an item of the stream, in the stream's own encoding: a map of one entry. JSON Lines:
//
//	{"__begin__": {}}                                 optional, first: an end mark must follow
//	{"text": "a"}                                     samples
//	{"text": "b"}
//	{"__end__": {"count": 2, "sha256": "9f86d0…"}}    last: only empty lines may follow
//
//	count     number of samples before the mark                                  optional
//	sha256    hexadecimal, of all bytes of the stream before the end mark's item  optional
//
// A mark is not a sample. A stream with a begin mark and without an end mark is refused, and so is an end mark whose
// count or digest is wrong.
//
// A Marks checks one part, from its start. The zero value is at the start. A nil *Marks checks nothing: it is for a run
// of samples of a part that was checked before.
type Marks struct {
	samples  int64
	promised bool // there was a begin mark
	ended    bool // there was an end mark
}

// Sample counts a sample. It is an error after an end mark.
func (m *Marks) Sample() error {
	switch {
	case m == nil:
		return nil
	case m.ended:
		return m.after("a sample")
	}
	m.samples++
	return nil
}

// Mark checks the mark f, which begins at offset off of the part. For a digest it reads the part up to there. more is
// false if no sample can follow.
func (m *Marks) Mark(ctx context.Context, f converters.Field, part io.ReaderAt, off int64) (more bool, err error) {
	if m == nil {
		return f.Name == BeginMark, nil
	}
	says, ok := f.Value.Nested().(converters.Map)
	switch {
	case m.ended:
		return true, m.after("a mark")
	case !ok:
		return true, fmt.Errorf("%w: the value of the mark %s is not a map", converters.ErrMalformed, f.Name)
	case f.Name == BeginMark:
		return true, m.begin(says)
	}
	m.ended = true
	for i := 0; i < len(says) && err == nil; i++ {
		switch p := says[i]; p.Key {
		case "count":
			err = m.count(p.Value)
		case "sha256":
			err = digest(ctx, p.Value, part, off)
		default:
			err = unknown(f.Name, p)
		}
	}
	return true, err
}

func (m *Marks) begin(says converters.Map) error {
	if m.samples > 0 || m.promised {
		return fmt.Errorf("%w: a begin mark after %s: a stream begins where another one has no end mark", converters.ErrMalformed, text.Count(m.samples, "sample"))
	}
	if len(says) > 0 {
		return unknown(BeginMark, says[0])
	}
	m.promised = true
	return nil
}

func (m *Marks) count(value any) error {
	if n, ok := value.(int64); !ok || n != m.samples {
		return fmt.Errorf("%w: the end mark counts %.40q samples, before it there are %d", converters.ErrMalformed, fmt.Sprint(value), m.samples)
	}
	return nil
}

// digest compares the digest of an end mark with the SHA-256 of the first n bytes of a part.
func digest(ctx context.Context, value any, part io.ReaderAt, n int64) error {
	says, ok := value.(string)
	if !ok || len(says) != hex.EncodedLen(sha256.Size) {
		return fmt.Errorf("%w: the sha256 of the end mark is not a text of %d hexadecimal digits", converters.ErrMalformed, hex.EncodedLen(sha256.Size))
	}
	sum, buf := sha256.New(), make([]byte, min(n, block))
	for off := int64(0); off < n; off += block {
		if err := ctx.Err(); err != nil {
			return err
		}
		b := buf[:min(n-off, block)]
		if err := ReadFull(part, b, off); err != nil {
			return err
		}
		sum.Write(b)
	}
	if has := hex.EncodeToString(sum.Sum(nil)); !strings.EqualFold(says, has) {
		return fmt.Errorf("%w: the end mark has the SHA-256 %.64q, the %s before it have %s", converters.ErrMalformed, says, text.Count(n, "byte"), has)
	}
	return nil
}

// block is the size of a read for a digest, in bytes.
const block = 1 << 20

// Close is called at the end of a part of size bytes. It returns an error if an end mark is missing and there was a
// begin mark, or required is set.
func (m *Marks) Close(part string, size int64, required bool) error {
	const run = "look at what the program that wrote it said, and run that again"
	if m == nil || m.ended || !m.promised && !required {
		return nil
	}
	why, hint := "no end mark: the program that wrote it did not finish, or writes none", run+"; without option require-end what is there is taken"
	if m.promised {
		why, hint = "no end mark, which its begin mark promises: the program that wrote it did not finish", run
	}
	err := fmt.Errorf("%w: %s and %s", converters.ErrTruncated, text.Count(m.samples, "sample"), why)
	return &converters.Error{Where: part, Off: size, Err: err, Hint: hint}
}

// after returns the error for an item after the end mark.
func (m *Marks) after(what string) error {
	return fmt.Errorf("%w: %s after the end mark, which follows %s: streams one behind the other are not one stream", converters.ErrMalformed, what, text.Count(m.samples, "sample"))
}

func unknown(name string, p converters.Pair) error {
	return fmt.Errorf("%w: the mark %s has the unknown entry %.40q", converters.ErrUnsupported, name, fmt.Sprint(p.Key))
}
