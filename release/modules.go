package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// licencesName is the file with the licences of everything that is in the program.
const licencesName = "THIRD_PARTY_LICENSES.txt"

// A module is something with a licence of its own that is linked into the program: a Go module, the
// standard library, or a vendored script.
type module struct {
	path    string // github.com/spf13/cobra, std, uPlot
	version string
	purl    string // package URL
	sum     string // h1:…, of Go modules
	texts   []licence
}

// A licence is one file.
type licence struct {
	name string // in the module
	text []byte
	ids  []string // of SPDX; none for notices
}

// ids returns the licences of a module, each once.
func (m *module) ids() (all []string) {
	for _, l := range m.texts {
		all = append(all, l.ids...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

var (
	licenceRE = regexp.MustCompile(`(?i)^(un)?(licen[sc]e|copying|copyright|notice|patents)([.-].*)?$|\.license$`)
	noticeRE  = regexp.MustCompile(`(?i)^(notice|patents|copyright)`)
)

// linked returns the modules of the program for a system, sorted by name.
func (r *release) linked(t target) ([]*module, error) {
	listed, err := outputWith(t.environment(), r.source.dir, "go", "list", "-deps", "-json=Dir,Standard,Module", "./cmd/ffconvert")
	if err != nil {
		return nil, err
	}
	goroot, err := output(r.source.dir, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	goVersion, err := output(r.source.dir, "go", "env", "GOVERSION")
	if err != nil {
		return nil, err
	}
	number := strings.TrimPrefix(goVersion, "go")
	std := &module{path: "std", version: number, purl: "pkg:golang/std@" + number}
	modules := map[string]*module{std.path: std}
	if err := std.read(goroot, goroot); err != nil {
		return nil, err
	}
	for d := json.NewDecoder(strings.NewReader(listed)); ; {
		var p struct {
			Dir      string
			Standard bool
			Module   *struct {
				Path, Version, Dir, Sum string
				Main                    bool
				Replace                 *struct{ Path string }
			}
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if p.Standard || p.Module.Main {
			continue
		}
		if p.Module.Replace != nil {
			return nil, fmt.Errorf("%s is replaced: a release is made of published modules", p.Module.Path)
		}
		m := modules[p.Module.Path]
		if m == nil {
			m = &module{path: p.Module.Path, version: p.Module.Version, sum: p.Module.Sum, purl: "pkg:golang/" + p.Module.Path + "@" + p.Module.Version}
			modules[m.path] = m
		}
		if err := m.read(p.Module.Dir, p.Dir); err != nil {
			return nil, err
		}
	}
	if err := r.vendored(modules); err != nil {
		return nil, err
	}
	all := make([]*module, 0, len(modules))
	for _, m := range modules {
		if len(m.ids()) == 0 {
			return nil, fmt.Errorf("%s %s: no licence that is known: a release must carry it", m.path, m.version)
		}
		slices.SortFunc(m.texts, func(a, b licence) int { return strings.Compare(a.name, b.name) })
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b *module) int { return strings.Compare(a.path, b.path) })
	return all, nil
}

// read reads the licences in dir, the directory of a package, and in its parents up to root.
func (m *module) read(root, dir string) error {
	for ; ; dir = filepath.Dir(dir) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if !e.Type().IsRegular() || !licenceRE.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
				continue
			}
			name, err := filepath.Rel(root, filepath.Join(dir, e.Name()))
			if err != nil {
				return err
			}
			if err := m.add(name, filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
		if dir == root || len(dir) <= len(root) {
			return nil
		}
	}
}

// add adds a licence file, once.
func (m *module) add(name, path string) error {
	if slices.ContainsFunc(m.texts, func(l licence) bool { return l.name == name }) {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	l := licence{name: name, text: text}
	if !noticeRE.MatchString(filepath.Base(name)) {
		for _, match := range licensecheck.Scan(text).Match {
			if !match.IsURL {
				l.ids = append(l.ids, match.ID)
			}
		}
		if len(l.ids) == 0 {
			return fmt.Errorf("%s: %s is a licence that is not known", m.path, name)
		}
	}
	m.texts = append(m.texts, l)
	return nil
}

var bannerRE = regexp.MustCompile(`^/\*! \S+ \(v(\d+\.\d+\.\d+)\)`)

// vendored adds the scripts of other people that the program embeds: NAME*.js with its NAME.LICENSE.
func (r *release) vendored(modules map[string]*module) error {
	names, err := filepath.Glob(filepath.Join(r.source.dir, "internal", "browse", "static", "*.LICENSE"))
	if err == nil && len(names) == 0 {
		err = errors.New("no licence of an embedded script in internal/browse/static")
	}
	if err != nil {
		return err
	}
	for _, path := range names {
		name := strings.TrimSuffix(filepath.Base(path), ".LICENSE")
		scripts, err := filepath.Glob(filepath.Join(filepath.Dir(path), name+".*js"))
		if err != nil || len(scripts) != 1 {
			return fmt.Errorf("%s: %d scripts: %w", path, len(scripts), err)
		}
		script, err := os.ReadFile(scripts[0])
		if err != nil {
			return err
		}
		banner := bannerRE.FindSubmatch(script)
		if banner == nil {
			return fmt.Errorf("%s does not begin with its version", scripts[0])
		}
		version := string(banner[1])
		m := &module{path: name, version: version, purl: "pkg:npm/" + strings.ToLower(name) + "@" + version}
		if err := m.add(filepath.Base(path), path); err != nil {
			return err
		}
		modules[m.path] = m
	}
	return nil
}

// thirdParty returns the text with all licences.
func thirdParty(version string, modules []*module) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "ffconvert %s is under the Apache License 2.0, in the file LICENSE. It contains the following, under licences that follow:\n\n", version)
	for _, m := range modules {
		fmt.Fprintf(&b, "  %s %s: %s\n", m.path, m.version, strings.Join(m.ids(), ", "))
	}
	for _, m := range modules {
		for _, l := range m.texts {
			fmt.Fprintf(&b, "\n%s\n%s %s: %s\n\n%s\n", strings.Repeat("=", 80), m.path, m.version, filepath.ToSlash(l.name), bytes.TrimSpace(l.text))
		}
	}
	return bytes.ReplaceAll(b.Bytes(), []byte("\r\n"), []byte("\n")), nil
}
