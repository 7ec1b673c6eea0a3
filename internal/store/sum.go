package store

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"hash/crc32"
	"maps"
	"net/http"
	"strings"

	"github.com/cespare/xxhash/v2"
	"github.com/minio/crc64nvme"
)

// hashes are the supported kinds of Sum, fast ones first. If a service sends several, the first of this order is
// compared. xxhash and xxhash2 are AIStore's names for XXH64 with seed 0, computed by two libraries.
var hashes = []struct {
	kind string
	make func() hash.Hash
}{
	{"crc64nvme", func() hash.Hash { return crc64nvme.New() }},
	{"crc32c", func() hash.Hash { return crc32.New(crc32.MakeTable(crc32.Castagnoli)) }},
	{"xxhash2", func() hash.Hash { return xxhash.New() }},
	{"xxhash", func() hash.Hash { return xxhash.New() }},
	{"sha256", sha256.New},
	{"sha512", sha512.New},
	{"md5", md5.New},
	{"sha1", sha1.New},
	{"crc32", func() hash.Hash { return crc32.NewIEEE() }},
}

// NewHash returns a new hash of the kind of s; nil if the kind is unknown or Value has another length.
func (s Sum) NewHash() hash.Hash {
	h := hashOf(s.Kind)
	if b, err := hex.DecodeString(s.Value); h == nil || err != nil || len(b) != h.Size() {
		return nil
	}
	return h
}

// hashOf returns a new hash of a kind; nil if it is unknown.
func hashOf(kind string) hash.Hash {
	for _, row := range hashes {
		if row.kind == kind {
			return row.make()
		}
	}
	return nil
}

// bestSum returns the first valid checksum in the order of hashes. given has base64 by kind.
func bestSum(given map[string]string) Sum {
	for _, row := range hashes {
		b, err := base64.StdEncoding.DecodeString(given[row.kind])
		if s := (Sum{Kind: row.kind, Value: hex.EncodeToString(b)}); err == nil && s.NewHash() != nil {
			return s
		}
	}
	return Sum{}
}

// digestNames maps the names of RFC 9530, RFC 3230 and Google to kinds.
var digestNames = map[string]string{"sha-256": "sha256", "sha-512": "sha512", "md5": "md5", "sha": "sha1", "crc32c": "crc32c"}

// headerSum finds the checksum of the whole object in the headers of a reply. part means that the body is a
// range: then checksums of the body are ignored.
func headerSum(h http.Header, part bool) Sum {
	given := make(map[string]string)
	digests(given, h.Values("Repr-Digest"))
	if stored := strings.ToLower(h.Get("X-Goog-Stored-Content-Encoding")); stored == "" || stored == "identity" || stored == encoding(h) {
		digests(given, h.Values("X-Goog-Hash"))
	} // otherwise Google has decompressed the body, and the hash is of the compressed object
	if part {
		return bestSum(given)
	}
	digests(given, h.Values("Digest"))
	digests(given, h.Values("Content-Digest"))
	if v := h.Get("Content-Md5"); v != "" {
		given["md5"] = v
	}
	if kind := h.Get("X-Amz-Checksum-Type"); kind == "" || strings.EqualFold(kind, "FULL_OBJECT") {
		maps.Copy(given, amazonSums(h))
	}
	return bestSum(given)
}

// amazonSums returns the checksums in the headers of S3. A checksum of parts ends with "-" and their number:
// it is not valid base64, and bestSum skips it.
func amazonSums(h http.Header) map[string]string {
	given := make(map[string]string)
	for _, kind := range []string{"crc32", "crc32c", "crc64nvme", "sha1", "sha256"} {
		if v := h.Get("X-Amz-Checksum-" + kind); v != "" {
			given[kind] = v
		}
	}
	return given
}

// digests parses header fields and adds their digests to given: sha-256=:base64: (RFC 9530), or without colons.
func digests(given map[string]string, fields []string) {
	for _, field := range fields {
		for item := range strings.SplitSeq(field, ",") {
			name, value, _ := strings.Cut(strings.TrimSpace(item), "=")
			if kind, ok := digestNames[strings.ToLower(name)]; ok {
				given[kind] = strings.Trim(value, ":")
			}
		}
	}
}

// nvmePolynomial is the polynomial of CRC-64/NVME, its highest coefficient in bit 0.
const nvmePolynomial = 0x9a6c9329ac4bc9b5

// joinCRC64 returns the CRC-64/NVME of the concatenation of two byte sequences, from the CRC of each. n is the length
// of the second in bytes. The CRC is first · x^(8n) + second.
func joinCRC64(first, second uint64, n int64) uint64 {
	power := uint64(1) << 62 // x, of the polynomials modulo nvmePolynomial; bit 63 is 1
	factor := uint64(1) << 63
	for bits := uint64(n) * 8; bits > 0; bits >>= 1 {
		if bits&1 == 1 {
			factor = multiplyCRC64(factor, power)
		}
		power = multiplyCRC64(power, power)
	}
	return multiplyCRC64(first, factor) ^ second
}

// multiplyCRC64 multiplies two polynomials modulo nvmePolynomial.
func multiplyCRC64(a, b uint64) (product uint64) {
	for bit := uint64(1) << 63; bit > 0; bit >>= 1 {
		if a&bit != 0 {
			product ^= b
		}
		if carry := b & 1; carry == 1 {
			b = b>>1 ^ nvmePolynomial
		} else {
			b >>= 1
		}
	}
	return product
}
