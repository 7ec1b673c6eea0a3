package choose

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"sync/atomic"

	"github.com/ffconvert/ffconvert/converters"
)

// DefaultMaxKeys is the default limit of a list of keys, in bytes. A list takes its size in memory, and some 50
// bytes per key.
const DefaultMaxKeys = 1 << 30

// A keySet is a list of keys. Its JSON, which is part of a plan, identifies the list.
type keySet struct {
	N      int    `json:"keys"`
	SHA256 string `json:"sha256"` // of the keys in order, each with a newline

	name string            // of the file
	at   map[string]uint32 // number by key; nil if the list was not read, as in a plan
	seen []atomic.Bool     // whether a sample had the key, by number
	n    atomic.Int64      // number of keys seen
}

// ReadKeys reads a file with one key per line, of at most max bytes; 0: DefaultMaxKeys. Lines may end in CR LF,
// empty lines are ignored, and a repeated key counts once.
func ReadKeys(name string, max int64) (*keySet, error) {
	refuse := func(err error, hint string) (*keySet, error) {
		return nil, &converters.Error{Where: name, Off: -1, Err: err, Hint: hint}
	}
	if max <= 0 {
		max = DefaultMaxKeys
	}
	f, err := os.Open(name)
	if err != nil {
		return refuse(pathless(err), "")
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, min(max, math.MaxInt64-1)+1))
	if err != nil {
		return refuse(pathless(err), "")
	}
	if int64(len(data)) > max {
		return refuse(fmt.Errorf("%w: it has more than %d bytes", converters.ErrLimit, max), "option max-keys-size")
	}
	lines := bytes.Count(data, []byte{'\n'}) + 1
	if lines > math.MaxUint32 {
		return refuse(fmt.Errorf("%w: it has more than %d lines", converters.ErrLimit, uint32(math.MaxUint32)), "")
	}
	k := &keySet{name: name, at: make(map[string]uint32)}
	sum := sha256.New()
	for line := range strings.Lines(strings.TrimPrefix(string(data), "\ufeff")) {
		key := strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if _, twice := k.at[key]; twice || key == "" {
			continue
		}
		k.at[key] = uint32(len(k.at))
		sum.Write([]byte(key))
		sum.Write([]byte{'\n'})
	}
	if len(k.at) == 0 {
		return refuse(errors.New("it lists no key"), "")
	}
	k.N, k.SHA256 = len(k.at), hex.EncodeToString(sum.Sum(nil))
	k.seen = make([]atomic.Bool, k.N)
	return k, nil
}

func pathless(err error) error {
	if e, ok := errors.AsType[*os.PathError](err); ok {
		return e.Err
	}
	return err
}

// restart marks all keys as not seen.
func (k *keySet) restart() {
	if k != nil {
		k.seen = make([]atomic.Bool, k.N)
		k.n.Store(0)
	}
}

// found reports whether a key is listed, and marks it as seen.
func (k *keySet) found(key string) bool {
	i, ok := k.at[key]
	if ok && !k.seen[i].Load() && k.seen[i].CompareAndSwap(false, true) {
		k.n.Add(1)
	}
	return ok
}

// missing returns how many keys were not seen.
func (k *keySet) missing() int64 {
	if k == nil {
		return 0
	}
	return int64(k.N) - k.n.Load()
}

// errUnknown means that no sample has a listed key.
var errUnknown = errors.New("no sample has")

// unknown returns an error that names the first key that was not seen.
func (k *keySet) unknown() error {
	n := k.missing()
	if n == 0 {
		return nil
	}
	first, at := "", uint32(math.MaxUint32)
	for key, i := range k.at {
		if i < at && !k.seen[i].Load() {
			first, at = key, i
		}
	}
	err := fmt.Errorf("%w the key %q", errUnknown, first)
	if n > 1 {
		err = fmt.Errorf("%w, nor %d others of the %d", err, n-1, k.N)
	}
	return &converters.Error{Where: k.name, Off: -1, Err: err, Hint: "option unknown-keys=skip takes those that are there"}
}
