package input

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/internal/store"
	"github.com/ffconvert/ffconvert/internal/test/inputtest"
	"github.com/ffconvert/ffconvert/internal/text"
)

// listRows are lists, and the arguments that stand in them; nil: they are refused.
var listRows = []struct {
	name, text string
	want       []string
	says       string // of what is refused
}{
	{"one", "a.tar\n", []string{"a.tar"}, ""},
	{"no line end", "a.tar\nb.tar", []string{"a.tar", "b.tar"}, ""},
	{"carriage returns", "a.tar\r\n\r\n#x\r\nb.tar\r\n", []string{"a.tar", "b.tar"}, ""},
	{"a carriage return that ends no line", "a\rb\nc\r", []string{"a\rb", "c\r"}, ""},
	{"comments and blanks", "# names\n\n   \n\t\na.tar\n#\n", []string{"a.tar"}, ""},
	{"no comment", "a#b\n ./#c\n", []string{"a#b", " ./#c"}, ""},
	{"patterns", "a-{0..2}.tar\n*.tar\na::b\n", []string{"a-{0..2}.tar", "*.tar", "a::b"}, ""},
	{"spaces are of names", " a b \n", []string{" a b "}, ""},
	{"byte order mark", "\ufeffa\n\ufeffb\n", []string{"a", "\ufeffb"}, ""},
	{"byte order mark and a comment", "\ufeff# x\na\n", []string{"a"}, ""},
	{"no UTF-8", "\xff\xfe.tar\n", []string{"\xff\xfe.tar"}, ""},
	{"URLs and commands", "s3://b/x\npipe:cat 'a b'\n-\n", []string{"s3://b/x", "pipe:cat 'a b'", "-"}, ""},
	{"the longest line", strings.Repeat("x", maxPattern) + "\r\nb\n", []string{strings.Repeat("x", maxPattern), "b"}, ""},
	{"a line too long", "a\n" + strings.Repeat("x", maxPattern+1) + "\nb\n", nil, "line 2: more than 1048576 bytes"},
	{"a line much too long", strings.Repeat("x", 3*maxPattern), nil, "line 1: more than"},
	{"a zero byte", "a\nb\x00c\n", nil, "line 2: a zero byte"},
	{"a zero byte in a comment", "#\x00\n", nil, "line 1"},
	{"UTF-16", "a\x00\n\x00", nil, "line 1: a zero byte"},
	{"a list", "a\n@b\n", nil, "line 2: a list names no lists (./@… is a file of that name)"},
	{"empty", "", nil, "no names"},
	{"nothing but comments", "#a\n\n", nil, "no names"},
}

func TestLists(t *testing.T) {
	t.Parallel()
	for _, tt := range listRows {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, dir, "list", []byte(tt.text))
			f := inputtest.ObjectsOf()
			f.Objects["s3://b/list"] = tt.text
			opts := Options{LookupEnv: noEnv, Stdin: strings.NewReader(tt.text), Remote: f}
			for arg, shown := range map[string]string{"@" + dir + "/list": dir + "/list", "@file:" + dir + "/list": "file:" + dir + "/list", "@-": "standard input", "@s3://b/list": "s3://b/list"} {
				got, err := Lists(t.Context(), []string{"x{", arg, "y"}, opts)
				if tt.want == nil {
					if !errors.Is(err, errList) || !strings.HasPrefix(err.Error(), text.Name(shown)+": bad list of names: "+tt.says) {
						t.Errorf("%s: got %v", arg, err)
					}
					continue
				}
				want := slices.Concat([]string{"x{"}, tt.want, []string{"y"})
				if arg == "@-" && slices.Contains(tt.want, "-") {
					if !errors.Is(err, errRepeated) {
						t.Errorf("%s: %v", arg, err)
					}
					continue
				}
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("%s: got %.200q, %v", arg, got, err)
				}
			}
		})
	}
}

