package dataset

import (
	"context"
	"fmt"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/shard/plan"
	"github.com/ffconvert/ffconvert/verify"
)

// maxSignature bounds a signature that is read, in bytes: minisign's comments have at most 1 KiB and 8 KiB.
const maxSignature = 16 << 10

// ReadSigned returns the bytes of a manifest and of its signature, which are nil where there is no signature.
func ReadSigned(dir string) (manifest, signature []byte, err error) {
	d, err := View(dir)
	if err != nil {
		return nil, nil, err
	}
	defer d.Close()
	if there, err := d.has(SignatureName); err != nil {
		return nil, nil, err
	} else if there {
		if signature, err = readUpTo(d.Root, SignatureName, maxSignature); err != nil {
			return nil, nil, err
		}
	}
	manifest, err = d.ReadFile(ManifestName)
	return manifest, signature, err
}

// SignManifest signs the manifest of a finished dataset by w.Sign. If the manifest has no sums, all files are read and
// compared first, and the sums are entered; summed reports whether that was done.
func (w *Writing) SignManifest(ctx context.Context, how aio.Options, p plan.Progress) (m *Manifest, summed bool, err error) {
	if m, err = w.Manifest(); err != nil {
		return nil, false, err
	}
	if m == nil {
		return nil, false, fmt.Errorf("%s: %w", w.Name(), ErrUnfinished)
	}
	if summed = m.Root == ""; summed {
		if err := w.sumUp(ctx, m, how, p); err != nil {
			return nil, false, err
		}
	}
	data, err := encodeManifest(m)
	if err != nil {
		return nil, false, err
	}
	if summed {
		if err := w.replaceManifest(data); err != nil {
			return nil, false, err
		}
	}
	err = w.sign(m, data)
	if err == nil && summed {
		err = w.save(ManifestName)
	}
	if err == nil {
		err = w.save(SignatureName)
	}
	return m, summed, err
}

// sumUp reads all files of a dataset and enters their sums in its manifest, unless its plan contradicts it.
func (w *Writing) sumUp(ctx context.Context, m *Manifest, how aio.Options, p plan.Progress) error {
	kept, err := w.checkKept(m)
	if err != nil {
		return err
	}
	for _, problem := range kept.Problems {
		if problem.Kind == BadManifest {
			return fmt.Errorf("not signed: %w: %s", verify.ErrCorrupt, problem)
		}
	}
	w.SHA256 = true
	found, _, err := w.Reread(ctx, m.Shards, &m.Meta, how, p)
	if err == nil {
		err = found.Err()
	}
	if err != nil {
		return err
	}
	m.describe(m.Meta)
	return m.check()
}

// sign writes the signature of a manifest, whose bytes are data.
func (w *Writing) sign(m *Manifest, data []byte) error {
	if m.Root == "" {
		return fmt.Errorf("%s: not signed: %w", w.Name(), ErrNoSums)
	}
	signature, err := w.Sign(data)
	if err != nil {
		return err
	}
	w.Unsigned = false
	return w.WriteFile(SignatureName, signature)
}
