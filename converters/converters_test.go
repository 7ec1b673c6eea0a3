package converters

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestPartOpen(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		change func(p *Part) error
		want   error
	}{
		{"unchanged", func(*Part) error { return nil }, nil},
		{"time not checked", func(p *Part) error { p.ModTime = time.Time{}; return nil }, nil},
		{"grown", func(p *Part) error { return os.WriteFile(p.Path, []byte("0123456789"), 0o600) }, ErrChanged},
		{"modified", func(p *Part) error { return os.Chtimes(p.Path, time.Time{}, time.Unix(1, 0)) }, ErrChanged},
		{"gone", func(p *Part) error { return os.Remove(p.Path) }, os.ErrNotExist},
		{"a directory", func(p *Part) error { p.Path = filepath.Dir(p.Path); return nil }, ErrChanged},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			p := Part{Name: "named.tar", Path: filepath.Join(t.TempDir(), "staged")}
			if err := os.WriteFile(p.Path, []byte("01234"), 0o600); err != nil {
				t.Fatal(err)
			}
			st, err := os.Stat(p.Path)
			if err != nil {
				t.Fatal(err)
			}
			p.Size, p.ModTime = st.Size(), st.ModTime()
			if err := row.change(&p); err != nil {
				t.Fatal(err)
			}
			f, err := new(Files).Open(p, Whole)
			if !errors.Is(err, row.want) {
				t.Errorf("error %v, want %v", err, row.want)
			}
			var at *Error
			if err != nil && (!errors.As(err, &at) || at.Where != "named.tar") {
				t.Errorf("error %v does not name the part", err)
			}
			if f != nil {
				f.Close()
			}
		})
	}
}

// A staged copy is read through its sums, a plain file as it is.
func TestPartSums(t *testing.T) {
	t.Parallel()
	p := Part{Name: "named.tar", Path: filepath.Join(t.TempDir(), "staged"), Size: 5}
	if err := os.WriteFile(p.Path, []byte("01234"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, check := range []func(File) File{nil, refuse{}.Check} {
		p.Copy = &Copy{Check: check}
		for _, open := range []func() (File, error){p.Open, func() (File, error) { return new(Files).Open(p, ForRun(Run{Count: 1})) }} {
			f, err := open()
			if err != nil {
				t.Fatal(err)
			}
			_, plain := f.(*os.File)
			if n, err := f.ReadAt(make([]byte, 5), 0); plain != (check == nil) || (n == 5) != plain || (err == nil) != plain {
				t.Errorf("%T: %d, %v", f, n, err)
			}
			f.Close()
		}
	}
}

// refuse finds all bytes changed.
type refuse struct{}

func (refuse) Check(f File) File { return refused{f} }

type refused struct{ File }

func (refused) ReadAt([]byte, int64) (int, error) { return 0, ErrChanged }

func TestError(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]*Error{
		`a.tar: offset 512: "k\n": truncated (--flag)`: {Where: "a.tar", Off: 512, Entry: "k\n", Err: ErrTruncated, Hint: "--flag"},
		`a.tar: permission denied`:                     {Where: "a.tar", Off: -1, Err: syscall.EACCES},
	} {
		if err.Error() != want {
			t.Errorf("got  %s\nwant %s", err, want)
		}
		if !errors.Is(err, err.Err) {
			t.Errorf("%v hides its cause", err)
		}
	}
}

func TestValue(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		v      Value
		kind   Kind
		size   int64
		unread bool
	}{
		{"zero", Value{}, KindBytes, 0, false},
		{"bytes", Bytes([]byte("abc")), KindBytes, 3, false},
		{"opaque", Opaque(3), KindBytes, 3, true},
		{"opaque and empty", Opaque(0), KindBytes, 0, false},
		{"text", Text([]byte("grüß")), KindText, 6, false},
		{"int", Int(-7), KindInt, 0, false},
		{"float", Float(1.5), KindFloat, 0, false},
		{"nested", Nested([]any{1}), KindNested, 0, false},
	} {
		if row.v.Kind() != row.kind || row.v.Len() != row.size || row.v.Unread() != row.unread {
			t.Errorf("%s: kind %d, %d bytes, unread %v", row.name, row.v.Kind(), row.v.Len(), row.v.Unread())
		}
	}
	i, f, n, x := Int(-7), Float(1.5), Nested("x"), Text([]byte("t"))
	if i.Int() != -7 || f.Float() != 1.5 || n.Nested() != "x" || string(x.Data()) != "t" {
		t.Error("a value does not give back what it was made of")
	}
}

// It is not parallel: allocations are counted.
func TestValueAllocs(t *testing.T) {
	data := []byte("payload")
	if n := testing.AllocsPerRun(100, func() { sink = Bytes(data); sink = Int(5); sink = Float(2) }); n > 0 {
		t.Errorf("bytes and numbers cost %v allocations", n)
	}
}

var sink Value

func ExampleSample_Field() {
	s := Sample{Key: "000017", Fields: []Field{{"jpg", Bytes([]byte("…"))}, {"cls", Int(7)}}}
	cls, ok := s.Field("cls")
	fmt.Println(s.Key, cls.Int(), ok)
	// Output: 000017 7 true
}

// What changes in a copy is not said of the input that it was made of.
func TestPartCopyChanged(t *testing.T) {
	t.Parallel()
	p := Part{Name: "named.tar.gz", Path: filepath.Join(t.TempDir(), "staged"), Size: 5, ModTime: time.Unix(1, 0), Copy: &Copy{}}
	if err := os.WriteFile(p.Path, []byte("01234"), 0o600); err != nil {
		t.Fatal(err)
	}
	want := "named.tar.gz: its staged copy " + p.Path + ": changed since it was indexed: it was modified at "
	if _, err := p.Open(); !errors.Is(err, ErrChanged) || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error %v, want %s…", err, want)
	}
}

// A message names a part and an offset once: the error of its file has neither.
func TestPartErrorNamesOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "named.tar")
	if _, err := (Part{Name: path, Path: path}).Open(); !errors.Is(err, os.ErrNotExist) || strings.Count(err.Error(), "named.tar") != 1 {
		t.Errorf("open: %v", err)
	}
	if err := os.WriteFile(path, []byte("01234"), 0o600); err != nil {
		t.Fatal(err)
	}
	var files Files
	for _, how := range []Access{Cached, Whole, ForRun(Run{Count: 1}), ForRun(Run{Count: 2})} {
		f, err := files.Open(Part{Name: path, Path: path, Size: 5}, how)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.ReadAt(make([]byte, 1), -1); err == nil || strings.Contains(err.Error(), "named.tar") {
			t.Errorf("%+v: read before the start: %v", how, err)
		}
		if _, err := f.ReadAt(make([]byte, 6), 0); err != io.EOF {
			t.Errorf("%+v: read beyond the end: %v", how, err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}
