package tar

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// webdataset's expressions, by Go's engine: of a sample's member, and of its metadata
// names. The '$' of the first knows no final newline, which here makes no difference:
// [^/]* takes it.
var (
	nameExpression = regexp.MustCompile(`^((?:.*/|)[^.]+)[.]([^/]*)$`)
	metaExpression = regexp.MustCompile(`^(?:__[^/]*__(?:\n?\z|/)|___?\z)`)
)

// groups is a slow model of grouping: a line a sample, of its key, its fields and the
// first bytes of digits, or false for what is to be refused.
func groups(names []string, digits string) (want []string, ok bool) {
	type sample struct {
		key, line string
		bad       bool
	}
	var all []sample
	fields := map[string]bool{}
	for i, name := range names {
		m := nameExpression.FindStringSubmatch(name)
		if m == nil || metaExpression.MatchString(name) {
			continue
		}
		field := strings.ToLower(m[2])
		switch {
		case !utf8.ValidString(m[1]), !utf8.ValidString(m[2]), strings.ContainsAny(m[2], "İΣ"):
			return nil, false
		case field == "__key__", field == "__url__":
			return nil, false
		case len(all) > 0 && all[len(all)-1].key == m[1] && fields[field]:
			return nil, false
		case len(all) == 0 || all[len(all)-1].key != m[1]:
			clear(fields)
			all = append(all, sample{key: m[1], line: m[1]})
		}
		fields[field] = true
		last := &all[len(all)-1]
		last.line += "\x00" + field + "\x00" + digits[:i]
		last.bad = last.bad || field == badField && i > 0
	}
	seen := map[string]bool{}
	for _, s := range all {
		switch {
		case s.bad:
			continue
		case seen[s.key]:
			return nil, false
		}
		seen[s.key] = true
		want = append(want, s.line)
	}
	return want, true
}

// FuzzGroup: of any names in any order, grouping makes the samples of the model, and
// refuses what that refuses.
func FuzzGroup(f *testing.F) {
	f.Add("a.jpg|a.cls|b.jpg")
	f.Add("d/.x|d/.y|d.z/.u|__m__|a\n/b.c")
	f.Add("a.JPG|a.jpg")
	f.Add("a.jpg|b.jpg|a.cls")
	f.Add("x.y/b.c.d|./a.jpg|../a.jpg|a.|a..b|dir/.hidden|./d/._a.jpg|.hidden|a|a.b/c|..a|x.y/.DS_Store")
	f.Add("__x__/a.b|__x__|__|___|__x__\n|__x/y__|a.É|a.é")
	f.Add("a.__bad__|b.x|b.__BAD__|c.__bad__x|b.x|a.__local_path__")
	f.Add("a.__key__|a.__url__|a.İ|a.ΑΣ|\xff.a|a.\xff")
	f.Fuzz(func(t *testing.T, text string) {
		const digits = "0123456789012345678901"
		names := strings.FieldsFunc(text, func(r rune) bool { return r == '|' })
		names = names[:min(len(names), 20)]
		var members [][]byte
		for i, name := range names {
			if len(name) > 80 || name[len(name)-1] == '/' || strings.Contains(name, "\x00") {
				return
			}
			members = append(members, regular(name, digits[:i]))
		}
		want, ok := groups(names, digits)
		got, err := contents(t, memory(Options{}, archive(members...)))
		if (err == nil) != ok {
			t.Fatalf("error %v, want one: %t", err, !ok)
		}
		if !ok {
			return
		}
		if len(got) != len(want) {
			t.Fatalf("%d samples, want %d", len(got), len(want))
		}
		for i, s := range got {
			text := s.Key
			for _, f := range s.Fields {
				text += "\x00" + f.Name + "\x00" + f.Data
			}
			if text != want[i] {
				t.Errorf("sample %d: %q, want %q", i, text, want[i])
			}
		}
	})
}
