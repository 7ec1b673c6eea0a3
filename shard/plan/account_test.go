package plan

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
)

// Accounts add up to the same whatever the order of what they count, and their size is
// bounded however many names the fields have.
func TestAccount(t *testing.T) {
	t.Parallel()
	var sum, again Account
	for p := range 3 {
		var a Account
		a.skip(&converters.Span{Skip: "directory", Entries: 1})
		a.skip(&converters.Span{Skip: "fifo"})
		a.skip(&converters.Span{Skip: "missing end of archive", Accepted: true})
		for i := range maxSeen {
			a.saw(FieldCount{fmt.Sprint(p, "/", i), 1, 10})
		}
		sum.Merge(&a)
		again.Merge(&a)
	}
	if !reflect.DeepEqual(sum, again) {
		t.Error("the same accounts add up to different ones")
	}
	if sum.Entries != 6 || sum.EntriesSkipped() != 6 || sum.Skipped["fifo"] != 3 || sum.Accepted["missing end of archive"] != 3 {
		t.Errorf("entries %d, skipped %v, accepted %v", sum.Entries, sum.Skipped, sum.Accepted)
	}
	at, _ := sum.Seen.find(otherNames)
	others := sum.Seen[at]
	samples := int64(0)
	for _, c := range sum.Seen {
		samples += c.Samples
		if c.Bytes != 10*c.Samples {
			t.Errorf("%d bytes in %d samples", c.Bytes, c.Samples)
		}
	}
	if samples != 3*maxSeen || len(sum.Seen) > maxSeen+1 || others.Samples != 2*maxSeen {
		t.Errorf("%d samples under %d names, %+v under others", samples, len(sum.Seen), others)
	}
}

// Counts are in JSON what a map of them is, and come back.
func TestFieldCountsJSON(t *testing.T) {
	t.Parallel()
	want := map[string]FieldCount{"jpg": {"jpg", 3, 99}, "cls": {"cls", 1, 2}, "a<b>&\"\u2028é": {"a<b>&\"\u2028é", 5, 6}}
	var counts FieldCounts
	for name, c := range want {
		counts.add(FieldCount{name, c.Samples - 1, 0})
		counts.add(FieldCount{name, 1, c.Bytes})
	}
	for _, escape := range []bool{true, false} {
		text := func(v any) string {
			var b strings.Builder
			enc := json.NewEncoder(&b)
			enc.SetEscapeHTML(escape)
			if err := enc.Encode(map[string]any{"seen": v}); err != nil {
				t.Fatal(err)
			}
			return b.String()
		}
		if text(counts) != text(want) {
			t.Errorf("%s\nwant %s", text(counts), text(want))
		}
	}
	data, err := json.Marshal(counts)
	if err != nil {
		t.Fatal(err)
	}
	var back FieldCounts
	if err := json.Unmarshal(data, &back); err != nil || !slices.Equal(back, counts) {
		t.Errorf("%v comes back as %v, %v", counts, back, err)
	}
	for text, want := range map[string]bool{"null": true, "{}": true, "[]": false, `{"a":1}`: false} {
		if err := json.Unmarshal([]byte(text), new(FieldCounts)); (err == nil) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
	data, err = json.Marshal(struct {
		Fields FieldCounts `json:"fields"`
	}{})
	if err != nil || !strings.Contains(string(data), `"fields":null`) {
		t.Errorf("%s, %v", data, err)
	}
}
