package folder

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/convertertest"
)

// recipe makes files and a list of them, and more lines of texts alone, so that there are two parts.
func recipe(t *testing.T) (root, list string) {
	t.Helper()
	root = t.TempDir()
	var lines strings.Builder
	lines.WriteString("# made by a test\n\n")
	for i := range 3 {
		if err := os.WriteFile(filepath.Join(root, fmt.Sprintf("img %d", i)), []byte(strings.Repeat("x", 10+i)), 0o644); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&lines, "a/%d.JPG\tfile:img %d\r\na/%d.cls text:%d\n", i, i, i, i)
	}
	for i := range samplesInPart {
		fmt.Fprintf(&lines, "b/%d.txt   text:caption %d\n", i, i)
	}
	return root, lines.String()
}

func TestListSource(t *testing.T) {
	t.Parallel()
	convertertest.Test(t, func(t *testing.T) convertertest.Fixture {
		root, list := recipe(t)
		open := func(t *testing.T) converters.Source {
			l, err := OpenList(strings.NewReader(list), "list", root, Options{})
			if err != nil {
				t.Fatal(err)
			}
			return l
		}
		return convertertest.Fixture{Source: open(t), Files: []string{filepath.Join(root, "img 0")}, Reopen: open}
	})
}

func TestList(t *testing.T) {
	t.Parallel()
	root, list := recipe(t)
	l, err := OpenList(strings.NewReader("\ufeff"+list), "list", root, Options{Load: func(name string) bool { return name == "cls" }})
	if err != nil {
		t.Fatal(err)
	}
	if parts := l.Parts(); len(parts) != 2 || parts[0].Name != "list" || parts[1].Name != fmt.Sprint("list:", 2+6+samplesInPart-3+1) {
		t.Errorf("parts %+v", parts)
	}
	var got []string
	for span, err := range l.Index(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		s := span.Shape
		got = append(got, fmt.Sprintf("%d %s %s=%d", span.Off, s.Key, s.Fields[0].Name, s.Fields[0].Value.Len()))
		if len(got) == 4 {
			break
		}
		if cls, _ := s.Field("cls"); string(cls.Data()) != fmt.Sprint(len(got)-1) {
			t.Errorf("cls %q", cls.Data())
		}
	}
	if want := "0 a/0 jpg=10;11 a/1 jpg=11;23 a/2 jpg=12;36 b/0 txt=9"; strings.Join(got, ";") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, ";"), want)
	}
}

func TestListRefuses(t *testing.T) {
	t.Parallel()
	for list, want := range map[string]struct {
		err  error
		text string
	}{
		"a.jpg": {converters.ErrMalformed, `list: "a.jpg": line 1: malformed: want NAME SOURCE`},
		"\na x": {converters.ErrUnsupported, "line 2: not supported: the name has no suffix"},
		"a.jpg text:1\nb.jpg text:2\na.cls text:3": {converters.ErrDuplicate, "line 3: duplicate key"},
		"a.jpg text:1\na.JPG text:2":               {converters.ErrDuplicate, `line 2: duplicate field "jpg"`},
		"a.__key__ text:1":                         {converters.ErrUnsupported, "__key__"},
		"\xff.jpg text:1":                          {converters.ErrUnsupported, "UTF-8"},
		"a.jpg gone":                               {os.ErrNotExist, "gone"},
		"a.jpg pipe:cat x":                         {converters.ErrUnsupported, `line 1: not supported: a source "pipe:cat x"`},
		"a.jpg -":                                  {converters.ErrUnsupported, `a source "-"`},
		"a.jpg file:":                              {converters.ErrUnsupported, `a source "file:"`},
		"a.jpg file:gone":                          {os.ErrNotExist, "gone"},
		"a.jpg .":                                  {converters.ErrUnsupported, "not a regular file"},
		"a.jpg text:12\na.png text:3456":           {converters.ErrLimit, "5 bytes"},
	} {
		l, err := OpenList(strings.NewReader(list), "list", t.TempDir(), Options{MaxSample: 5})
		if err == nil {
			for _, err = range l.Index(t.Context(), 0) {
				if err != nil {
					break
				}
			}
		}
		if !errors.Is(err, want.err) || !strings.Contains(err.Error(), want.text) {
			t.Errorf("%q: %v", list, err)
		}
	}
}
