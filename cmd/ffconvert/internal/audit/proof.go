package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/signature"
	"github.com/ffconvert/ffconvert/internal/text"
	"github.com/ffconvert/ffconvert/verify"
)

// Want selects what verify compares beyond the checksums, and of which shards. The zero value: neither, all shards.
type Want struct {
	Key    *signature.PublicKey // the manifest must be signed by it; nil: signatures are not looked at
	SHA256 bool                 // of every file that is read; implied by the others
	Sample *dataset.Sample      // the shards that are read; nil: all
}

// some reports whether a manifest with sums is needed.
func (w *Want) some() bool { return w.Key != nil || w.SHA256 || w.Sample != nil }

// errFile refuses a single shard where a manifest is needed.
var errFile = errors.New("--key, --sha256 and --sample are for the directory of a dataset")

// errNoManifest refuses a directory without a manifest.
var errNoManifest = fmt.Errorf("%w: there is no %s", dataset.ErrNoSums, dataset.ManifestName)

// readManifest reads the manifest of a directory, or of a dataset in an object store, view. Where a signature is wanted the
// manifest is looked at only after its bytes, the same, were found to be signed.
func (w *Want) readManifest(dir string, view *dataset.Dataset) (*dataset.Manifest, error) {
	if w.Key == nil {
		m, err := unsigned(dir, view)
		if err == nil && m != nil && w.some() && m.Root.IsZero() {
			err = fmt.Errorf("%s: %w (ffconvert finish --verify %s adds them)", dir, dataset.ErrNoSums, text.ShellWord(dir))
		}
		return m, err
	}
	local := dir
	if view != nil {
		local = view.Path("")
	}
	data, text, err := dataset.ReadSigned(local)
	if errors.Is(err, fs.ErrNotExist) && view != nil {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := w.Key.Check(data, text); err != nil {
		if errors.Is(err, signature.ErrUnsigned) {
			return nil, fmt.Errorf("%s: %w: there is no %s", dir, err, dataset.SignatureName)
		}
		return nil, fmt.Errorf("%s: %w", fileOf(dir, dataset.SignatureName), err)
	}
	m, err := dataset.ParseManifest(fileOf(dir, dataset.ManifestName), data)
	if err == nil && m.Root.IsZero() {
		err = fmt.Errorf("%s: %w, and so they are not signed (ffconvert sign reads all files, and adds them)", dir, dataset.ErrNoSums)
	}
	return m, err
}

// fileOf returns the name of a file of a dataset: dir is a path or a URL.
func fileOf(dir, name string) string { return strings.TrimSuffix(dir, "/") + "/" + name }

func unsigned(dir string, view *dataset.Dataset) (*dataset.Manifest, error) {
	if view != nil {
		return view.Manifest()
	}
	return dataset.ReadManifest(dir)
}

// options returns how a dataset is verified.
func (w *Want) options(m *dataset.Manifest, how verify.Options) verify.Options {
	how.SHA256 = w.some()
	if chosen := w.reads(m); chosen != nil {
		how.Only = func(shard string) bool { return chosen[shard] }
	}
	return how
}

// reads returns the shards to read; nil: all.
func (w *Want) reads(m *dataset.Manifest) map[string]bool {
	if w.Sample == nil {
		return nil
	}
	return w.Sample.Choose(m)
}

// proof describes for the report how a dataset was compared with its SHA-256; nil: it was not.
func (w *Want) proof(m *dataset.Manifest, read int) *verify.Proof {
	if !w.some() {
		return nil
	}
	p := &verify.Proof{SHA256: true, Root: m.Root.String(), Read: read, Of: len(m.Shards)}
	if w.Key != nil {
		p.SignedBy = w.Key.ID()
	}
	if w.Sample != nil {
		p.Seed = &w.Sample.Seed
	}
	return p
}