// Names of lists are found as arguments are, and errors say which line names what.
func TestFindLists(t *testing.T) {
	t.Parallel()
	root := tree(t, "a.tar", "b.tar", "d/c.tar")
	for _, tt := range []struct {
		name, text string
		args       []string
		want       []string
		err        error
		says       string
	}{
		{"in order", "@/b.tar\n@/[ab].tar\n", []string{"ROOT/d", "LIST"}, nil, errRepeated, "@/b.tar: given twice, at LIST:2 (leave"},
		{"patterns", "@/{b,a}.tar\ns3://x/0\n@/d/\n", []string{"LIST", "s3://x/1"}, []string{"@/b.tar", "@/a.tar", "s3://x/0", "@/d/c.tar", "s3://x/1"}, nil, ""},
		{"missing", "#\n@/no.tar\n", []string{"LIST"}, nil, ErrNotFound, "@/no.tar: no such file, at LIST:2 (check"},
		{"missing object", "s3://x/no\n", []string{"LIST"}, nil, ErrNotFound, "s3://x/no: no such object: HTTP 404 Not Found, at LIST:1 (check"},
		{"missing many", "@/no.tar\ns3://x/no\n@/a.tar\n", []string{"LIST", "ROOT/never"}, nil, ErrNotFound, "@/no.tar: no such file, at LIST:1: 3 names in all, also s3://x/no at LIST:2, @/never ("},
		{"bad pattern", "@/a.tar\n\n{a\n", []string{"LIST"}, nil, errPattern, "{a: bad pattern: unbalanced"},
		{"bad pattern says where", "@/a.tar\n\n{a\n", []string{"LIST"}, nil, errPattern, ", at LIST:3 ("},
		{"denied object says its own line", "s3://x/denied\n@/a.tar\n", []string{"LIST"}, nil, store.ErrDenied, "s3://x/denied: access denied, at LIST:1"},
		{"scheme", "hdfs://x\n", []string{"LIST"}, nil, ErrScheme, "at LIST:1"},
		{"zero byte", "a\nb\x00\n", []string{"LIST"}, nil, errList, "LIST: bad list of names: line 2: a zero byte"},
		{"too many", "@/{1..200}\n", []string{"LIST"}, nil, errPattern, "at LIST:1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			list := filepath.Join(t.TempDir(), "list")
			fix := strings.NewReplacer("@", root, "ROOT", root, "LIST", list)
			must(t, os.WriteFile(list, []byte(fix.Replace(tt.text)), 0o644))
			f := inputtest.ObjectsOf("s3://x/0", "s3://x/1")
			f.Fails["s3://x/denied"] = &store.Error{Kind: store.ErrDenied}
			for i := range tt.args {
				if tt.args[i] == "LIST" {
					tt.args[i] = "@" + list
				} else {
					tt.args[i] = fix.Replace(tt.args[i])
				}
			}
			for i := range tt.want {
				tt.want[i] = fix.Replace(tt.want[i])
			}
			got, err := findRemote(t, f, Options{MaxNames: 100}, tt.args...)
			if !errors.Is(err, tt.err) || tt.err != nil && !strings.Contains(err.Error(), fix.Replace(tt.says)) || !slices.Equal(got, tt.want) {
				t.Fatalf("got %q, %v; want %q, %v, saying %q", got, err, tt.want, tt.err, fix.Replace(tt.says))
			}
		})
	}
}

