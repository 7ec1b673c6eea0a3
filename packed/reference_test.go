package packed

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/pickle"
	"github.com/ffconvert/ffconvert/record"
)

// The reference implementation, HFAiLab/ffrecord 1.4.0, reads the sample that the names of a packed
// folder say, whatever number that is: -1 is what stands before its tables in memory, N the names
// themselves, more than that what comes after its list of files. docs/reliability.md lists its known
// faults. Here such a folder would open.
func TestReferenceNegativeIndex(t *testing.T) {
	t.Parallel()
	const files = 2
	for _, i := range []int64{-1, -2, -3, math.MinInt32, math.MinInt64, files, files + 1, math.MaxInt32, 1 << 32, 1<<32 + 1, math.MaxInt64} {
		for name, root := range map[string]*pickle.Dict{
			"at the top": {Items: []pickle.Item{{Key: "a", Int: 0}, {Key: "b", Int: i}}},
			"further down": {Items: []pickle.Item{{Key: "a", Int: 1}, {Key: "d", Dict: &pickle.Dict{
				Items: []pickle.Item{{Key: "b", Int: i}},
			}}}},
			"one more": {Items: []pickle.Item{{Key: "a", Int: 0}, {Key: "b", Int: 1}, {Key: "c", Int: i}}},
		} {
			_, err := Open(onDisk(t, shard(t, "first", "second", namesOf(root))), record.Options{})
			if !errors.Is(err, errMalformed) || !strings.Contains(err.Error(), fmt.Sprintf("sample %d of %d", i, files)) {
				t.Errorf("%s, sample %d: %v", name, i, err)
			}
		}
	}
	sound := open(t, onDisk(t, shard(t, "first", "second", namesOf(dict("a", 1, "b", 0)))))
	if b, err := sound.ReadFile("a"); err != nil || string(b) != "second" {
		t.Errorf("a sound one: %q, %v", b, err)
	}
}
