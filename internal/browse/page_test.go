package browse

import (
	"errors"
	"testing"
)

// Forms lead back to pages of this server alone.
func TestLocal(t *testing.T) {
	t.Parallel()
	for to, want := range map[string]bool{
		"/": true, "/d/0/grid?where=a&from=60": true, "": false, "d/0/": false, "//evil.example/": false, `/\evil.example`: false,
		"http://evil.example/": false, "javascript:alert(1)": false, "/%zz": false, "\t//evil.example": false,
	} {
		if local(to) != want {
			t.Errorf("local(%q) = %v", to, !want)
		}
	}
}

// Names of files that are saved have no character that a shell, a system or a header takes for more.
func TestFileName(t *testing.T) {
	t.Parallel()
	x := &set{Name: "..out \"1\"\r\n"}
	for field, want := range map[string]string{"jpg": "out__1___-7-jpg", "../../etc/passwd": "out__1___-7-.._.._etc_passwd", "a;b|c$(d)": "out__1___-7-a_b_c__d_", "ä": "out__1___-7-_"} {
		if is := fileName(x, 7, field, nil); is != want {
			t.Errorf("field %q: %q, not %q", field, is, want)
		}
	}
	if is := fileName(x, 7, "jpg", errors.New("damage")); is != "out__1___-7-jpg.damaged" {
		t.Errorf("a damaged field: %q", is)
	}
}

// Counts of two datasets are paired by name, each once.
func TestPair(t *testing.T) {
	t.Parallel()
	all := pair([]twoCounts{{"a", 1, 0}, {"b", 2, 0}}, []twoCounts{{"c", 3, 0}, {"a", 4, 0}})
	want := []twoCounts{{"a", 1, 4}, {"b", 2, 0}, {"c", 0, 3}}
	if len(all) != 3 || all[0] != want[0] || all[1] != want[1] || all[2] != want[2] {
		t.Errorf("%v", all)
	}
}
