package arch

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// uses returns where a file uses any of the functions or types of the package that it
// imports by path.
func (f goFile) uses(path string, names ...string) (found []string) {
	var local string
	for _, spec := range f.ast.Imports {
		if spec.Path.Value != strconv.Quote(path) {
			continue
		}
		local = path[strings.LastIndexByte(path, '/')+1:]
		if spec.Name != nil {
			local = spec.Name.Name
		}
	}
	if local == "" {
		return nil
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := s.X.(*ast.Ident); ok && x.Name == local && (len(names) == 0 || slices.Contains(names, s.Sel.Name)) {
			found = append(found, f.set.Position(s.Pos()).String()+": "+path+"."+s.Sel.Name)
		}
		return true
	})
	return found
}

// Some packages have powers that few files may have. What is imported of others' code is
// not looked at: their packages are few, and go.mod lists them.
func TestSecurityPowers(t *testing.T) {
	t.Parallel()
	files := productFiles(t)
	for _, power := range []struct {
		what  string
		path  string
		names []string // none: all of the package
		may   []string // files, or packages, that may
	}{
		{"starts programs", "os/exec", []string{"Command", "CommandContext", "Cmd"}, []string{"dataset/cached/start_unix.go", "internal/stage/command.go", "internal/stage/guard.go", "internal/stage/guard_unix.go", "internal/stage/guard_other.go", "internal/browse/listen.go"}},
		{"looks for programs", "os/exec", []string{"LookPath"}, []string{"cmd/ffconvert", "internal/input/pipe.go"}},
		{"starts programs", "os", []string{"StartProcess"}, nil},
		{"starts programs", "syscall", []string{"Exec", "ForkExec", "StartProcess", "RawSyscall", "Syscall", "RawSyscall6", "Syscall6"}, nil},
		{"starts programs", "golang.org/x/sys/unix", []string{"Exec", "RawSyscall", "Syscall", "RawSyscall6", "Syscall6"}, []string{"aio/syscall_linux.go"}},
		{"loads code", "plugin", nil, nil},
		{"talks to the network", "net", nil, []string{"internal/store", "internal/browse", "dataset/cached"}},
		{"talks to the network", "net/http", nil, []string{"internal/store", "internal/browse"}},
		{"decodes types of the sender's choice", "encoding/gob", nil, nil},
		{"reads the environment", "os", []string{"Getenv", "LookupEnv", "Environ", "ExpandEnv", "Expand"}, []string{"internal/input/input.go", "internal/store/options.go", "cmd/ffconvert/plugin.go", "cmd/ffconvert/internal/cliflag/cache.go", "cmd/ffconvert/internal/cliflag/task.go", "cmd/ffconvert/internal/terminal/color.go"}},
		{"follows links when it writes", "os", []string{"Create", "WriteFile", "CreateTemp", "Rename", "Link", "Symlink", "Truncate", "Chmod", "Chown", "Chtimes", "CopyFS"}, nil},
		{"opens by path with flags", "os", []string{"OpenFile"}, []string{"aio/file.go", "converters/folder/level.go", "converters/folder/listread.go", "dataset/files.go", "internal/files/blocking_unix.go"}},
		{"makes directories by path", "os", []string{"Mkdir", "MkdirAll"}, []string{"dataset/cached/dir.go", "dataset/dir.go", "dataset/lookup/build.go", "internal/cache/cache.go", "cmd/ffconvert/internal/cliflag/man.go"}},
		{"removes by path", "os", []string{"Remove", "RemoveAll"}, []string{"dataset/dir.go", "internal/cache/cache.go", "convert/work.go", "cmd/ffconvert"}},
	} {
		used := false
		for _, f := range files {
			found := f.uses(power.path, power.names...)
			if slices.Contains(power.may, f.name) || slices.Contains(power.may, path.Dir(f.name)) {
				used = used || len(found) > 0
				continue
			}
			for _, where := range found {
				t.Errorf("%s: that %s; only %q may", where, power.what, power.may)
			}
		}
		if len(power.may) > 0 && !used {
			t.Errorf("nobody uses %s %q, although %q may: the rule is out of date", power.path, power.names, power.may)
		}
	}
}

// Nothing is handed to a shell, or to an interpreter. A name of one would stand in a
// string.
func TestSecurityNoShell(t *testing.T) {
	t.Parallel()
	forbidden := []string{"sh", "bash", "dash", "zsh", "/bin/sh", "/bin/bash", "cmd", "cmd.exe", "powershell", "python", "python3", "perl", "env", "/usr/bin/env", "-c", "/c"}
	for _, f := range productFiles(t) {
		ast.Inspect(f.ast, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			if text, err := strconv.Unquote(lit.Value); err == nil && slices.Contains(forbidden, text) {
				t.Errorf("%s: the string %q", f.set.Position(lit.Pos()), text)
			}
			return true
		})
	}
}

// Pickle is known to one package, which imports nothing that could act on what it reads.
func TestSecurityPickle(t *testing.T) {
	t.Parallel()
	harmless := []string{"cmp", "encoding/binary", "fmt", "math", "slices", "strings", "unicode/utf8"}
	for _, f := range productFiles(t) {
		for _, spec := range f.ast.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(strings.ToLower(imported), "pickle") && imported != module+"/internal/pickle" {
				t.Errorf("%s imports %s", f.name, imported)
			}
			if path.Dir(f.name) == "internal/pickle" && !slices.Contains(harmless, imported) {
				t.Errorf("%s imports %s; a pickle needs %q alone", f.name, imported, harmless)
			}
		}
	}
}
