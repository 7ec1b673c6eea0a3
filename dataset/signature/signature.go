// package signature signs the manifest of a dataset as minisign does, and checks such signatures.
//
//	key, err := signature.ReadPrivateKey("minisign.key", password)
//	text, err := key.Sign(manifest)
//
//	public, err := signature.ReadPublicKey("minisign.pub")
//	err = public.Check(manifest, text)
//
// Keys and signatures have the format of minisign: https://jedisct1.github.io/minisign. The signature covers the bytes
// of manifest.json, which has the SHA-256 of each shard, each index and meta.json. Files below .ffconvert are not covered.
package signature

import (
	"bytes"
	"fmt"
	"strconv"
	"time"

	"aead.dev/minisign"

	"github.com/ffconvert/ffconvert/internal/place"
)

var (
	// ErrWrong means that a signature is damaged, or is of another key or another manifest.
	ErrWrong = place.New(place.Corrupt, "wrong signature")
	// ErrUnsigned means that a dataset has no signature.
	ErrUnsigned = place.New(place.Refused, "not signed")
)

// Read returns the ID of the key that a signature names, in hexadecimal as minisign prints it, and does not verify the
// signature. The error is [ErrWrong] if it is damaged, or if it encodes its values in other bytes than minisign writes, which
// base64 allows.
func Read(signature []byte) (key string, err error) {
	var s minisign.Signature
	err = s.UnmarshalText(signature)
	if written, _ := s.MarshalText(); err != nil || !bytes.Equal(lines(signature), lines(written)) {
		return "", fmt.Errorf("%w: it is damaged, or not of minisign", ErrWrong)
	}
	return keyID(s.KeyID), nil
}

// lines returns a text with Unix line ends and no line end after the last line.
func lines(text []byte) []byte {
	return bytes.TrimRight(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), "\n")
}

func keyID(id uint64) string { return fmt.Sprintf("%X", id) }

// A PublicKey checks signatures.
type PublicKey struct{ key minisign.PublicKey }

// ID returns the ID of the key.
func (k *PublicKey) ID() string { return keyID(k.key.ID()) }

// Check returns nil if the signature is that of the manifest by this key, [ErrUnsigned] if signature is nil, and
// otherwise [ErrWrong].
func (k *PublicKey) Check(manifest, signature []byte) error {
	if signature == nil {
		return ErrUnsigned
	}
	key, err := Read(signature)
	switch {
	case err != nil:
		return err
	case key != k.ID():
		return fmt.Errorf("%w: it is of the key %s, not of %s", ErrWrong, key, k.ID())
	case !minisign.Verify(k.key, manifest, signature):
		return fmt.Errorf("%w: the key %s has not signed this manifest", ErrWrong, k.ID())
	}
	return nil
}

// A PrivateKey signs manifests.
type PrivateKey struct{ key minisign.PrivateKey }

// ID returns the ID of the key.
func (k *PrivateKey) ID() string { return keyID(k.key.ID()) }

// Sign returns the signature of a manifest, with the time and the name of the file as trusted comment.
func (k *PrivateKey) Sign(manifest []byte) ([]byte, error) {
	comment := "timestamp:" + strconv.FormatInt(time.Now().Unix(), 10) + "\tfile:manifest.json\thashed"
	signature := minisign.SignWithComments(k.key, manifest, comment, "signature of an ffconvert dataset by the key "+k.ID())
	public := PublicKey{k.key.Public().(minisign.PublicKey)}
	if err := public.Check(manifest, signature); err != nil { // the private and public half of the key do not match
		return nil, fmt.Errorf("%w: the private key is damaged", ErrKey)
	}
	return bytes.Clone(signature), nil
}
