package filter

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/cbor"
	"github.com/ffconvert/ffconvert/internal/heads"
)

const (
	openMap   = 5<<5 | 31 // head of a map of indefinite length
	breakByte = 7<<5 | 31

	// maxDepth limits the recursion of value. It exceeds the limit of package cbor, which then reads the samples.
	maxDepth = cbor.DefaultMaxDepth + 8
)

// A splitter extracts the samples of the answers and writes them as a CBOR sequence. It finds where items end and
// whether a sample has a key; everything else is checked when the samples are indexed. It buffers no sample: it
// writes a map as one of indefinite length, so that it can append the key.
type splitter struct {
	in  *bufio.Reader
	out *bufio.Writer
	max int64 // maximum bytes of a sample

	size  int64 // bytes of the current sample so far
	keyed bool  // the current sample has a key
}

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", converters.ErrMalformed, fmt.Sprintf(format, args...))
}

// begin waits for the first byte of an answer.
func (s *splitter) begin() error {
	_, err := s.in.Peek(1)
	return err
}

// answer copies the samples of one answer and returns their number. key is the key of the sample that is answered,
// "" if it has none.
func (s *splitter) answer(key string) (samples int64, err error) {
	defer func() {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
	}()
	h, err := readHead(s.in)
	switch {
	case err != nil:
		return 0, err
	case h.isMap():
		return 1, s.sample(h, key)
	case !h.isArray():
		return 0, malformed("an answer is %s, and must be a map or an array of maps", h.name())
	}
	for n := uint64(0); h.isOpen() || n < h.Arg; n++ {
		e, err := readHead(s.in)
		switch {
		case err != nil:
			return samples, err
		case h.isOpen() && e.Kind == heads.Break:
			return samples, nil
		case !e.isMap():
			return samples, malformed("an answer has %s among its samples, which must be maps", e.name())
		}
		own := key
		if samples > 0 && key != "" {
			own = fmt.Sprintf("%s-%d", key, samples)
		}
		if err := s.sample(e, own); err != nil {
			return samples, err
		}
		samples++
	}
	return samples, nil
}

// sample copies a map after its head h. It appends key if the map has none.
func (s *splitter) sample(h head, key string) error {
	s.size, s.keyed = 0, false
	if err := s.put(openMap); err != nil {
		return err
	}
	if err := s.pairs(h, 1); err != nil {
		return err
	}
	var last []byte
	if !s.keyed && key != "" {
		last = append(heads.AppendCBOR(last, heads.Text, uint64(len(converters.KeyField))), converters.KeyField...)
		last = append(heads.AppendCBOR(last, heads.Text, uint64(len(key))), key...)
	}
	return s.put(append(last, breakByte)...)
}

// pairs copies the pairs of a map after its head h, and the break of a map of indefinite length.
func (s *splitter) pairs(h head, depth int) error {
	for n := uint64(0); h.isOpen() || n < h.Arg; n++ {
		k, err := readHead(s.in)
		if err != nil {
			return err
		}
		switch {
		case h.isOpen() && k.Kind == heads.Break:
			return nil
		case depth == 1 && k.Kind != heads.Text && k.Kind != heads.ChunkedText:
			return malformed("a sample of the answer has %s where the name of a field must be", k.name())
		}
		if depth == 1 && k.Kind == heads.Text && k.Arg == uint64(len(converters.KeyField)) {
			name, _ := s.in.Peek(len(converters.KeyField)) // copying the key reports the error
			s.keyed = s.keyed || string(name) == converters.KeyField
		}
		if err := s.value(k, depth); err != nil {
			return err
		}
		if err := s.next(depth); err != nil {
			return err
		}
	}
	return nil
}

func (s *splitter) next(depth int) error {
	h, err := readHead(s.in)
	if err != nil {
		return err
	}
	return s.value(h, depth)
}

// value copies an item after its head h.
func (s *splitter) value(h head, depth int) error {
	if depth >= maxDepth {
		return fmt.Errorf("%w: an answer is nested deeper than %d", converters.ErrLimit, maxDepth)
	}
	if err := s.put(h.raw[:h.Size]...); err != nil {
		return err
	}
	switch h.Kind {
	case heads.Bytes, heads.Text:
		return s.payload(h.Arg)
	case heads.ChunkedBytes:
		return s.chunks(heads.Bytes)
	case heads.ChunkedText:
		return s.chunks(heads.Text)
	case heads.Array, heads.OpenArray:
		for n := uint64(0); h.isOpen() || n < h.Arg; n++ {
			e, err := readHead(s.in)
			if err != nil {
				return err
			}
			if h.isOpen() && e.Kind == heads.Break {
				return s.put(breakByte)
			}
			if err := s.value(e, depth+1); err != nil {
				return err
			}
		}
	case heads.Map, heads.OpenMap:
		if err := s.pairs(h, depth+1); err != nil || !h.isOpen() {
			return err
		}
		return s.put(breakByte)
	case heads.Tag:
		return s.next(depth + 1)
	case heads.Break:
		return malformed("a break where an item must be")
	}
	return nil
}

// chunks copies the strings of a kind and the break that follows them.
func (s *splitter) chunks(of heads.Kind) error {
	for {
		chunk, err := readHead(s.in)
		switch {
		case err != nil:
			return err
		case chunk.Kind == heads.Break:
			return s.put(breakByte)
		case chunk.Kind != of:
			return malformed("a string has %s among its chunks", chunk.name())
		}
		if err := s.put(chunk.raw[:chunk.Size]...); err != nil {
			return err
		}
		if err := s.payload(chunk.Arg); err != nil {
			return err
		}
	}
}

// payload copies the n bytes of a string.
func (s *splitter) payload(n uint64) error {
	if n > uint64(s.max) {
		return s.tooLarge()
	}
	for n > 0 {
		b, err := s.in.Peek(int(min(n, uint64(s.in.Size()))))
		if err != nil {
			return cut(err)
		}
		if err := s.put(b...); err != nil {
			return err
		}
		s.in.Discard(len(b)) // cannot fail: they are buffered
		n -= uint64(len(b))
	}
	return nil
}

func (s *splitter) put(b ...byte) error {
	if s.size += int64(len(b)); s.size > s.max {
		return s.tooLarge()
	}
	_, err := s.out.Write(b)
	return err
}

func (s *splitter) tooLarge() error {
	return fmt.Errorf("%w: a sample of the answer has more than %d bytes", converters.ErrLimit, s.max)
}

// cut returns io.ErrUnexpectedEOF for io.EOF, and other errors unchanged.
func cut(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
