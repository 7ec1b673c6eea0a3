package input

import (
	"errors"
	"testing"
)

func TestRewrite(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, gopen, wds, in, want string
	}{
		{"unset", "", "", "a/b.tar", "a/b.tar"},
		{"prefix", "gs://bucket/=/data/", "", "gs://bucket/a.tar", "/data/a.tar"},
		{"anchored", "b=x", "", "ab", "ab"},
		{"alternation is anchored", "x|b=y", "", "ab", "ab"},
		{"only the start", "a=b", "", "aaa", "baa"},
		{"first that changes", "a=a;a=b;a=c", "", "a.tar", "b.tar"},
		{"both variables", "q=r", "a=b", "a.tar", "b.tar"},
		{"gopen first", "a=c", "a=b", "a.tar", "c.tar"},
		{"group", `([a-z]+)-([0-9]+)=\2_\1`, "", "train-07.tar", "07_train.tar"},
		{"named group", `(?P<k>[a-z]+)-=\g<k>/`, "", "train-07.tar", "train/07.tar"},
		{"numbered group", `([a-z]+)-=\g<1>0`, "", "train-07.tar", "train007.tar"},
		{"whole match", `ab=\g<0>\g<0>`, "", "abc", "ababc"},
		{"unmatched group", `a(x)?=[\1]`, "", "ab", "[]b"},
		{"dollar is plain", `a=$1`, "", "ab", "$1b"},
		{"equals in replacement", `a=k=v/`, "", "ab", "k=v/b"},
		{"backslash", `a=\\`, "", "ab", `\b`},
		{"escaped dot stays", `a=\.`, "", "ab", `\.b`},
		{"empty rules", ";;a=b;", "", "a", "b"},
		{"to nothing", "file:=", "", "file:x", "x"},
		{"case", "(?i)ABC=x", "", "abcd", "xd"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rules, err := rewriteRules(func(k string) (string, bool) {
				v := map[string]string{"GOPEN_REWRITE": tt.gopen, "WDS_REWRITE": tt.wds}[k]
				return v, v != ""
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := rewrite(tt.in, rules); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	for _, bad := range []string{"a", "(=b", "(?=a)=b", `a=\1`, `a=\g<x>`, `a=\n`, `a=\0`} {
		_, err := rewriteRules(func(string) (string, bool) { return bad, true })
		if !errors.Is(err, ErrPattern) {
			t.Errorf("%q: got %v, want ErrPattern", bad, err)
		}
	}
}
