package text

import "testing"

func TestRule(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ expr, template, in, first, all string }{
		{`a`, `b`, "banana", "bbnana", "bbnbnb"},
		{`^(.)(.)`, `\2\1`, "xyz", "yxz", "yxz"},
		{`(?P<n>\d+)`, `<\g<n>>`, "a1b22", "a<1>b22", "a<1>b<22>"},
		{`(a)|(b)`, `[\1\2]`, "ab", "[a]b", "[a][b]"},
		{`x*`, `-`, "ab", "-ab", "-a-b-"},
		{`\.`, `\\`, "a.b", `a\b`, `a\b`},
		{`q`, ``, "abc", "abc", "abc"},
	} {
		r, err := ParseRule(row.expr, row.template)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.First(row.in); got != row.first {
			t.Errorf("first %s → %s in %s: %s", row.expr, row.template, row.in, got)
		}
		if got := string(r.All([]byte("+"), row.in)); got != "+"+row.all {
			t.Errorf("all %s → %s in %s: %s", row.expr, row.template, row.in, got)
		}
	}
	r, err := ParseRule(`^(?:images/(.*)\.jpg)$`, `masks/\1.+png`)
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{"images/a/b.jpg": "masks/a/b.+png", "images/a.jpgs": "", "x/images/a.jpg": ""} {
		if got, ok := r.Of(in); got != want || ok != (want != "") {
			t.Errorf("of %s: %q, %t", in, got, ok)
		}
	}
	for in, want := range map[string]bool{"masks/q/r.+png": true, "masks/q.png": false, "masks/q.+png.txt": false} {
		if got := r.Results().MatchString(in); got != want {
			t.Errorf("%s may come of the template: %t", in, got)
		}
	}
	for _, bad := range [][2]string{{"(", ""}, {"a", `\1`}, {"(a)", `\g<b>`}, {"a", `\n`}} {
		if _, err := ParseRule(bad[0], bad[1]); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}
