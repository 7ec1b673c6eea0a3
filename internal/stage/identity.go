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

// compressedAs are the compressions of a source; none first.
var compressedAs = []string{"", "gzip", "zstd", "bzip2", "xz", "zlib"}

// An identity differs whenever the bytes of a source may differ.
type identity [sha256.Size]byte

// identify returns the identity of a source: its location and metadata. A source without metadata
// that shows changes is identified by run, which is random, and its place in it.
func identify(n input.Name, run identity, place int) (identity, error) {
	switch {
	case n.Tree != nil:
		return anonymous(), nil // it is made anew by each Take
	case n.Once():
		return sha256.Sum256(fmt.Appendf(nil, "ffconvert staged once 1\n%x\n%d\n", run, place)), nil
	case n.Object != nil && !told(n.Object):
		return sha256.Sum256(fmt.Appendf(nil, "ffconvert staged object of one run 1\n%x\n%q\n%d\n", run, store.Identity(n.Object.URL), n.Object.Size)), nil
	case n.Object != nil:
		o := n.Object // a store that counts versions begins at 1 again in a new bucket: the checksum tells them apart
		return sha256.Sum256(fmt.Appendf(nil, "ffconvert staged object 2\n%q\n%q\n%d\n%q\n", store.Identity(o.URL), string(o.Pin()), o.Size, o.Sum.Kind+" "+o.Sum.Value)), nil
	}
	path, err := filepath.Abs(n.Path)
	if err != nil {
		return identity{}, err
	}
	return sha256.Sum256(fmt.Appendf(nil, "ffconvert staged copy 2\n%q\n%d\n%d\n", path, n.Size, n.ModTime.UnixNano())), nil
}

// told reports whether equal pins of the object mean equal bytes.
func told(o *store.Object) bool { return o.Pin().Tells() }

// servesOneRun reports whether no later run can use a copy of n: it cannot tell whether the source
// has the same bytes then.
func servesOneRun(n input.Name) bool { return n.Once() || n.Object != nil && !told(n.Object) }

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
