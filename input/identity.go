package input

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"path/filepath"
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
	case n.once():
		return sha256.Sum256(fmt.Appendf(nil, "ffconvert staged once 1\n%x\n%d\n", run, place)), nil
	case n.Object != nil && n.Object.Version == "":
		return sha256.Sum256(fmt.Appendf(nil, "ffconvert staged object of one run 1\n%x\n%q\n%d\n", run, n.Name, n.Object.Size)), nil
	case n.Object != nil:
		return sha256.Sum256(fmt.Appendf(nil, "ffconvert staged object 1\n%q\n%q\n%d\n", n.Name, n.Object.Version, n.Object.Size)), nil
	}
	path, err := filepath.Abs(n.Path)
	if err != nil {
		return identity{}, err
	}
	return sha256.Sum256(fmt.Appendf(nil, "ffconvert staged copy 2\n%q\n%d\n%d\n", path, n.Size, n.ModTime.UnixNano())), nil
}

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

// mark is a number that is another when what is named has changed; 0 where that cannot be told.
func (n Name) mark() int64 {
	switch {
	case n.Object != nil && n.Object.Version == "":
		return 0
	case n.Object != nil:
		sum := sha256.Sum256([]byte(n.Object.Version))
		return max(1, int64(binary.BigEndian.Uint64(sum[:])&math.MaxInt64))
	case n.ModTime.IsZero():
		return 0
	}
	return n.ModTime.UnixNano()
}
