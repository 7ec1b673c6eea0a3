package verify

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
)

// A SHA256 is the SHA-256 of all bytes of a file. Zero: not known.
type SHA256 [sha256.Size]byte

// IsZero reports whether the sum is not known.
func (s SHA256) IsZero() bool { return s == SHA256{} }

// String returns 64 hexadecimal digits in lower case, as sha256sum prints them.
func (s SHA256) String() string { return hex.EncodeToString(s[:]) }

// MarshalText returns what String returns.
func (s SHA256) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads 64 hexadecimal digits.
func (s *SHA256) UnmarshalText(text []byte) error {
	if len(text) != hex.EncodedLen(len(s)) {
		return errSHA256
	}
	if _, err := hex.Decode(s[:], text); err != nil {
		return errSHA256
	}
	return nil
}

var errSHA256 = errors.New("not a SHA-256 of 64 hexadecimal digits")

// newHash returns nil if no SHA-256 is wanted.
func (o *Options) newHash() hash.Hash {
	if !o.SHA256 {
		return nil
	}
	return sha256.New()
}

// sum sets the SHA-256 of a file that was read whole. If the file has no other problem and its SHA-256 is not the
// expected one, sum adds a problem.
func (res *Result) sum(h hash.Hash, want SHA256) {
	if h == nil || len(res.Problems) > 0 {
		return
	}
	h.Sum(res.SHA256[:0])
	if !want.IsZero() && res.SHA256 != want {
		res.fault(Changed, fmt.Errorf("its SHA-256 is %v, the dataset's file has %v", res.SHA256, want))
	}
}

// summed calls o.Summed with the SHA-256 of a sound file.
func (o *Options) summed(res *Result) {
	if o.Summed != nil && !res.SHA256.IsZero() {
		o.Summed(res.Shard, res.SHA256)
	}
}
