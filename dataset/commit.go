package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"

	"github.com/ffconvert/ffconvert/internal/crcline"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// IsSound reports whether a finished shard still has its size and its header, and its index every byte.
// An error says that this cannot be known.
func (o *Output) IsSound(f Finished) (bool, error) {
	if o.bucket != nil {
		return o.bucket.Has(f)
	}
	got, err := o.Header(f.Name)
	if err != nil {
		return false, unknown(err)
	}
	if got.Samples != f.Samples || got.Size != f.Bytes || got.HeaderCRC != f.HeaderCRC {
		return false, nil
	}
	return o.hasIndex(f)
}

// sized reports whether a finished shard and its index have their names and sizes. It reads neither.
// A link or another thing that is not a regular file is an error.
func (o *Output) sized(f Finished) (bool, error) {
	if o.bucket != nil {
		return o.bucket.Has(f)
	}
	for name, size := range map[string]int64{f.Name: f.Bytes, IndexName(f.Name): f.Index.Bytes} {
		st, err := o.Lookup(name)
		if st != nil {
			err = notRegular(o.Path(name), st, err)
		}
		if err != nil || st == nil || st.Size() != size {
			return false, err
		}
	}
	return true, nil
}

// Header reads the header of the shard of that name. Anything but a regular file in its place, a
// link among them, is [converters.ErrUnsupported].
func (o *Output) Header(name string) (record.FileInfo, error) {
	f, err := openKept(o.Root, name)
	if err != nil {
		return record.FileInfo{}, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return record.FileInfo{}, err
	}
	return record.ReadInfo(f, f.Name(), st.Size(), record.Options{MaxSample: math.MaxInt64})
}

// unknown returns the error of a file of which nothing can be said. That it is not there, or is
// damaged, is said.
func unknown(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, record.ErrCorrupt) {
		return nil
	}
	return err
}

// commit closes the balance and writes meta.json and the manifest, which completes the dataset, and signs it if o.Sign
// is set. wrote names the files other than the signature that it has written, because they were missing or different.
func (o *Output) commit(plan *plan.Plan, digest string, j *Journal, tool string) (m *Manifest, wrote []string, err error) {
	there, err := readKept(o.Root, ManifestName)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	old, _ := DecodeManifest(there) // nil: there is none, or a damaged one
	j.learn(old)
	plan = plan.WithParts(partsOf(j.Done))
	m = newManifest(plan, digest, j, tool)
	if err := m.Totals.balance(); err != nil {
		return nil, nil, err
	}
	meta, err := encodeJSON(newMeta(plan))
	if err != nil {
		return nil, nil, err
	}
	m.describe(sumOf(meta))
	if there, err := readKept(o.Root, MetaName); err != nil || !bytes.Equal(there, meta) {
		if err := o.WriteFile(MetaName, meta); err != nil {
			return nil, nil, err
		}
		wrote = append(wrote, MetaName)
	}
	data, err := m.bytes(old, there)
	if err != nil {
		return nil, nil, err
	}
	if !bytes.Equal(data, there) {
		if err := o.replaceManifest(data); err != nil {
			return nil, nil, err
		}
		wrote = append(wrote, ManifestName)
	}
	if o.Sign != nil {
		err = o.sign(m, data)
	}
	return m, wrote, err
}

// bytes returns the bytes of a manifest to write. If it says the same as old, whose bytes are there, it becomes old, with
// its time and its tool.
func (m *Manifest) bytes(old *Manifest, there []byte) ([]byte, error) {
	if old != nil {
		same := *m
		same.Created, same.Tool = old.Created, old.Tool
		if data, err := encodeManifest(&same); err == nil && bytes.Equal(data, there) {
			*m = same
			return there, nil
		}
	}
	if err := m.check(); err != nil { // what no reader would accept must not be written
		return nil, err
	}
	return encodeManifest(m)
}

// replaceManifest writes a manifest. A signature of the one before goes first.
func (o *Output) replaceManifest(data []byte) error {
	if err := o.erase(SignatureName); err != nil {
		return err
	}
	return o.WriteFile(ManifestName, data)
}

func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	err := enc.Encode(v)
	return crcline.Canonical(b.Bytes()), err
}

// Complete commits a plan after all shards are written, and removes the files that only an unfinished
// conversion needs. wrote names the files that it has written. A directory that was moved gets no
// manifest; in one that is moved at that moment it is true wherever the directory is by now. Either
// is [ErrMoved].
func (o *Output) Complete(plan *plan.Plan, digest string, j *Journal, tool string) (m *Manifest, wrote []string, err error) {
	if err := o.Here(nil); err != nil {
		return nil, nil, err
	}
	if m, wrote, err = o.commit(plan, digest, j, tool); err != nil {
		return nil, nil, err
	}
	if o.bucket != nil {
		if err := o.bucket.Complete(); err != nil {
			return nil, nil, err
		}
	}
	for _, dir := range []string{TmpDir, RunningDir} {
		if err := o.Root.RemoveAll(dir); err != nil {
			return nil, nil, fmt.Errorf("clean up: %w", err)
		}
	}
	return m, wrote, o.Here(nil)
}
