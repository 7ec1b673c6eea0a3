package mds

import (
	"context"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha3"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
	"github.com/zeebo/xxh3"
	"golang.org/x/crypto/blake2b"

	"github.com/ffconvert/ffconvert/converters"
)

// algorithms are the hashes that are verified, by their names in Python's hashlib and xxhash.
var algorithms = map[string]func() hash.Hash{
	"md5": md5.New, "sha1": sha1.New, "sha224": sha256.New224, "sha256": sha256.New, "sha384": sha512.New384, "sha512": sha512.New,
	"sha3_224": func() hash.Hash { return sha3.New224() }, "sha3_256": func() hash.Hash { return sha3.New256() },
	"sha3_384": func() hash.Hash { return sha3.New384() }, "sha3_512": func() hash.Hash { return sha3.New512() },
	"blake2b": func() hash.Hash {
		h, _ := blake2b.New512(nil) // fails only for an invalid key
		return h
	},
	"xxh64":    func() hash.Hash { return xxhash.New() },
	"xxh3_64":  func() hash.Hash { return xxh3.New() },
	"xxh3_128": func() hash.Hash { return wide{xxh3.New()} }, "xxh128": func() hash.Hash { return wide{xxh3.New()} },
}

// A wide hash is xxh3 with 128 bits.
type wide struct{ *xxh3.Hasher }

func (w wide) Sum(b []byte) []byte {
	sum := w.Sum128().Bytes()
	return append(b, sum[:]...)
}

// unknown returns the names of hashes that cannot be verified, sorted.
func (f *file) unknown() []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(f.Hashes)) {
		if algorithms[name] == nil {
			names = append(names, name)
		}
	}
	return names
}

// hashBlock is the size of a read for hashing, in bytes.
const hashBlock = 1 << 20

// compare verifies the hashes of a file of size bytes.
func (f *file) compare(ctx context.Context, in io.ReaderAt, size int64) error {
	var names []string
	var all []io.Writer
	for _, name := range slices.Sorted(maps.Keys(f.Hashes)) {
		if algorithm := algorithms[name]; algorithm != nil {
			names, all = append(names, name), append(all, algorithm())
		}
	}
	if len(names) == 0 {
		return nil
	}
	buf := make([]byte, min(size, hashBlock))
	for at := int64(0); at < size; {
		if err := ctx.Err(); err != nil {
			return err
		}
		b := buf[:min(int64(len(buf)), size-at)]
		if n, err := in.ReadAt(b, at); n < len(b) {
			return fmt.Errorf("read: %w", err)
		}
		for _, h := range all {
			h.Write(b)
		}
		at += int64(len(b))
	}
	for i, name := range names {
		if got := hex.EncodeToString(all[i].(hash.Hash).Sum(nil)); !strings.EqualFold(got, f.Hashes[name]) {
			return fmt.Errorf("%w: its %s is %s, index.json has %.128s", converters.ErrMalformed, name, got, f.Hashes[name])
		}
	}
	return nil
}
