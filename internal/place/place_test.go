package place

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"
)

func TestKindOf(t *testing.T) {
	t.Parallel()
	corrupt, refused := New(Corrupt, "corrupt"), New(Refused, "refused")
	gone := &fs.PathError{Op: "open", Path: "a", Err: syscall.ENOENT}
	for _, row := range []struct {
		err  error
		want Kind
	}{
		{nil, None},
		{errors.New("internal"), None},
		{fmt.Errorf("read: %w", corrupt), Corrupt},
		{errors.Join(refused, corrupt, syscall.EIO), Corrupt},
		{fmt.Errorf("%w: %w", refused, syscall.EIO), IO},
		{gone, IO},
		{&Error{Where: "a", Off: -1, Err: gone}, Refused},
		{&Error{Where: "a", Off: -1, Err: gone, Kind: IO}, IO},
		{&Error{Where: "a", Off: -1, Err: errors.New("odd")}, Refused},
		{&Error{Where: "a", Off: -1, Err: corrupt}, Corrupt},
		{fs.ErrNotExist, Refused},
	} {
		if got := KindOf(row.err); got != row.want {
			t.Errorf("%v: kind %d, want %d", row.err, got, row.want)
		}
	}
}

// A key of megabytes is shown by its beginning, cut between characters.
func TestErrorIsShort(t *testing.T) {
	t.Parallel()
	e := &Error{Where: "a", Off: -1, Entry: "k" + strings.Repeat("é", 1<<20), Err: errors.New("bad")}
	if want := `a: "k` + strings.Repeat("é", 149) + `"…: bad`; e.Error() != want {
		t.Errorf("%.400s, want %s", e, want)
	}
}

func TestErrorIsOneLine(t *testing.T) {
	t.Parallel()
	e := &Error{Where: "a\nb", Off: 7, Entry: "m\x1b", Err: errors.New("bad"), Hint: "mend it"}
	if want := `"a\nb": offset 7: "m\x1b": bad (mend it)`; e.Error() != want {
		t.Errorf("%s, want %s", e, want)
	}
}
