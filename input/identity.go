package input

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"time"

	"github.com/ffconvert/ffconvert/input/remote"
)

// compressedAs are the ways in which a source may be compressed; none first.
var compressedAs = []string{"", "gzip", "zstd", "bzip2", "xz"}

// An identity is another whenever the bytes of a source may be.
type identity [sha256.Size]byte

// identify names a source by where it is and what its metadata says, so that another one, or the
// same one changed, is staged anew. What nothing tells that of has an identity that nobody
// shares: that of a run, which is random, and of the source's place in it.
func identify(n Name, run identity, place int) (identity, error) {
	switch {
	case n.Tree != nil:
		return anonymous(), nil // it is made anew whenever it is taken
	case n.once():
		return sha256.Sum256(fmt.Appendf(nil, "ffconvert staged once 1\n%x\n%d\n", run, place)), nil
	case n.Object != nil && !told(n.Object):
		return sha256.Sum256(fmt.Appendf(nil, "ffconvert staged object of one run 1\n%x\n%q\n%d\n", run, remote.Identity(n.Object.URL), n.Object.Size)), nil
	case n.Object != nil:
		o := n.Object // a store that counts versions begins at 1 again in a new bucket: the checksum tells them apart
		return sha256.Sum256(fmt.Appendf(nil, "ffconvert staged object 1\n%q\n%q\n%d\n%q\n", remote.Identity(o.URL), version(o), o.Size, o.Sum.Kind+" "+o.Sum.Value)), nil
	}
	path, err := filepath.Abs(n.Path)
	if err != nil {
		return identity{}, err
	}
	return sha256.Sum256(fmt.Appendf(nil, "ffconvert staged copy 2\n%q\n%d\n%d\n", path, n.Size, n.ModTime.UnixNano())), nil
}

// version tells one state of an object from another: as its service does, or, as of a file, by
// the time of its last change. "": nothing tells. A weak ETag may stay when the bytes change, so
// that time counts beside it.
func version(o *remote.Object) string {
	if (o.Version == "" || isWeak(o.Version)) && !o.Modified.IsZero() {
		return strings.TrimLeft(o.Version+" modified "+o.Modified.UTC().Format(time.RFC3339Nano), " ")
	}
	return o.Version
}

func isWeak(version string) bool { return strings.HasPrefix(version, "W/") }

// told says whether an object of the same version has the same bytes, as far as a service can
// tell. A weak ETag alone tells when they are others, not when they are the same.
func told(o *remote.Object) bool {
	return o.Version != "" && !isWeak(o.Version) || !o.Modified.IsZero()
}

// servesOneRun says whether a copy serves one run: no other one can tell that it is of the same bytes.
func (n Name) servesOneRun() bool { return n.once() || n.Object != nil && !told(n.Object) }

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

// Mark is a number that is another when what is named has changed; 0 where that cannot be told.
func (n Name) Mark() int64 {
	switch {
	case n.Object != nil && version(n.Object) == "":
		return 0
	case n.Object != nil:
		sum := sha256.Sum256([]byte(version(n.Object)))
		return max(1, int64(binary.BigEndian.Uint64(sum[:])&math.MaxInt64))
	case n.ModTime.IsZero():
		return 0
	}
	return n.ModTime.UnixNano()
}
