package shard

import (
	"bytes"
	"encoding/json"
	"hash/crc32"
	"io"
	"math"

	"github.com/ffconvert/ffconvert/internal/atomicfile"
	"github.com/ffconvert/ffconvert/record"
)

// holds reports whether a finished shard still has its name, its size and its header, and
// its index.
func (o *Output) holds(f finished) bool {
	r, err := record.Open(o.path(f.Name), record.Options{MaxSample: math.MaxInt64})
	if err != nil {
		return false
	}
	defer r.Close()
	got := r.Files()[0]
	if got.Samples != f.Samples || got.Size != f.Bytes || got.HeaderCRC != f.HeaderCRC {
		return false
	}
	index, err := o.root.Lstat(indexName(f.Name))
	return err == nil && index.Size() == f.Index.Bytes
}

// write makes the file name of what v writes.
func (o *Output) write(name string, v interface {
	Write(io.Writer) (string, error)
}) error {
	return atomicfile.Write(o.root, tmp(name), name, func(w io.Writer) error {
		_, err := v.Write(w)
		return err
	})
}

// commit closes the balance and writes the manifest, which completes the dataset.
func (o *Output) commit(plan *Plan, digest string, j *journal, tool string) (*Manifest, error) {
	m := newManifest(plan, digest, j, tool)
	if err := m.balance(); err != nil {
		return nil, err
	}
	meta, err := encodeJSON(newMeta(plan))
	if err != nil {
		return nil, err
	}
	m.Meta = FileSum{Bytes: int64(len(meta)), CRC: crc32.ChecksumIEEE(meta)}
	old, err := ReadManifest(o.dir)
	if err == nil && old.same(m) {
		m = old // its time stays
	} else {
		old = nil
	}
	if there, err := o.root.ReadFile(metaName); err != nil || !bytes.Equal(there, meta) {
		if err := o.writeFile(metaName, meta); err != nil {
			return nil, err
		}
	}
	if old != nil {
		return old, nil
	}
	data, err := encodeJSON(m)
	if err != nil {
		return nil, err
	}
	return m, o.writeFile(ManifestName, data)
}

// same reports whether two manifests differ in nothing but their times.
func (m *Manifest) same(n *Manifest) bool {
	a, b := *m, *n
	a.Created = b.Created
	x, err1 := encodeJSON(a)
	y, err2 := encodeJSON(b)
	return err1 == nil && err2 == nil && bytes.Equal(x, y)
}

func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	err := enc.Encode(v)
	return b.Bytes(), err
}

func (o *Output) writeFile(name string, data []byte) error {
	return atomicfile.Write(o.root, tmp(name), name, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}
