package stage

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"

	"github.com/ffconvert/ffconvert/input"
	"github.com/ffconvert/ffconvert/input/remote"
)

// compressedAs are the ways in which a source may be compressed; none first.
var compressedAs = []string{"", "gzip", "zstd", "bzip2", "xz"}

// An identity is another whenever the bytes of a source may be.
type identity [sha256.Size]byte

// identify names a source by where it is and what its metadata says, so that another one, or the
// same one changed, is staged anew. What nothing tells that of has an identity that nobody
// shares: that of a run, which is random, and of the source's place in it.
func identify(n input.Name, run identity, place int) (identity, error) {
	switch {
	case n.Tree != nil:
		return anonymous(), nil // it is made anew whenever it is taken
	case n.Once():
		return sha256.Sum256(fmt.Appendf(nil, "ffconvert staged once 1\n%x\n%d\n", run, place)), nil
	case n.Object != nil && !told(n.Object):
		return sha256.Sum256(fmt.Appendf(nil, "ffconvert staged object of one run 1\n%x\n%q\n%d\n", run, remote.Identity(n.Object.URL), n.Object.Size)), nil
	case n.Object != nil:
		o := n.Object // a store that counts versions begins at 1 again in a new bucket: the checksum tells them apart
		return sha256.Sum256(fmt.Appendf(nil, "ffconvert staged object 2\n%q\n%q\n%d\n%q\n", remote.Identity(o.URL), string(o.Pin()), o.Size, o.Sum.Kind+" "+o.Sum.Value)), nil
	}
	path, err := filepath.Abs(n.Path)
	if err != nil {
		return identity{}, err
	}
	return sha256.Sum256(fmt.Appendf(nil, "ffconvert staged copy 2\n%q\n%d\n%d\n", path, n.Size, n.ModTime.UnixNano())), nil
}

// told says whether an object of an equal pin has equal bytes, as far as a service can tell.
func told(o *remote.Object) bool { return o.Pin().Tells() }

// servesOneRun reports whether no later run can use a copy of n: it cannot tell whether the source
// has the same bytes then.
func servesOneRun(n input.Name) bool { return n.Once() || n.Object != nil && !told(n.Object) }

// key is what the decompressed copy of a source is kept under, so that the copy tells how the
// source was compressed.
func (id identity) key(compression string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%x\n%s\n", id, compression))
	return hex.EncodeToString(sum[:])
}

// anonymous is an identity that nothing else has.
func anonymous() (id identity) {
	rand.Read(id[:])
	return id
}
