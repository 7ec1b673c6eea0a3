package dataset

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/ffconvert/ffconvert/internal/checksum"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// commit closes the balance and writes meta.json and the manifest, which completes the dataset, and signs it if w.Sign
// is set. wrote names the files other than the signature that it has written, because they were missing or different.
func (w *Writing) commit(plan *plan.Plan, j *Journal, tool string) (m *Manifest, wrote []string, err error) {
	there, err := readKept(w.Root, ManifestName)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	old, _ := DecodeManifest(there) // nil: there is none, or a damaged one
	plan = plan.WithParts(partsOf(j.Done))
	m = newManifest(plan, j, tool)
	if err := m.Totals.balance(); err != nil {
		return nil, nil, err
	}
	meta, err := encodeJSON(newMeta(plan))
	if err != nil {
		return nil, nil, err
	}
	m.describe(sumOf(meta))
	if there, err := readKept(w.Root, MetaName); err != nil || !bytes.Equal(there, meta) {
		if err := w.WriteFile(MetaName, meta); err != nil {
			return nil, nil, err
		}
		wrote = append(wrote, MetaName)
	}
	data, err := m.bytes(old, there)
	if err != nil {
		return nil, nil, err
	}
	if !bytes.Equal(data, there) {
		if err := w.replaceManifest(data); err != nil {
			return nil, nil, err
		}
		wrote = append(wrote, ManifestName)
	}
	if w.Sign != nil {
		err = w.sign(m, data)
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
func (w *Writing) replaceManifest(data []byte) error {
	if err := w.removeSignature(); err != nil {
		return err
	}
	return w.WriteFile(ManifestName, data)
}

func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	err := enc.Encode(v)
	return checksum.Canonical(b.Bytes()), err
}

// Complete commits a plan after all shards are written, and removes the files that only an unfinished conversion needs.
// wrote names the files that it has written. A directory that was moved gets no manifest. If the directory is moved
// while the manifest is written, the manifest is still true of it. Both return [ErrMoved].
func (w *Writing) Complete(plan *plan.Plan, j *Journal, tool string) (m *Manifest, wrote []string, err error) {
	if err := w.Here(nil); err != nil {
		return nil, nil, err
	}
	if m, wrote, err = w.commit(plan, j, tool); err != nil {
		return nil, nil, err
	}
	if w.bucket != nil {
		if err := w.bucket.Complete(); err != nil {
			return nil, nil, err
		}
	}
	if err := w.sweep(); err != nil {
		return nil, nil, fmt.Errorf("clean up: %w", err)
	}
	return m, wrote, w.Here(nil)
}

// sweep removes the claims and temporary files of this process and of dead ones.
func (w *Writing) sweep() error {
	closeTemps(w.Dir)
	return cmp.Or(w.Root.RemoveAll(RunningDir), w.Root.RemoveAll(TmpDir))
}
