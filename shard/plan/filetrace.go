package plan

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"

	"github.com/ffconvert/ffconvert/converters"
)

// A fileTrace identifies a part that is many files by their names and sizes, and how large
// they are, which is a matter of the plan, and when they were modified, which is a
// matter of the journal. A single file has its name, its size and its time for that.
type fileTrace struct {
	names, times hash.Hash
	end          int64 // of the last file, files that are passed over included
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

// sum enters the trace in the part.
func (f *fileTrace) sum(p *Part) {
	p.Size = f.end
	p.Names = hex.EncodeToString(f.names.Sum(nil))
	p.Modified = int64(binary.LittleEndian.Uint64(f.times.Sum(nil)))
}
