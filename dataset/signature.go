package dataset

import (
	"fmt"
	"os"
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
	o := &Output{dir: dir, Root: root}
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

// sign writes the signature of a manifest, whose bytes are data.
func (o *Output) sign(m *Manifest, data []byte) error {
	if m.Root.IsZero() {
		return fmt.Errorf("%s: not signed: %w", o.dir, ErrNoSums)
	}
	signature, err := o.Sign(data)
	if err != nil {
		return err
	}
	return o.writeFile(SignatureName, signature)
}

// RemoveManifest removes the manifest, and first its signature, which is of no other manifest.
func (o *Output) RemoveManifest() error {
	if err := o.erase(SignatureName); err != nil {
		return err
	}
	return o.erase(ManifestName)
}
