package arch

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/ffconvert/ffconvert"

// support lists what only tests and people who work on the tree run: it is no part of the product. A folder stands for all
// below it.
var support = []string{
	"converters/convertertest", "examples", "internal/arch", "internal/bench", "internal/faults", "internal/fuzz",
	"internal/golden", "internal/pages", "internal/slurm", "internal/test", "testdata",
}

// isIn reports whether package pkg is folder, or lies below it.
func isIn(pkg, folder string) bool { return pkg == folder || strings.HasPrefix(pkg, folder+"/") }

// isSupport reports whether pkg is test support.
func isSupport(pkg string) bool {
	return slices.ContainsFunc(support, func(folder string) bool { return isIn(pkg, folder) })
}

// A goFile is a file of this module, no test.
type goFile struct {
	name string // from the root, with slashes
	ast  *ast.File
	set  *token.FileSet
}

// A pkg is what the files of one package hold, tests aside.
type pkg struct {
	name       string
	files      []goFile
	lines      int
	exported   int                 // names of the package, and methods of its types
	types      int                 // declared, exported or not
	interfaces int                 // of these
	methods    map[string]int      // by type
	crowded    []string            // functions and methods of more than maxParameters parameters
	imports    map[string][]string // packages of this module, and the files that import them
	unsafe     []string            // files that import unsafe
}

// tree reads all packages of this module, once.
var tree = sync.OnceValues(func() (map[string]*pkg, error) {
	root := filepath.Join("..", "..")
	packages := make(map[string]*pkg)
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != root && elsewhere(name):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		p := packages[path.Dir(rel)]
		if p == nil {
			p = &pkg{name: path.Dir(rel), methods: make(map[string]int), imports: make(map[string][]string)}
			packages[p.name] = p
		}
		return p.read(name, rel)
	})
	return packages, err
})

// elsewhere reports whether a directory of the tree is none of this module: it is hidden, or a module of its own, which
// nothing here can import.
func elsewhere(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return strings.HasPrefix(filepath.Base(dir), ".") || err == nil
}

// read counts a file of the package.
func (p *pkg) read(name, rel string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	p.files = append(p.files, goFile{name: rel, ast: file, set: set})
	p.lines += bytes.Count(text, []byte("\n"))
	for _, spec := range file.Imports {
		imported := strings.Trim(spec.Path.Value, `"`)
		if imported == "unsafe" {
			p.unsafe = append(p.unsafe, rel)
		}
		if ours, ok := strings.CutPrefix(imported, module+"/"); ok {
			p.imports[ours] = append(p.imports[ours], rel)
		}
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			p.function(d, rel)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				p.declared(s)
			}
		}
	}
	return nil
}

// function counts a function or method.
func (p *pkg) function(f *ast.FuncDecl, file string) {
	if f.Name.IsExported() {
		p.exported++
	}
	if n := f.Type.Params.NumFields(); n > maxParameters {
		p.crowded = append(p.crowded, file+": "+f.Name.Name)
	}
	if f.Recv == nil {
		return
	}
	p.methods[receiver(f.Recv.List[0].Type)]++
}

// receiver returns the name of a receiver's type.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	}
	return e.(*ast.Ident).Name
}

// declared counts the names of a type, constant or variable declaration.
func (p *pkg) declared(spec ast.Spec) {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		p.types++
		if s.Name.IsExported() {
			p.exported++
		}
		if _, ok := s.Type.(*ast.InterfaceType); ok {
			p.interfaces++
		}
	case *ast.ValueSpec:
		for _, n := range s.Names {
			if n.IsExported() {
				p.exported++
			}
		}
	}
}

// product returns the packages that are no test support, sorted.
func product(t *testing.T) []*pkg {
	t.Helper()
	packages, err := tree()
	if err != nil {
		t.Fatal(err)
	}
	var found []*pkg
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		if !isSupport(name) {
			found = append(found, packages[name])
		}
	}
	return found
}

// productFiles returns all files of the product.
func productFiles(t *testing.T) (files []goFile) {
	t.Helper()
	for _, p := range product(t) {
		files = append(files, p.files...)
	}
	if len(files) < 100 {
		t.Fatalf("%d files of the product", len(files))
	}
	return files
}
