package filter

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/cbor"
)

const (
	keyName   = "__key__"
	breakByte = 0xff

	// maxDepth ends the recursion of value. It is above the limit of package cbor, which reads the samples after this.
	maxDepth = cbor.DefaultMaxDepth + 8
	// step is how much of a long string is read before more memory is allocated, bytes.
	step = 1 << 20
)

// A splitter takes the samples out of answers and writes them one behind the other. It finds where items end and whether a
// sample has a key; all else is checked when the samples are indexed.
type splitter struct {
	in  *bufio.Reader
	out *bufio.Writer
	max int64 // bytes of a sample

	item  []byte // the sample under way, from its head on
	keyed bool   // it has a key
}

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", converters.ErrMalformed, fmt.Sprintf(format, args...))
}

// begin waits for the first byte of an answer.
func (s *splitter) begin() error {
	_, err := s.in.Peek(1)
	return err
}

// answer copies the samples of one answer and returns how many there are. key is the key of the sample that was
// asked about, "" if it has none.
func (s *splitter) answer(key string) (samples int64, err error) {
	defer func() {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
	}()
	s.item = s.item[:0]
	h, err := s.head()
	switch {
	case err != nil:
		return 0, err
	case h.major == majorMap:
		return 1, s.sample(h, key)
	case h.major != majorList:
		return 0, malformed("an answer is %s, and must be a map or an array of maps", h.name())
	}
	for n := uint64(0); h.indefinite || n < h.n; n++ {
		s.item = s.item[:0]
		e, err := s.head()
		switch {
		case err != nil:
			return samples, err
		case h.indefinite && e.isBreak():
			return samples, nil
		case e.major != majorMap:
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

// sample copies a map, of which the head was read. It gets the key if it has none.
func (s *splitter) sample(h head, key string) error {
	from := len(s.item) // behind the head
	s.keyed = false
	if err := s.pairs(h, 1); err != nil {
		return err
	}
	if s.keyed || key == "" {
		_, err := s.out.Write(s.item)
		return err
	}
	first := []byte{majorMap<<5 | 31}
	if !h.indefinite {
		first = appendHead(nil, majorMap, h.n+1)
	}
	first = append(appendHead(first, majorText, uint64(len(keyName))), keyName...)
	first = append(appendHead(first, majorText, uint64(len(key))), key...)
	s.out.Write(first)
	_, err := s.out.Write(s.item[from:])
	return err
}

// pairs reads what follows the head of a map.
func (s *splitter) pairs(h head, depth int) error {
	for n := uint64(0); h.indefinite || n < h.n; n++ {
		k, err := s.head()
		if err != nil {
			return err
		}
		switch {
		case h.indefinite && k.isBreak():
			return nil
		case depth == 1 && k.major != majorText:
			return malformed("a sample of the answer has %s where the name of a field must be", k.name())
		}
		if err := s.value(k, depth); err != nil {
			return err
		}
		if depth == 1 && k.major == majorText && !k.indefinite && k.n == uint64(len(keyName)) && string(s.item[len(s.item)-len(keyName):]) == keyName {
			s.keyed = true
		}
		if err := s.next(depth); err != nil {
			return err
		}
	}
	return nil
}

// next reads one item.
func (s *splitter) next(depth int) error {
	h, err := s.head()
	if err != nil {
		return err
	}
	return s.value(h, depth)
}

// value reads what follows the head of an item.
func (s *splitter) value(h head, depth int) error {
	if depth >= maxDepth {
		return fmt.Errorf("%w: an answer is nested deeper than %d", converters.ErrLimit, maxDepth)
	}
	switch h.major {
	case majorBytes, majorText:
		if !h.indefinite {
			return s.payload(h.n)
		}
		for {
			chunk, err := s.head()
			switch {
			case err != nil:
				return err
			case chunk.isBreak():
				return nil
			case chunk.major != h.major || chunk.indefinite:
				return malformed("a string has %s among its chunks", chunk.name())
			}
			if err := s.payload(chunk.n); err != nil {
				return err
			}
		}
	case majorList:
		for n := uint64(0); h.indefinite || n < h.n; n++ {
			e, err := s.head()
			if err != nil {
				return err
			}
			if h.indefinite && e.isBreak() {
				return nil
			}
			if err := s.value(e, depth+1); err != nil {
				return err
			}
		}
	case majorMap:
		return s.pairs(h, depth+1)
	case majorTag:
		return s.next(depth + 1)
	case majorSimple:
		if h.indefinite {
			return malformed("a break where an item must be")
		}
	}
	return nil
}

// head reads the head of an item, and adds it to the sample.
func (s *splitter) head() (head, error) {
	b, err := s.in.ReadByte()
	if err != nil {
		return head{}, err
	}
	h := head{major: b >> 5}
	if err := s.room(9); err != nil {
		return h, err
	}
	s.item = append(s.item, b)
	switch info := b & 31; {
	case info < 24:
		h.n = uint64(info)
		return h, nil
	case info < 28:
		var long [8]byte
		size := 1 << (info - 24)
		if _, err := io.ReadFull(s.in, long[8-size:]); err != nil {
			return h, cut(err)
		}
		s.item = append(s.item, long[8-size:]...)
		h.n = binary.BigEndian.Uint64(long[:])
		return h, nil
	case info == 31 && h.major > majorNegative && h.major != majorTag:
		h.indefinite = true
		return h, nil
	}
	return h, malformed("an answer has the byte %#02x where an item must begin", b)
}

// payload reads the bytes of a string into the sample.
func (s *splitter) payload(n uint64) error {
	if n > uint64(s.max) {
		return s.tooLarge()
	}
	if err := s.room(int64(n)); err != nil {
		return err
	}
	for left := int(n); left > 0; {
		at, size := len(s.item), min(left, step)
		s.item = append(s.item, make([]byte, size)...)
		if _, err := io.ReadFull(s.in, s.item[at:]); err != nil {
			return cut(err)
		}
		left -= size
	}
	return nil
}

// room refuses a sample that would be too large with n more bytes.
func (s *splitter) room(n int64) error {
	if int64(len(s.item)) > s.max-n {
		return s.tooLarge()
	}
	return nil
}

func (s *splitter) tooLarge() error {
	return fmt.Errorf("%w: a sample of the answer has more than %d bytes", converters.ErrLimit, s.max)
}

// cut returns io.ErrUnexpectedEOF for the end of the output, and other errors unchanged.
func cut(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
