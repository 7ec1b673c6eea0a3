package shard

import (
	"bytes"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
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
	return atomicfile.Write(o.root, o.tmp(name), name, func(w io.Writer) error {
		_, err := v.Write(w)
		return err
	})
}

// commit closes the balance and writes the manifest, which completes the dataset.
func (o *Output) commit(plan *Plan, digest string, j *journal, tool string) (*Manifest, error) {
	plan = plan.settled(j.done)
	m := newManifest(plan, digest, j, tool)
	if err := m.balance(); err != nil {
		return nil, err
	}
	meta, err := encodeJSON(newMeta(plan))
	if err != nil {
		return nil, err
	}
	m.Meta = FileSum{Bytes: int64(len(meta)), CRC: crc32.ChecksumIEEE(meta)}
	if there, err := readKept(o.root, metaName); err != nil || !bytes.Equal(there, meta) {
		if err := o.writeFile(metaName, meta); err != nil {
			return nil, err
		}
	}
	there, err := readKept(o.root, ManifestName)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if old, err := decodeManifest(bytes.NewReader(there)); err == nil {
		created := m.Created
		m.Created = old.Created
		if same, err := encodeJSON(m); err == nil && bytes.Equal(same, there) {
			return m, nil // nothing has changed: its time stays
		}
		m.Created = created
	}
	data, err := encodeJSON(m)
	if err != nil {
		return nil, err
	}
	return m, o.writeFile(ManifestName, data)
}

func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	err := enc.Encode(v)
	return b.Bytes(), err
}

func (o *Output) writeFile(name string, data []byte) error {
	return atomicfile.Write(o.root, o.tmp(name), name, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}
