package convert_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/samples/choose"
)

// TestSumsNeedRereading: SHA-256 are computed when shards are re-read. A conversion that is not to do so is refused before it
// replaces anything.
func TestSumsNeedRereading(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "out")
	if _, err := of(t, "tar", out, choose.Options{}, tars()).Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	sign := func([]byte) ([]byte, error) { return nil, nil }
	for _, signed := range []bool{false, true} {
		c := of(t, "tar", out, choose.Options{}, filepath.Join("..", "testdata", "shards-000.tar"))
		c.Overwrite, c.NoVerify, c.SHA256 = true, true, !signed
		if signed {
			c.Sign = sign
		}
		if _, err := c.Write(t.Context()); err == nil || !strings.Contains(err.Error(), "no-verify") {
			t.Errorf("signed %v: %v", signed, err)
		}
	}
	if m, err := dataset.ReadManifest(out); err != nil || len(m.Sources) != 10 {
		t.Errorf("what was there: %+v, %v", m, err)
	}
}
