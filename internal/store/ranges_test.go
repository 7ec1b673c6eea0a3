package store

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// Replies that do not fit what was asked for, one after the other.
func TestReplies(t *testing.T) {
	t.Parallel()
	cut := func(s string) io.Reader {
		return io.MultiReader(strings.NewReader(s), iotest.ErrReader(io.ErrUnexpectedEOF))
	}
	for _, row := range []struct {
		name    string
		size    int64
		replies func() []reply
		want    error
		says    string
	}{
		{"complete", 10, func() []reply { return []reply{{Body: body("0123456789"), N: 10, Size: 10}} }, nil, ""},
		{"of a size that nobody says", -1, func() []reply { return []reply{{Body: body("0123456789"), N: -1, Size: -1}} }, nil, ""},
		{"of a size that the reply says", -1, func() []reply { return []reply{{Body: body("0123456789"), N: 10, Size: 10}} }, nil, ""},
		{"more than is left", 10, func() []reply { return []reply{{Body: body("0123456789ab"), N: 12, Size: -1}} }, ErrLength, "12 bytes at offset 0 of 10"},
		{"a part of nobody knows what", -1, func() []reply { return []reply{{Body: body("01234"), N: 5, Size: -1}} }, ErrLength, "whose size is not said"},
		{"a part, after a break", -1, func() []reply {
			return []reply{{Body: io.NopCloser(cut("01234")), N: -1, Size: -1}, {Body: body("56789"), Off: 5, N: 5, Size: -1}}
		}, ErrLength, "whose size is not said"},
		{"all, after a break", -1, func() []reply {
			return []reply{{Body: io.NopCloser(cut("01234")), N: -1, Size: -1}, {Body: body("0123456789"), N: -1, Size: -1}}
		}, nil, ""},
		{"less, after a break", -1, func() []reply {
			return []reply{{Body: io.NopCloser(cut("01234")), N: -1, Size: -1}, {Body: body("012"), N: -1, Size: -1}}
		}, ErrChanged, "5 bytes have become 3"},
		{"others, after a break", -1, func() []reply {
			return []reply{{Body: io.NopCloser(cut("01234")), N: -1, Size: -1}, {Body: body("0123x56789"), N: -1, Size: -1}}
		}, ErrChanged, "other bytes"},
		{"another version", 10, func() []reply { return []reply{{Body: body("0123456789"), N: 10, Size: 10, Version: "2"}} }, ErrChanged, ""},
		{"another size, after a break", 10, func() []reply {
			return []reply{{Body: io.NopCloser(cut("01234")), N: 10, Size: 10}, {Body: body("56789a"), Off: 5, N: 6, Size: 11}}
		}, ErrChanged, "10 bytes have become 11"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			var asked int
			c := with(t, &fakeStore{getting: func(context.Context, int64, int64) (*reply, error) {
				asked++
				all := row.replies()
				return &all[min(asked, len(all))-1], nil
			}}, Options{})
			f, err := fetchObject(t, t.Context(), c, Object{URL: "http://x/y", Size: row.size, Version: "1", Sum: Sum{"md5", "781e5e245d69b566979b86e28d23f2c7"}})
			if !errors.Is(err, row.want) || (err == nil) != (row.want == nil) || err != nil && !strings.Contains(err.Error(), row.says) {
				t.Fatalf("got %v, want %v", err, row.want)
			}
			if err == nil {
				f.holds(t, []byte("0123456789"))
			}
			want := len(row.replies())
			if row.want != nil {
				want += doubts
			}
			if asked != want {
				t.Errorf("asked %d times", asked)
			}
		})
	}
}

func body(s string) io.ReadCloser { return io.NopCloser(strings.NewReader(s)) }
