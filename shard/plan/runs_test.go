package plan

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
)

func TestPlanRuns(t *testing.T) {
	t.Parallel()
	for want, runs := range map[string]planRuns{
		`[]`:                        {},
		`[[0,0,0,1]]`:               {{Count: 1}},
		`[[3,0,512,7],[0,12,99,1]]`: {{Part: 3, Off: 512, Count: 7}, {First: 12, Off: 99, Count: 1}},
		`[[2147483647,9223372036854775807,9223372036854775807,9223372036854775807]]`: {{Part: math.MaxInt32, First: math.MaxInt64, Off: math.MaxInt64, Count: math.MaxInt64}},
	} {
		text, err := json.Marshal(runs)
		if err != nil || string(text) != want {
			t.Errorf("%v: %s, %v; want %s", runs, text, err, want)
		}
		var got planRuns
		if err := json.Unmarshal(text, &got); err != nil || !slices.Equal(got, runs) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
}

func TestPlanRunsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		``, `[`, `]`, `null`, `{}`, `"[]"`, `[[]]`, `[[1,2,3]]`, `[[1,2,3,4,5]]`, `[1,2,3,4]`, `[[1,2,3,4]`, `[[1,2,3,4],]`,
		`[,[1,2,3,4]]`, `[[1,2,3,4][1,2,3,4]]`, `[[1,2,3,4]]]`, `[[1,2,3,4]] `, ` [[1,2,3,4]]`, `[[1, 2,3,4]]`, `[[-1,2,3,4]]`,
		`[[1,2,3,4.0]]`, `[[1,2,3,1e3]]`, `[["1",2,3,4]]`, `[[null,2,3,4]]`, `[[,,,]]`, `[[1,2,3,9223372036854775808]]`, `[[1,2,3,99999999999999999999]]`,
	} {
		runs := planRuns{converters.Run{Part: 7}}
		if err := runs.UnmarshalJSON([]byte(text)); err == nil || len(runs) != 1 {
			t.Errorf("%s is taken: %v", text, runs)
		}
	}
}
