package input

import (
	"errors"
	"strconv"
	"strings"
	"testing"
)

func TestRewrite(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, gopen, wds, in, want string
		given                      []string
	}{
		{"unset", "", "", "a/b.tar", "a/b.tar", nil},
		{"prefix", "gs://bucket/=/data/", "", "gs://bucket/a.tar", "/data/a.tar", nil},
		{"anchored", "b=x", "", "ab", "ab", nil},
		{"alternation is anchored", "x|b=y", "", "ab", "ab", nil},
		{"only the start", "a=b", "", "aaa", "baa", nil},
		{"first that changes", "a=a;a=b;a=c", "", "a.tar", "b.tar", nil},
		{"both variables", "q=r", "a=b", "a.tar", "b.tar", nil},
		{"gopen first", "a=c", "a=b", "a.tar", "c.tar", nil},
		{"group", `([a-z]+)-([0-9]+)=\2_\1`, "", "train-07.tar", "07_train.tar", nil},
		{"named group", `(?P<k>[a-z]+)-=\g<k>/`, "", "train-07.tar", "train/07.tar", nil},
		{"numbered group", `([a-z]+)-=\g<1>0`, "", "train-07.tar", "train007.tar", nil},
		{"whole match", `ab=\g<0>\g<0>`, "", "abc", "ababc", nil},
		{"unmatched group", `a(x)?=[\1]`, "", "ab", "[]b", nil},
		{"dollar is plain", `a=$1`, "", "ab", "$1b", nil},
		{"equals in replacement", `a=k=v/`, "", "ab", "k=v/b", nil},
		{"backslash", `a=\\`, "", "ab", `\b`, nil},
		{"escaped dot stays", `a=\.`, "", "ab", `\.b`, nil},
		{"empty rules", ";;a=b;", "", "a", "b", nil},
		{"to nothing", "file:=", "", "file:x", "x", nil},
		{"case", "(?i)ABC=x", "", "abcd", "xd", nil},
		{"given", "", "", "a.tar", "b.tar", []string{"a=b"}},
		{"given first", "a=c", "a=d", "a.tar", "b.tar", []string{"x=y", "a=b"}},
		{"given does not change", "a=c", "", "a.tar", "c.tar", []string{"a=a"}},
		{"given with a semicolon", "", "", "a;b.tar", "c.tar", []string{"a;b=c"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rules, err := rewriteRules(tt.given, func(k string) (string, bool) {
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
		_, err := rewriteRules(nil, func(string) (string, bool) { return bad, true })
		if !errors.Is(err, errPattern) || !strings.HasPrefix(err.Error(), "GOPEN_REWRITE: ") {
			t.Errorf("%q: got %v, want errPattern of GOPEN_REWRITE", bad, err)
		}
		_, err = rewriteRules([]string{bad}, noEnv)
		if !errors.Is(err, errPattern) || !strings.HasPrefix(err.Error(), bad+": ") && !strings.HasPrefix(err.Error(), strconv.Quote(bad)+": ") || !strings.Contains(err.Error(), "option rewrite") {
			t.Errorf("%q: got %v, want errPattern of the rule", bad, err)
		}
	}
	for _, bad := range []string{`s3://b/=http://me:hunter2@h/\9`, `http://me:hunter2@h/(=x`, `http://me:hunter2@h/`, `x=http://h/?sig=hunter2&\9`} {
		_, err := rewriteRules([]string{bad}, noEnv)
		if !errors.Is(err, errPattern) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: got %v, want errPattern without the password", bad, err)
		}
		_, err = rewriteRules(nil, func(string) (string, bool) { return bad, true })
		if !errors.Is(err, errPattern) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: got %v, want errPattern without the password", bad, err)
		}
	}
}
