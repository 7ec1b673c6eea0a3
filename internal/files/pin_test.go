package files

import (
	"strings"
	"testing"
	"time"
)

func TestOf(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		pairs []string
		want  Pin
	}{
		{nil, ""},
		{[]string{"version", ""}, ""},
		{[]string{"version", "3", "etag", "a b=c"}, "etag=a%20b=c version=3"},
		{[]string{"etag", "first", "etag", "second"}, "etag=first"},
	} {
		if got := PinOf(row.pairs...); got != row.want {
			t.Errorf("%q: %q, want %q", row.pairs, got, row.want)
		}
	}
	long, longer := PinOf("etag", strings.Repeat("a", 1<<10)), PinOf("etag", strings.Repeat("a", 1<<10)+"b")
	if len(long) > 80 || long == longer {
		t.Errorf("%q %q", long, longer)
	}
}

func TestDiffers(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name     string
		was, now Pin
		how      string // "": they do not differ
	}{
		{"nothing known before", "", "etag=a", ""},
		{"nothing known now", "etag=a", "", ""},
		{"the same", "etag=a version=1", "etag=a version=1", ""},
		{"more is known now", "etag=a", "etag=a modified=7 sum64=9", ""},
		{"less is known now", "etag=a modified=7", "etag=a", ""},
		{"another version", "version=1", "version=2", "version was 1, is 2"},
		{"deleted and made anew", "sum64=a version=1", "sum64=b version=1", "sum64 was a, is b"},
		{"another time alone", "etag=a modified=7", "etag=a modified=8", "modified was 1970-01-01T00:00:00.000000007Z, is 1970-01-01T00:00:00.000000008Z"},
		{"a file, modified", PinOfTime(time.Unix(1, 5)), PinOfTime(time.Unix(2, 0)), "modified was 1970-01-01T00:00:01.000000005Z, is 1970-01-01T00:00:02Z"},
		{"a version, and more now", "version=1", "etag=a version=1", ""},
		{"the version alone is left", "etag=a version=1", "version=1", "known by etag, version before, by version now"},
		{"nothing in common", "etag=a", "sum64=a", "known by etag before, by sum64 now"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			how, other := row.was.Differs(row.now)
			if how != row.how || other != (row.how != "") {
				t.Errorf("%q %v, want %q", how, other, row.how)
			}
		})
	}
}

func TestTells(t *testing.T) {
	t.Parallel()
	for pin, want := range map[Pin]bool{"": false, "version=3": false, "etag=a": true, "modified=1 version=3": true} {
		if pin.Tells() != want {
			t.Errorf("%q: %v", pin, !want)
		}
	}
}
