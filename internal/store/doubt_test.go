package store

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
)

// What something names is not there only after it was asked for four times; other errors are final.
func TestFind(t *testing.T) {
	t.Parallel()
	denied := &Error{URL: "s3://b/x", Kind: ErrDenied}
	for _, row := range []struct {
		name    string
		missing int // times
		then    error
		want    error
		asked   int
	}{
		{"there", 0, nil, nil, 1},
		{"three wrong replies", 3, nil, nil, 4},
		{"not there", 100, nil, ErrNotFound, 4},
		{"denied", 1, denied, ErrDenied, 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			asked := 0
			o, err := Find(t.Context(), with(t, &fakeStore{statting: func() (Object, error) {
				if asked++; asked <= row.missing {
					return Object{}, &Error{URL: "s3://b/x", Kind: ErrNotFound, Status: 404, Err: statusText(404)}
				}
				return Object{Size: 7}, row.then
			}}, Options{}), "http://x/")
			if asked != row.asked || !errors.Is(err, row.want) || err == nil && o.Size != 7 {
				t.Errorf("%s: asked %d times, %+v, %v", row.name, asked, o, err)
			}
			if row.want == ErrNotFound && !strings.Contains(err.Error(), "no such object: asked for 4 times: HTTP 404") {
				t.Errorf("%s: %v", row.name, err)
			}
		})
	}
}

// A page of a list that is out of order, or a bucket that is said not to exist, is asked for again.
func TestDoubtfulList(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		wrong int
		want  error
	}{{"once", 1, nil}, {"for good", 100, ErrNoList}} {
		asked := 0
		c := with(t, &fakeStore{paging: func(string) ([]Object, string, error) {
			if asked++; asked <= row.wrong {
				return []Object{{URL: "http://x/b"}, {URL: "http://x/a"}}, "", nil
			}
			return []Object{{URL: "http://x/a"}, {URL: "http://x/b"}}, "", nil
		}}, Options{})
		var names []string
		var err error
		for o, e := range c.List(t.Context(), "http://x/") {
			if err = e; e == nil {
				names = append(names, o.URL)
			}
		}
		if !errors.Is(err, row.want) || err == nil && strings.Join(names, " ") != "http://x/a http://x/b" {
			t.Errorf("%s: %q, %v", row.name, names, err)
		}
	}
}
