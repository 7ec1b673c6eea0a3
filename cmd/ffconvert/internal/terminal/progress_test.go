package terminal

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/option"
)

func TestProgressEndsAtItsTotal(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name         string
		sizes        []int64 // of what is staged
		added        int64
		bytes, total int64
	}{
		{"half", []int64{60, 40}, 50, 50, 100},
		{"all", []int64{60, 40}, 100, 100, 100},
		{"some of it twice", []int64{60, 40}, 130, 100, 100},
		{"the size of one is not known", []int64{60, -1, 40}, 130, 130, 0},
		{"the size of the last is not known", []int64{60, -1}, 130, 130, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			r := &Reporter{mode: "json", out: &out}
			var found []input.Name
			for _, size := range row.sizes {
				found = append(found, input.Name{Size: size})
			}
			add := convert.Staging(r, found)
			add("x", row.added-1)
			add("x", 1)
			r.Stop()
			events := bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n")) // one more for each second that this takes
			var got state
			if err := json.Unmarshal(events[len(events)-1], &got); err != nil {
				t.Fatal(err)
			}
			if got.Phase != "stage" || got.Bytes != row.bytes || got.Total != row.total {
				t.Errorf("%+v", got)
			}
		})
	}
}

// What a filter answers is data of the phase that indexes, and only counted in the phase that writes.
func TestFiltered(t *testing.T) {
	t.Parallel()
	r := NewReporter(Progress{Choice: option.Choice{Value: "none"}}, os.Stderr)
	for _, row := range []struct {
		phase string
		bytes int64
	}{{"index", 70}, {"write", 0}} {
		r.Start(row.phase, 100)
		r.Filtered(3, 50)
		r.Filtered(1, 20)
		if s := r.state(); s.Filtered != 4 || s.Samples != 0 || s.Bytes != row.bytes {
			t.Errorf("%s: %+v", row.phase, s)
		}
		r.Stop()
	}
}
