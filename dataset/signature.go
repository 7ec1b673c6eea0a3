package dataset

import (
	"context"
	"fmt"
	"os"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/shard/plan"
	"github.com/ffconvert/ffconvert/verify"
)

// maxSignature bounds a signature that is read, in bytes: minisign's comments have at most 1 KiB and 8 KiB.
const maxSignature = 16 << 10

// ReadSigned returns the bytes of a manifest and of its signature, which are nil where there is no signature.
func ReadSigned(dir string) (manifest, signature []byte, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	o := &Output{Dir: &Dir{path: dir, Root: root}}
	if signature, err = o.signature(); err != nil {
		return nil, nil, err
	}
	manifest, err = readKept(root, ManifestName)
	return manifest, signature, err
}

// signature reads the signature of the manifest; nil: there is none.
func (o *Output) signature() ([]byte, error) {
	if there, err := o.has(SignatureName); err != nil || !there {
		return nil, err
	}
	return readUpTo(o.Root, SignatureName, maxSignature)
}

// SignManifest signs the manifest of a finished dataset by o.Sign. If the manifest has no sums, all files are read and
// compared first, and the sums are entered; summed reports whether that was done.
func (o *Output) SignManifest(ctx context.Context, how aio.Options, p plan.Progress) (m *Manifest, summed bool, err error) {
	if m, err = o.Manifest(); err != nil {
		return nil, false, err
	}
	if m == nil {
		return nil, false, fmt.Errorf("%s: %w", o.Name(), ErrUnfinished)
	}
	if err := o.Mkdir(o.Temp("")); err != nil {
		return nil, false, err
	}
	if summed = m.Root.IsZero(); summed {
		if err := o.sumUp(ctx, m, how, p); err != nil {
			return nil, false, err
		}
	}
	data, err := encodeManifest(m)
	if err != nil {
		return nil, false, err
	}
	if summed {
		if err := o.replaceManifest(data); err != nil {
			return nil, false, err
		}
	}
	if err := o.sign(m, data); err != nil || o.bucket == nil {
		return m, summed, err
	}
	if summed {
		if err := o.bucket.Save(ManifestName); err != nil {
			return nil, false, err
		}
	}
	return m, summed, o.bucket.Save(SignatureName)
}

// sumUp reads all files of a dataset and enters their sums in its manifest, unless its plan contradicts it.
func (o *Output) sumUp(ctx context.Context, m *Manifest, how aio.Options, p plan.Progress) error {
	kept, err := o.checkKept(m)
	if err != nil {
		return err
	}
	for _, problem := range kept.Problems {
		if problem.Kind == BadManifest {
			return fmt.Errorf("not signed: %w: %s", verify.ErrCorrupt, problem)
		}
	}
	found, err := o.Reread(ctx, m.Shards, m.Meta, how, p)
	if err == nil {
		err = found.Err()
	}
	if err != nil {
		return err
	}
	meta, err := readKept(o.Root, MetaName)
	if err != nil {
		return err
	}
	if is := sumOf(meta); is.is(m.Meta) {
		m.describe(is)
	}
	return m.check()
}

// sign writes the signature of a manifest, whose bytes are data.
func (o *Output) sign(m *Manifest, data []byte) error {
	if m.Root.IsZero() {
		return fmt.Errorf("%s: not signed: %w", o.Name(), ErrNoSums)
	}
	signature, err := o.Sign(data)
	if err != nil {
		return err
	}
	return o.WriteFile(SignatureName, signature)
}

// RemoveManifest removes the manifest, and first its signature, which is of no other manifest.
func (o *Output) RemoveManifest() error {
	if err := o.erase(SignatureName); err != nil {
		return err
	}
	return o.erase(ManifestName)
}
