package arch

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// maxParameters is how many parameters a function has at most; those that have more are counted.
const maxParameters = 5

// budget is how large the product may be, tests and test support aside. A limit goes down with what is removed; raising one
// takes a note in docs/decisions. A goal is where a limit is to end.
var budget = []struct {
	what        string
	limit, goal int
	count       func(product []*pkg) (n int, where string)
}{
	{"lines", 99260, 77000, sum(func(p *pkg) int { return p.lines })},
	{"exported names, methods among them", 1927, 1300, sum(func(p *pkg) int { return p.exported })},
	{"types", 970, 780, sum(func(p *pkg) int { return p.types })},
	{"interfaces", 31, 32, sum(func(p *pkg) int { return p.interfaces })},
	{"packages", 60, 59, sum(func(*pkg) int { return 1 })},
	{"functions of more than 5 parameters", 0, 0, sum(func(p *pkg) int { return len(p.crowded) })},
	{"methods of the largest type", 25, 25, methods},
	{"files of the largest package", 30, 30, largest(func(p *pkg) int { return len(p.files) })},
	{"packages of this module that one imports", 25, 25, largest(func(p *pkg) int { return len(p.imports) })},
	{"loops between folders at the top", 0, 0, loops},
}

// TestBudget fails when the tree has grown past a limit, and when it has shrunk by a fiftieth or more below one: the limit
// follows, so that what was gained is kept.
func TestBudget(t *testing.T) {
	t.Parallel()
	packages := product(t)
	for _, b := range budget {
		n, where := b.count(packages)
		t.Logf("%-42s %6d of %6d, goal %6d %s", b.what, n, b.limit, b.goal, where)
		switch {
		case n > b.limit:
			t.Errorf("%s: %d %s, the limit is %d: remove something, or decide in docs/decisions to raise it", b.what, n, where, b.limit)
		case n <= b.limit-max(1, b.limit/50):
			t.Errorf("%s: %d %s, the limit is %d: lower it", b.what, n, where, b.limit)
		}
	}
}

// sum adds a count of all packages.
func sum(of func(*pkg) int) func([]*pkg) (int, string) {
	return func(packages []*pkg) (n int, _ string) {
		for _, p := range packages {
			n += of(p)
		}
		return n, ""
	}
}

// largest returns the largest count of a package, and which that is.
func largest(of func(*pkg) int) func([]*pkg) (int, string) {
	return func(packages []*pkg) (n int, where string) {
		for _, p := range packages {
			if of(p) > n {
				n, where = of(p), "("+p.name+")"
			}
		}
		return n, where
	}
}

// methods returns the number of methods of the type that has most.
func methods(packages []*pkg) (n int, where string) {
	for _, p := range packages {
		for _, name := range slices.Sorted(maps.Keys(p.methods)) {
			if p.methods[name] > n {
				n, where = p.methods[name], fmt.Sprintf("(%s.%s)", p.name, name)
			}
		}
	}
	return n, where
}

// loops counts the pairs of folders at the top of the tree that import each other, over whatever number of packages. internal
// is none: its packages are helpers of any other.
func loops(packages []*pkg) (n int, where string) {
	imports := make(map[string]map[string]bool) // of folders
	for _, p := range packages {
		from, _, _ := strings.Cut(p.name, "/")
		for imported := range p.imports {
			to, _, _ := strings.Cut(imported, "/")
			if from == to || from == "internal" || to == "internal" {
				continue
			}
			if imports[from] == nil {
				imports[from] = make(map[string]bool)
			}
			imports[from][to] = true
		}
	}
	var pairs []string
	for _, a := range slices.Sorted(maps.Keys(imports)) {
		for _, b := range slices.Sorted(maps.Keys(imports)) {
			if a < b && reaches(imports, a, b) && reaches(imports, b, a) {
				pairs = append(pairs, a+" and "+b)
			}
		}
	}
	return len(pairs), fmt.Sprint(pairs)
}

// reaches reports whether folder a imports b, itself or by others.
func reaches(imports map[string]map[string]bool, a, b string) bool {
	seen := make(map[string]bool)
	var from func(string) bool
	from = func(f string) bool {
		for to := range imports[f] {
			if to == b {
				return true
			}
			if !seen[to] {
				seen[to] = true
				if from(to) {
					return true
				}
			}
		}
		return false
	}
	return from(a)
}
