package jsonl

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
	"github.com/ffconvert/ffconvert/internal/jsonvalue"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/text"
)

// Sizes of reads in bytes. The first read is small, because a run may be one line. Reads double up to a size that is
// efficient for the device and fits into the processor's cache.
const (
	firstRead  = 4 << 10
	windowSize = 256 << 10
)

// A splitter splits a part into lines.
type splitter struct {
	scan.Window
	part    string // its name
	maxLine int64

	// The line that next returned last:
	at     int64  // its offset in the part, bytes
	number int64  // from 1 on; -1: unknown, since the run began within the part
	line   []byte // with its line break, in the window
	cut    bool   // the part ends without a newline after it
}

func (s *splitter) reset(p *scan.Pass, maxLine int64) {
	s.Window.Begin(p, scan.Sizes{First: firstRead, Usual: windowSize})
	s.part, s.maxLine, s.number = p.Part.Name, maxLine, -1
	if p.Run.Off == 0 {
		s.number = 0
	}
}

// next finds the next line, or returns false at the end of the part. The line is valid until the next call.
func (s *splitter) next() (bool, error) {
	s.Relax()
	s.at, s.cut = s.Offset(), false
	if s.number >= 0 {
		s.number++
	}
	for known := 0; ; {
		unread := s.Buf[s.Pos:]
		if n := bytes.IndexByte(unread[known:], '\n') + 1; n > 0 {
			return true, s.take(known + n)
		}
		known = len(unread)
		switch {
		case int64(known) > s.maxLine:
			return false, s.tooLong()
		case s.Complete() && known == 0:
			return false, nil
		case s.Complete():
			s.cut = true
			return true, s.take(known)
		}
		most := min(s.maxLine+1, s.Size-s.at)
		if err := s.Fill(int(min(2*int64(known)+1, most))); err != nil {
			return false, s.fail(s.at, err, "")
		}
	}
}

// take makes the next n bytes the current line.
func (s *splitter) take(n int) error {
	s.line = s.Buf[s.Pos : s.Pos+n]
	if int64(n) > s.maxLine {
		return s.tooLong()
	}
	s.Pos += n
	if s.at == 0 && bytes.HasPrefix(s.line, mark) {
		s.line, s.at = s.line[len(mark):], int64(len(mark))
	}
	return nil
}

// mark is a byte order mark.
var mark = []byte("\xEF\xBB\xBF")

// empty reports whether the line has only blanks.
func (s *splitter) empty() bool { return len(bytes.TrimLeft(s.line, " \t\r\n")) == 0 }

func (s *splitter) tooLong() error {
	return s.fail(s.at, fmt.Errorf("%w: the line has more than %s", converters.ErrLimit, text.Count(s.maxLine, "byte")), "option max-line-size, if the file has a JSON object a line")
}

// fail places an error at an offset of the part.
func (s *splitter) fail(off int64, err error, hint string) error {
	entry := ""
	if s.number > 0 {
		entry = fmt.Sprintf("line %d", s.number)
	}
	return &converters.Error{Where: s.part, Off: off, Entry: entry, Err: err, Hint: hint}
}

// refuse places a decoding error of the current line.
func (s *splitter) refuse(err error) error {
	off, hint := s.at, place.HintOf(err)
	if errors.Is(err, converters.ErrLimit) && hint != "" {
		hint = "option max-depth"
	}
	if placed, ok := errors.AsType[*jsonvalue.Error](err); ok {
		off, err = off+placed.At, placed.Err
		switch atEnd := placed.At >= int64(len(bytes.TrimRight(s.line, " \t\r\n"))); {
		case atEnd && s.cut:
			err = fmt.Errorf("%w: the last line is not complete", converters.ErrTruncated)
		case atEnd && hint == "" && s.number == 1:
			hint = "jq -c . makes a line of each object"
		}
	}
	if first := bytes.TrimLeft(s.line, " \t\r\n"); hint == "" && s.number == 1 && len(first) > 0 && first[0] == '[' {
		hint = "jq -c '.[]' makes lines of the objects in a JSON list"
	}
	return s.fail(off, err, hint)
}
