package csv

import (
	"errors"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
)

// The first row names the columns, is a row, or is refused, as the rows and the next part have it.
func TestFirstLine(t *testing.T) {
	t.Parallel()
	const names, row, refused = "names", "row", "refused"
	files := "img1.jpg,cat\nimg2.jpg,dog\nimg3.jpg,cat\nimg4.jpg,cow\n"
	for _, r := range []struct {
		name  string
		parts string // with | between
		want  string
	}{
		{"words above numbers", "x,y\na,1\n", names},
		{"words twice above numbers", "x,x\na,1\n", refused},
		{"an empty name above numbers, as pandas writes its index", ",text\n0,a\n1,b\n", refused},
		{"years above numbers", "id,2020\n1,5\n2,6\n", refused},
		{"a value that is missing above numbers", "?,3\n1,2\n", refused},
		{"numbers", "1,2\n3,4\n", row},
		{"a number beside words", "ann,1\nbob,2\n", row},
		{"two words of people", "ann,bob\ncarl,dave\n", refused},
		{"one row", "ann,bob\n", refused},
		{"nothing", "", row},
		{"one common name", "name,town\nann,york\nbob,bath\n", refused},
		{"two common names", "text,label\nI like it,good\nnot so,bad\n", names},
		{"two common names, of which one comes again", "text,label\nlabel,good\ntext,bad\n", row},
		{"common names beside what is no identifier", "text,label,1%?\na,b,c\n", refused},
		{"names of files", "picture,animal\n" + files, names},
		{"few names of files", "picture,animal\n" + files[:26], refused},
		{"names of files alone", files, row}, // cat comes again
		{"names of files, no value again", "img0.jpg,ant\nimg1.jpg,cat\nimg2.jpg,dog\nimg3.jpg,bee\nimg4.jpg,cow\n", refused},
		{"codes, but for one row", "picture,animal\n" + files + "none,bird\n", refused},
		{"a value that comes again", "I like it,good\nnot so,bad\nyes,good\n", row},
		{"an empty value", "ann,\nbob,carl\n", row},
		{"twice one word", "no,no\nyes,no idea\n", row},
		{"a long text", strings.Repeat("word ", 13) + ",ann\nbob,carl\n", row},
		{"two parts that begin with one row", "one,two\na,b\n|one,two\nc,d\n", names},
		{"a value again, two parts that begin with one row", "one,two\none,b\n|one,two\nc,d\n", names},
		{"two parts that begin with other rows", "ann,bob\nc,d\n|eve,dan\ne,f\n", row},
		{"two parts that begin with one word", "ann,label\nc,d\n|bob,label\ne,f\n", refused},
		{"an empty second part", "ann,bob\nc,d\n|", refused},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			var parts [][]byte
			for part := range strings.SplitSeq(r.parts, "|") {
				parts = append(parts, []byte(part))
			}
			src, err := openMemory(Options{FindHeader: true}, parts...)
			if (r.want == refused) != (err != nil) {
				t.Fatalf("%v; want %s", err, r.want)
			}
			if err != nil {
				var e *converters.Error
				if !errors.Is(err, converters.ErrUnsupported) || !errors.As(err, &e) || e.Entry != "row 1" || !strings.Contains(e.Hint, "option header=false") {
					t.Errorf("%v", err)
				}
				for _, opts := range []Options{{FindHeader: true, Header: true}, {}} { // what the hint says
					if _, err := openMemory(opts, parts...); err != nil && !strings.Contains(err.Error(), "two columns are named") {
						t.Errorf("%+v: %v", opts, err)
					}
				}
				return
			}
			says := src.Describe()
			if says.HeaderFound != (r.want == names) || says.HeaderMissed != (r.want == row && !strings.Contains(r.name, "number") && r.parts != "") {
				t.Errorf("%+v; want %s", says, r.want)
			}
			want := 0
			for p, part := range parts {
				want += strings.Count(string(part), "\n")
				if says.HeaderFound {
					want--
				}
				for span, err := range src.Index(t.Context(), p) {
					if err != nil {
						t.Fatal(err)
					}
					if span.Shape != nil {
						want--
					}
				}
			}
			if want != 0 {
				t.Errorf("%d rows too few", want)
			}
		})
	}
}

// A part that is not here yet is not waited for: what it begins with is not known.
func TestFirstLineNotHere(t *testing.T) {
	t.Parallel()
	src := inMemory(t, Options{}, []byte("one,two\na,b\n"))
	parts := append(src.Parts(), converters.Part{Name: "later"})
	if _, err := openSource(parts, Options{FindHeader: true}, src.open); !errors.Is(err, converters.ErrUnsupported) {
		t.Error(err)
	}
}
