package signature

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"aead.dev/minisign"

	"github.com/ffconvert/ffconvert/internal/place"
)

// ErrKey means that a file or a text is not a key of minisign.
var ErrKey = place.New(place.Refused, "not a key of minisign")

// ErrPassword means that a password does not decrypt a key.
var ErrPassword = place.New(place.Refused, "wrong password, or a damaged key")

// maxKey caps the file of a key, in bytes. It has about 300, plus a comment.
const maxKey = 16 << 10

// publicKeySize is the size of a public key as minisign -P takes it, in bytes.
const publicKeySize = 56

// ReadPublicKey reads the file of a public key. If name is itself a public key, in the form that minisign -P takes, it
// returns that key.
func ReadPublicKey(name string) (*PublicKey, error) {
	k := new(PublicKey)
	if len(name) == publicKeySize && k.key.UnmarshalText([]byte(name)) == nil {
		return k, nil
	}
	text, err := readFile(name)
	if err != nil {
		return nil, err
	}
	if err := k.key.UnmarshalText(text); err != nil {
		return nil, fmt.Errorf("%s: %w: want the public key, minisign.pub", name, ErrKey)
	}
	return k, nil
}

// ReadPrivateKey reads the file of a private key. If it is encrypted, ReadPrivateKey calls password. Decryption
// takes about a second and the memory that the file specifies: by default, and at most, 1 GiB.
func ReadPrivateKey(name string, password func() (string, error)) (*PrivateKey, error) {
	text, err := readFile(name)
	if err != nil {
		return nil, err
	}
	k := new(PrivateKey)
	if !minisign.IsEncrypted(text) {
		if err := k.key.UnmarshalText(text); err != nil {
			return nil, fmt.Errorf("%s: %w: want the private key, minisign.key", name, ErrKey)
		}
		return k, nil
	}
	word, err := password()
	if err != nil {
		return nil, err
	}
	if k.key, err = minisign.DecryptKey(word, text); err != nil {
		return nil, fmt.Errorf("%s: %w", name, ErrPassword)
	}
	return k, nil
}

// readFile reads the file of a key, of at most maxKey bytes.
func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w: no such file", name, ErrKey)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxKey+1))
	if err == nil && len(text) > maxKey {
		err = fmt.Errorf("%s: %w: it has more than %d bytes", name, ErrKey, maxKey)
	}
	return bytes.TrimPrefix(text, []byte("\ufeff")), err // editors on Windows write a byte order mark, minisign skips it
}
