package scan

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
)

// A long digest is of all blocks, and ends with its context.
func TestDigest(t *testing.T) {
	t.Parallel()
	data := strings.Repeat("0123456789abcdef", 2*block/16) + "and a rest, and what follows"
	n := int64(2*block + len("and a rest"))
	sum := sha256.Sum256([]byte(data[:n]))
	says := hex.EncodeToString(sum[:])
	for _, row := range []struct {
		name string
		says any
		n    int64
		want error
	}{
		{"right", says, n, nil},
		{"in capitals", strings.ToUpper(says), n, nil},
		{"of a byte more", says, n + 1, converters.ErrMalformed},
		{"of a byte less", says, n - 1, converters.ErrMalformed},
		{"of more than there is", says, int64(len(data)) + 1, converters.ErrChanged},
		{"too short", says[1:], n, converters.ErrMalformed},
		{"a number", int64(7), n, converters.ErrMalformed},
	} {
		if err := digest(t.Context(), row.says, strings.NewReader(data), row.n); !errors.Is(err, row.want) {
			t.Errorf("%s: %v, want %v", row.name, err, row.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := digest(ctx, says, strings.NewReader(data), n); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
