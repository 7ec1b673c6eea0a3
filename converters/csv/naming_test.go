package csv

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
)

func TestArrange(t *testing.T) {
	t.Parallel()
	loose, three := Naming{Prefix: "part-", SuffixLength: -1}, Naming{Prefix: "part-", SuffixLength: 3}
	counted := func(n Naming, parts int) Naming { n.Parts = parts; return n }
	for _, c := range []struct {
		name   string
		naming Naming
		names  string
		want   string // the parts, or
		err    error
		tells  []string // what the error names
	}{
		{name: "numeric order", naming: loose, names: "part-10 part-2 part-0 part-1 part-3 part-4 part-5 part-6 part-7 part-8 part-9", want: "part-0 part-1 part-2 part-3 part-4 part-5 part-6 part-7 part-8 part-9 part-10"},
		{name: "others", naming: loose, names: "_SUCCESS part-0 README part-list.txt .part-0.crc part-1 xpart-2 part-", want: "part-0 part-1"},
		{name: "extensions", naming: loose, names: "part-1.csv.gz part-0.csv part-2", want: "part-0.csv part-1.csv.gz part-2"},
		{name: "padded", naming: loose, names: "part-001 part-000 part-2", want: "part-000 part-001 part-2"},
		{name: "padded exactly", naming: three, names: "part-001.csv part-000 part-002", want: "part-000 part-001.csv part-002"},
		{name: "another prefix", naming: Naming{Prefix: "data.v1-", SuffixLength: -1}, names: "data.v1-0 data.v1-1.csv", want: "data.v1-0 data.v1-1.csv"},
		{name: "no prefix", naming: Naming{SuffixLength: -1}, names: "0.csv 1.csv notes.txt", want: "0.csv 1.csv"},
		{name: "gap", naming: loose, names: "part-0 part-1 part-3", err: fs.ErrNotExist, tells: []string{"part-2", "part-3"}},
		{name: "does not begin at 0", naming: loose, names: "part-1 part-2", err: fs.ErrNotExist, tells: []string{"part-0"}},
		{name: "gap, padded", naming: three, names: "part-000 part-002", err: fs.ErrNotExist, tells: []string{"part-001"}},
		{name: "none", naming: loose, names: "a b c", err: fs.ErrNotExist, tells: []string{"part-0", "3 names"}},
		{name: "doubled by padding", naming: loose, names: "part-0 part-1 part-01", err: converters.ErrDuplicate, tells: []string{"part-1", "part-01"}},
		{name: "doubled by extension", naming: loose, names: "part-0.csv part-0.tsv", err: converters.ErrDuplicate, tells: []string{"part-0.csv", "part-0.tsv"}},
		{name: "not padded", naming: three, names: "part-000 part-1", err: converters.ErrUnsupported, tells: []string{"part-1", "3 digits", "option part-name-suffix-length"}},
		{name: "padded too far", naming: three, names: "part-000 part-0001", err: converters.ErrUnsupported, tells: []string{"part-0001"}},
		{name: "padded where none is wanted", naming: Naming{Prefix: "part-"}, names: "part-00", err: converters.ErrUnsupported, tells: []string{"part-00"}},
		{name: "something behind the number", naming: loose, names: "part-0 part-1-old", err: converters.ErrUnsupported, tells: []string{"part-1-old"}},
		{name: "a point behind the number", naming: loose, names: "part-0.", err: converters.ErrUnsupported, tells: []string{"part-0."}},
		{name: "a number of many digits", naming: loose, names: "part-0 part-99999999999999999999", err: converters.ErrUnsupported, tells: []string{"part-99999999999999999999"}},
		{name: "a large number", naming: loose, names: "part-0 part-9223372036854775807", err: fs.ErrNotExist, tells: []string{"part-1"}},
		{name: "so many parts", naming: counted(loose, 2), names: "part-1.csv part-0 part-2 part-01", want: "part-0 part-1.csv"},
		{name: "so many parts, padded", naming: counted(three, 2), names: "part-1 part-001.csv.gz part-000", want: "part-000 part-001.csv.gz"},
		{name: "a missing part", naming: counted(loose, 3), names: "part-0 part-2", err: fs.ErrNotExist, tells: []string{"part-1", "3 parts"}},
		{name: "a missing part, padded", naming: counted(three, 1), names: "part-0 part-00", err: fs.ErrNotExist, tells: []string{"part-000"}},
		{name: "so many parts, one doubled", naming: counted(loose, 2), names: "part-0 part-1 part-1.csv", err: converters.ErrDuplicate, tells: []string{"part-1.csv"}},
		{name: "more parts than there can be", naming: counted(loose, 1<<50), names: "part-0", err: fs.ErrNotExist, tells: []string{"part-1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := c.naming.Arrange(strings.Fields(c.names))
			if strings.Join(got, " ") != c.want || !errors.Is(err, c.err) {
				t.Errorf("%q, error %v; want %q, %v", got, err, c.want, c.err)
			}
			for _, name := range c.tells {
				if !strings.Contains(fmt.Sprint(err), name) {
					t.Errorf("error %v does not name %s", err, name)
				}
			}
		})
	}
}
