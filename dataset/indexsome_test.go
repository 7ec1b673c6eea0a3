package dataset

import (
	"context"
	"errors"
	"testing"

	"github.com/ffconvert/ffconvert/shard/plan"
)

// Who indexes some parts is stopped, and told of all that is wrong with them, as for all parts.
func TestIndexSome(t *testing.T) {
	t.Parallel()
	src, _, enc := IndexedFixture(t, 9, 4, 10)
	bad := errors.New("bad part")
	src.IndexErr = func(part int) error {
		if part == 1 {
			return bad
		}
		return nil
	}
	index, err := plan.Index(t.Context(), src, plan.IndexOptions{Encodings: enc, Only: []int{3, 0}, Workers: 2})
	if err != nil || len(index) != 2 || index[0].Name != src.Parts()[3].Name || index[0].Encode != 1 || index[1].Name != src.Parts()[0].Name {
		t.Errorf("%+v, %v", index, err)
	}
	if _, err := plan.Index(t.Context(), src, plan.IndexOptions{Encodings: enc, Only: []int{1, 2}, Workers: 2}); !errors.Is(err, bad) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := plan.Index(ctx, src, plan.IndexOptions{Encodings: enc, Only: []int{0}, Workers: 2}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
