package input

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

func TestPipeCommand(t *testing.T) {
	t.Parallel()
	need.Shell(t)
	dir := tree(t, "notes.txt", "sub/")
	must(t, os.WriteFile(filepath.Join(dir, "run"), []byte("#!/bin/sh\n"), 0o755))
	const quoted = "no shell reads it"
	for _, tt := range []struct {
		name, line string
		want       []string // what follows the program
		err        error
		says       string
	}{
		{"plain", "cat a b", []string{"a", "b"}, nil, ""},
		{"spaces", "  cat   a\tb ", []string{"a", "b"}, nil, ""},
		{"double quotes", `cat "a b" ""`, []string{"a b", ""}, nil, ""},
		{"single quotes", `cat 'a "$b" \ | ; & > < ( ' `, []string{`a "$b" \ | ; & > < ( `}, nil, ""},
		{"adjacent quotes", `cat a'b 'c"d "e`, []string{"ab cd e"}, nil, ""},
		{"backslash", `cat a\ b \$HOME`, []string{"a b", "$HOME"}, nil, ""},
		{"apostrophe in quotes", `cat "it's" '"'`, []string{"it's", `"`}, nil, ""},
		{"operators in quotes", `cat "a|b;c&d>e<f(g)"`, []string{"a|b;c&d>e<f(g)"}, nil, ""},
		{"globs are letters", `cat *.tar ~ # x`, []string{"*.tar", "~", "#", "x"}, nil, ""},
		{"other scripts", `cat é漢`, []string{"é漢"}, nil, ""},
		{"a line end in quotes", "cat 'a\nb'", []string{"a\nb"}, nil, ""},
		{"an equals sign", "cat A=b", []string{"A=b"}, nil, ""},
		{"path", dir + "/run a", []string{"a"}, nil, ""},
		{"pipe", "cat a | gzip", nil, errPattern, `'|'`},
		{"semicolon", "cat a; rm b", nil, errPattern, `';'`},
		{"and", "cat a && rm b", nil, errPattern, `'&'`},
		{"redirect", "cat < a", nil, errPattern, `'<'`},
		{"redirect of 2", "cat a 2>/dev/null", nil, errPattern, `'>'`},
		{"other scripts and an operator", "cat é漢 > x", nil, errPattern, `'>'`},
		{"variable", "cat $HOME", nil, errPattern, `'$'`},
		{"variable in quotes", `cat "$HOME"`, nil, errPattern, `'$'`},
		{"variable after an apostrophe", `cat "it's $HOME"`, nil, errPattern, `'$'`},
		{"substitution", "cat $(ls)", nil, errPattern, `pipe:sh -c '…'`},
		{"backticks", "cat `ls`", nil, errPattern, quoted},
		{"backticks in quotes", "cat \"`ls`\"", nil, errPattern, quoted},
		{"lines", "cat a\nrm b", nil, errPattern, quoted},
		{"parentheses", "(cat a)", nil, errPattern, "cannot be split"},
		{"open quote", `cat "a`, nil, errPattern, "open quote"},
		{"backslash at the end", `cat a\`, nil, errPattern, "backslash"},
		{"nothing", "", nil, errPattern, "no program"},
		{"spaces alone", "  ", nil, errPattern, "no program"},
		{"an empty program", `"" a`, nil, errPattern, "no program"},
		{"invalid UTF-8", "cat \xff", nil, errPattern, "UTF-8"},
		{"no such program", "nosuch-program a", nil, ErrCommand, "no program nosuch-program is found"},
		{"no such path", dir + "/nosuch a", nil, ErrCommand, "is found"},
		{"no program", dir + "/notes.txt", nil, ErrCommand, "is not a program"},
		{"a directory", dir + "/sub", nil, ErrCommand, "sub"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, err := pipeCommand("pipe:"+tt.line, "pipe:shown")
			if tt.err == nil {
				if err != nil || !filepath.IsAbs(c.Args[0]) || !slices.Equal(c.Args[1:], tt.want) || c.Name != "pipe:shown" || !c.Sniff {
					t.Fatalf("got %+v, %v; want %q", c, err, tt.want)
				}
				return
			}
			if !errors.Is(err, tt.err) || !strings.Contains(err.Error(), tt.says) || !strings.HasPrefix(err.Error(), "pipe:shown: ") || strings.ContainsAny(err.Error(), "\n") {
				t.Fatalf("got %v, want %v saying %q", err, tt.err, tt.says)
			}
		})
	}
}

// A program is never that of the current directory.
func TestPipeCurrentDirectory(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "here"), []byte("#!/bin/sh\n"), 0o755))
	t.Chdir(dir)
	for _, path := range []string{".", "", "." + string(os.PathListSeparator) + "/bin"} {
		t.Setenv("PATH", path)
		if c, err := pipeCommand("pipe:here", "pipe:here"); !errors.Is(err, ErrCommand) {
			t.Errorf("PATH=%s: %+v, %v", path, c, err)
		}
	}
	if c, err := pipeCommand("pipe:./here", "pipe:./here"); err != nil || c.Args[0] != "./here" {
		t.Error(c, err)
	}
}

func TestFindPipe(t *testing.T) {
	t.Parallel()
	need.Shell(t)
	root := tree(t, "a.tar")
	opts := Options{AllowPipe: true, LookupEnv: noEnv}
	found, err := Find(t.Context(), []string{"pipe:cat a{0..1}", root + "/a.tar", "PIPE:cat 'https://u:pw@h/x?sig=y'"}, opts)
	must(t, err)
	var names []string
	for _, n := range found {
		names = append(names, n.Name)
		if (n.Command != nil) != strings.Contains(n.Name, ":") || n.Command != nil && (n.Size != -1 || n.Path != "" || n.Command.Name != n.Name) {
			t.Errorf("%+v", n)
		}
	}
	want := []string{"pipe:cat a0", "pipe:cat a1", root + "/a.tar", "PIPE:cat 'https://h/x?sig=REDACTED'"}
	if !slices.Equal(names, want) {
		t.Errorf("got %q", names)
	}
	if last := found[3].Command.Args; last[1] != "https://u:pw@h/x?sig=y" {
		t.Errorf("%q: what is run is not what is shown", last)
	}
	if _, err := Find(t.Context(), []string{"pipe:cat a", "pipe:cat a"}, opts); !errors.Is(err, errRepeated) {
		t.Error(err)
	}
	opts.AllowRepeats = true
	if found, err := Find(t.Context(), []string{"pipe:cat a", "pipe:cat a"}, opts); err != nil || len(found) != 2 {
		t.Error(found, err)
	}
	opts.Directories = true
	if _, err := Find(t.Context(), []string{"pipe:cat a"}, opts); !errors.Is(err, ErrScheme) {
		t.Error(err)
	}
	// What a rule or the environment makes of a name is run with leave only, too.
	for _, allow := range []bool{true, false} {
		for _, opts := range []Options{{Rewrite: []string{`s3://b/=pipe:cat `}, LookupEnv: noEnv}, {LookupEnv: func(k string) (string, bool) { return `s3://b/=pipe:cat `, k == "GOPEN_REWRITE" }}} {
			opts.AllowPipe = allow
			found, err := Find(t.Context(), []string{"s3://b/a.tar"}, opts)
			if allow && (err != nil || found[0].Name != "s3://b/a.tar" || !slices.Equal(found[0].Command.Args[1:], []string{"a.tar"})) || !allow && !errors.Is(err, ErrScheme) {
				t.Errorf("%t: %+v, %v", allow, found, err)
			}
		}
	}
}
