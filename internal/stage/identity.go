package stage

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"

	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/store"
)

// compressedAs are the possible compressions of a source; none comes first.
var compressedAs = []string{"", "gzip", "zstd", "bzip2", "xz", "zlib"}

// An identity is a hash that differs whenever the bytes of a source may differ.
type identity [sha256.Size]byte

// identify returns the identity of a source, made of its location and metadata. If the metadata do not show
// changes, the identity is made of run, which is random, and of the location or of place, the index of the source.
func identify(n input.Name, run identity, place int) (identity, error) {
	switch {
	case n.Tree != nil:
		return anonymous(), nil // each Take makes a new directory
	case n.Once():
		return sha256.Sum256(fmt.Appendf(nil, "ffconvert staged once 1\n%x\n%d\n", run, place)), nil
	case n.Object != nil && !versioned(n.Object):
		return sha256.Sum256(fmt.Appendf(nil, "ffconvert staged object of one run 1\n%x\n%q\n%d\n", run, store.Identity(n.Object.URL), n.Object.Size)), nil
	case n.Object != nil:
		o := n.Object // the checksum matters if versions are numbers: they start at 1 again in a new bucket
		return sha256.Sum256(fmt.Appendf(nil, "ffconvert staged object 2\n%q\n%q\n%d\n%q\n", store.Identity(o.URL), string(o.Pin()), o.Size, o.Sum.Kind+" "+o.Sum.Value)), nil
	}
	path, err := filepath.Abs(n.Path)
	if err != nil {
		return identity{}, err
	}
	return sha256.Sum256(fmt.Appendf(nil, "ffconvert staged copy 2\n%q\n%d\n%d\n", path, n.Size, n.ModTime.UnixNano())), nil
}

// versioned reports whether equal pins of the object mean equal bytes.
func versioned(o *store.Object) bool { return o.Pin().Tells() }

// key returns the cache key of the decompressed copy of a source with the given compression.
func (id identity) key(compression string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%x\n%s\n", id, compression))
	return hex.EncodeToString(sum[:])
}

// anonymous returns a random identity.
func anonymous() (id identity) {
	rand.Read(id[:])
	return id
}
