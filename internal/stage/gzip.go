package stage

import (
	"bufio"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
)

var errGarbage = errors.New("bytes that are no compressed data after its end")

// A gzipReader reads every member of a gzip file, RFC 1952. Like gzip and Python it accepts zero bytes after the
// last member as padding; other bytes are an error.
type gzipReader struct {
	src    *bufio.Reader // an io.ByteReader, so that gzip.Reader does not read beyond a member
	member *gzip.Reader
	inside bool // a member is open
	err    error
}

func (g *gzipReader) Read(p []byte) (int, error) {
	for g.err == nil {
		if !g.inside {
			g.err = g.next()
			continue
		}
		n, err := g.member.Read(p)
		if err == io.EOF { // gzip.Reader has verified CRC and length
			g.inside = false
			err = nil
		}
		g.err = err
		if n > 0 {
			return n, nil
		}
	}
	return 0, g.err
}

// next opens the next member; io.EOF if there is none.
func (g *gzipReader) next() (err error) {
	if g.member == nil {
		g.member, err = gzip.NewReader(g.src)
	} else {
		var first []byte
		switch first, err = g.src.Peek(1); {
		case err != nil:
			return err
		case first[0] == 0:
			return padding(g.src)
		case first[0] != gzipMagic[0]:
			return errGarbage
		}
		err = g.member.Reset(g.src)
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return err
	}
	g.member.Multistream(false)
	g.inside = true
	return nil
}

// padding reads r to its end. It returns io.EOF if all bytes are zero.
func padding(r *bufio.Reader) error {
	for {
		b, err := r.ReadByte()
		if err != nil {
			return err
		}
		if b != 0 {
			return errGarbage
		}
	}
}
