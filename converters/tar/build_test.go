package tar

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/convertertest"
)

// Tars by the byte: each function returns whole blocks.

// block is a ustar header with the right checksum.
func block(typ byte, name string, size int64) []byte {
	b := make([]byte, blockSize)
	copy(b[:100], name)
	copy(b[100:], "0000644\x000000000\x000000000\x00")
	copy(b[124:], fmt.Sprintf("%011o\x00", size))
	copy(b[136:], "13727411200\x00")
	b[156] = typ
	copy(b[257:], "ustar\x0000")
	return sum(b)
}

// sum writes the checksum of a header.
func sum(b []byte) []byte {
	copy(b[148:], "        ")
	n := 0
	for _, c := range b[:blockSize] {
		n += int(c)
	}
	copy(b[148:], fmt.Sprintf("%06o\x00 ", n))
	return b
}

// set writes a field of a header anew, and its checksum.
func set(b []byte, off int, field string) []byte {
	copy(b[off:], field)
	sum(b)
	return b
}

func pad(data []byte) []byte {
	return append(slices.Clone(data), make([]byte, padded(int64(len(data)))-int64(len(data)))...)
}

func entry(typ byte, name string, data []byte) []byte {
	return append(block(typ, name, int64(len(data))), pad(data)...)
}

func regular(name, data string) []byte { return entry(typeRegular, name, []byte(data)) }

// pax is an x header; records are key=value.
func pax(records ...string) []byte { return paxType(typePAX, records...) }

func paxType(typ byte, records ...string) []byte {
	var b []byte
	for _, r := range records {
		n := len(r) + 3
		for len(fmt.Sprint(n))+len(r)+2 != n {
			n++
		}
		b = fmt.Appendf(b, "%d %s\n", n, r)
	}
	return entry(typ, "PaxHeaders/x", b)
}

// long is a GNU long name.
func long(typ byte, name string) []byte { return entry(typ, "././@LongLink", []byte(name+"\x00")) }

func cat(pieces ...[]byte) []byte { return slices.Concat(pieces...) }

// archive is members and the end.
func archive(members ...[]byte) []byte {
	return append(cat(members...), make([]byte, 2*blockSize)...)
}

// counted makes a source count what it does with its files.
func counted(s *source) (*source, *convertertest.Usage) {
	var use *convertertest.Usage
	s.open, use = convertertest.Count(s.open)
	return s.with(s.Parts()), use
}

// memory is a source whose parts are in memory.
func memory(opts Options, tars ...[]byte) *source {
	parts, open := convertertest.InMemory(".tar", tars...)
	s := Open(parts, opts)
	s.open = open
	return s.with(parts)
}

// listed is what the index of part 0 says, a line a span, and where it stopped.
func listed(t testing.TB, s *source) (lines []string, err error) {
	t.Helper()
	for span, err := range s.Index(t.Context(), 0) {
		switch {
		case err != nil:
			return lines, err
		case span.Accepted:
			lines = append(lines, "waived: "+span.Skip)
		case span.Shape == nil:
			lines = append(lines, fmt.Sprintf("%s: %s", span.Skip, span.Name))
		default:
			var b strings.Builder
			b.WriteString(span.Shape.Key)
			for _, f := range span.Shape.Fields {
				fmt.Fprintf(&b, " %s=%d", f.Name, f.Value.Len())
			}
			lines = append(lines, b.String())
		}
	}
	return lines, nil
}

// A content is a sample with the bytes of its fields.
type content struct {
	Key    string
	Fields []namedData
}

type namedData struct{ Name, Data string }

// contents reads all samples of part 0 as one run.
func contents(t testing.TB, s *source) (all []content, err error) {
	t.Helper()
	run := converters.Run{}
	for span, err := range s.Index(t.Context(), 0) {
		if err != nil {
			return nil, err
		}
		if span.Shape != nil {
			if run.Count == 0 {
				run.Off = span.Off
			}
			run.Count++
		}
	}
	for sample, err := range s.Read(t.Context(), run) {
		if err != nil {
			return nil, err
		}
		c := content{Key: sample.Key}
		for _, f := range sample.Fields {
			c.Fields = append(c.Fields, namedData{f.Name, string(f.Value.Data())})
		}
		all = append(all, c)
	}
	return all, nil
}