func TestListsRefused(t *testing.T) {
	t.Parallel()
	root := tree(t, "a.tar", "d/", "large")
	must(t, os.Truncate(root+"/large", maxList+1))
	must(t, syscall.Mkfifo(root+"/fifo", 0o644))
	f := inputtest.ObjectsOf("s3://x/short")
	f.Objects["https://h/large"] = strings.Repeat("a\n", maxList/2+1)
	f.Fails["fetch s3://x/short"] = &store.Error{Kind: store.ErrLength}
	for _, tt := range []struct {
		name string
		args []string
		opts Options
		want error
		says string
	}{
		{"missing", []string{"@ROOT/no"}, Options{}, ErrNotFound, "/no: no such file (@FILE is a list of names; ./@FILE is a file of that name)"},
		{"no name", []string{"@"}, Options{}, errList, "want @FILE"},
		{"directory", []string{"@ROOT/d"}, Options{}, ErrNotRegular, "a directory"},
		{"pipe", []string{"@ROOT/fifo"}, Options{}, ErrNotRegular, "@-"},
		{"large", []string{"@ROOT/large"}, Options{}, errList, "more than 67108864 bytes (give several)"},
		{"large by what comes", []string{"@-"}, Options{Stdin: endless{}}, errList, "more than 67108864 bytes (give several)"},
		{"large object", []string{"@https://h/large"}, Options{Remote: f}, errList, "more than 67108864 bytes"},
		{"no network", []string{"@https://h/large"}, Options{}, ErrScheme, "https:"},
		{"no network for directories", []string{"@https://h/large"}, Options{Directories: true}, ErrScheme, "https:"},
		{"missing object", []string{"@s3://x/no"}, Options{Remote: f}, ErrNotFound, "s3://x/no: no such object"},
		{"an object that breaks off", []string{"@s3://x/short"}, Options{Remote: f}, store.ErrLength, "s3://x/short: wrong length"},
		{"a program", []string{"@pipe:cat x"}, Options{AllowPipe: true}, ErrScheme, "@-"},
		{"another scheme", []string{"@hdfs:x"}, Options{}, ErrScheme, ""},
		{"standard input twice", []string{"@-", "@-"}, Options{Stdin: strings.NewReader("a\n")}, errRepeated, "standard input"},
		{"standard input as an input, too", []string{"@-", "-"}, Options{Stdin: strings.NewReader("a\n")}, errRepeated, "standard input"},
		{"standard input as an input before", []string{"-", "@-"}, Options{Stdin: strings.NewReader("a\n")}, errRepeated, "standard input"},
		{"a failing standard input", []string{"@-"}, Options{Stdin: brokenReader{}}, syscall.EIO, "standard input"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for i := range tt.args {
				tt.args[i] = strings.ReplaceAll(tt.args[i], "ROOT", root)
			}
			tt.opts.LookupEnv = noEnv
			_, err := Lists(t.Context(), tt.args, tt.opts)
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v, want %v saying %q", err, tt.want, tt.says)
			}
			if tt.opts.Stdin == nil {
				if _, err := Find(t.Context(), tt.args, tt.opts); !errors.Is(err, tt.want) {
					t.Errorf("Find: %v", err)
				}
			}
		})
	}
}

type endless struct{}

var comments = strings.Repeat("#"+strings.Repeat("x", 1022)+"\n", 64)

func (endless) Read(p []byte) (int, error) {
	return copy(p, comments), nil
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, syscall.EIO }

// A file whose name begins with @ is that file, and a list is read by a rewritten name.
func TestListNames(t *testing.T) {
	dir := tree(t, "@a.tar", "a.tar", "b.tar")
	write(t, dir, "list", []byte("@a.tar\nb.tar\n"))
	t.Chdir(dir)
	for _, args := range [][]string{{"@a.tar", "b.tar"}, {"@list"}} {
		found, err := Find(t.Context(), args, Options{LookupEnv: noEnv})
		if err != nil || len(found) != 2 || found[0].Name != "@a.tar" || found[1].Name != "b.tar" {
			t.Errorf("%q: %+v, %v", args, found, err)
		}
	}
	opts := Options{LookupEnv: noEnv, Rewrite: []string{"s3://b/="}}
	names, err := Lists(t.Context(), []string{"@s3://b/list"}, opts)
	if err != nil || !slices.Equal(names, []string{"@a.tar", "b.tar"}) {
		t.Error(names, err)
	}
}

func TestListCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("stop")
	r, w, err := os.Pipe()
	must(t, err)
	defer w.Close()
	defer r.Close()
	time.AfterFunc(20*time.Millisecond, func() { cancel(why) })
	if _, err := Lists(ctx, []string{"@-"}, Options{LookupEnv: noEnv, Stdin: r}); !errors.Is(err, why) {
		t.Error(err)
	}
}

func TestMemory(t *testing.T) {
	t.Parallel()
	var m memory
	for _, row := range []struct {
		off  int64
		data string
		ok   bool
	}{{5, "fgh", true}, {0, "abcde", true}, {-1, "x", false}, {maxList, "x", false}, {1 << 62, "x", false}} {
		if n, err := m.WriteAt([]byte(row.data), row.off); (err == nil) != row.ok || row.ok && n != len(row.data) {
			t.Errorf("%d: %d, %v", row.off, n, err)
		}
	}
	p := make([]byte, 4)
	if n, err := m.ReadAt(p, 2); n != 4 || err != nil || string(p) != "cdef" {
		t.Error(n, err, p)
	}
	if n, err := m.ReadAt(p, 6); n != 2 || err == nil {
		t.Error(n, err)
	}
	if _, err := m.ReadAt(p, 9); err == nil {
		t.Error("read behind the end")
	}
	if string(m.b) != "abcdefgh" {
		t.Errorf("%q", m.b)
	}
}
