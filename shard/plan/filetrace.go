package plan

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"

	"github.com/ffconvert/ffconvert/converters"
)

// A fileTrace identifies a part that consists of many files. One digest covers their names and
// sizes, and is kept in the plan; the other covers their modification times, and is kept in the
// journal. A part that is a single file has its name, size and time instead.
type fileTrace struct {
	names, times hash.Hash
	end          int64 // of the last file, skipped files included
	buf          []byte
}

func newFileTrace() *fileTrace { return &fileTrace{names: sha256.New(), times: sha256.New()} }

func (f *fileTrace) add(span *converters.Span) {
	f.end = max(f.end, span.Off)
	b := append(f.buf[:0], span.Shape.Key...)
	for i := range span.Shape.Fields {
		field := &span.Shape.Fields[i]
		f.end += field.Value.Len()
		b = append(b, 0)
		b = append(b, field.Name...)
		b = append(b, 0)
		b = binary.AppendVarint(b, field.Value.Len())
	}
	b = append(b, '\n')
	f.names.Write(b)
	b = binary.LittleEndian.AppendUint64(b[:0], uint64(span.ModTime.UnixNano()))
	f.times.Write(b)
	f.buf = b
}

// sum stores the trace in the part.
func (f *fileTrace) sum(p *Part) {
	p.Size = f.end
	p.Names = hex.EncodeToString(f.names.Sum(nil))
	p.Modified = int64(binary.LittleEndian.Uint64(f.times.Sum(nil)))
}
