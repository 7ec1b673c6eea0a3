// Command release makes the files of a release from the commit that is checked out:
//
//	go -C release run . -version v0.1.0 -out ../dist
//
//	ffconvert_0.1.0_linux_amd64.tar.gz    program, manual pages, completions, licences; zip for Windows
//	ffconvert_0.1.0_linux_amd64.cdx.json  components of the program: CycloneDX
//	ffconvert_0.1.0_amd64.deb             the same files for dpkg
//	ffconvert-0.1.0-1.x86_64.rpm          and for rpm
//	ffconvert-0.1.0-py3-none-….whl        the Python package with the program
//	SHA256SUMS                            of all of them
//
// The same commit, version, Go and zlib make the same bytes, in any directory and at any time: docs/releases.md.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

func main() {
	var r release
	root := flag.String("root", "..", "checkout whose commit is released")
	targets := flag.String("targets", "linux-amd64,linux-arm64,darwin-amd64,darwin-arm64,windows-amd64", "systems, separated by commas; that of this machine must be one of them")
	flag.StringVar(&r.version, "version", "", "version, as its tag is called: v0.1.0")
	flag.StringVar(&r.out, "out", filepath.Join("..", "dist"), "directory of the files; what an earlier release left there is removed")
	flag.BoolVar(&r.unmeasured, "unmeasured", false, "also if docs/performance.md is of other code")
	flag.Parse()
	err := errors.New("no arguments are wanted; see -help")
	if flag.NArg() == 0 {
		r.targets, err = parseTargets(*targets)
	}
	if err == nil {
		err = r.make(*root)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// A release is the files of one version.
type release struct {
	version string // v0.1.0
	out     string
	targets []target
	source  *source

	unmeasured bool // it may have code that docs/performance.md did not measure
}

var versionRE = regexp.MustCompile(`^v\d+\.\d+\.\d+(-rc\.?\d+)?$`)

// number returns the version without the v: 0.1.0.
func (r *release) number() string { return strings.TrimPrefix(r.version, "v") }

// make makes all files.
func (r *release) make(root string) (err error) {
	if !versionRE.MatchString(r.version) {
		return fmt.Errorf("-version %q: want one like v0.1.0 or v0.2.0-rc1", r.version)
	}
	if r.source, err = checkOut(root, r.version); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.source.remove()) }()
	if !r.unmeasured {
		if err := r.source.measured(); err != nil {
			return err
		}
	}
	work := filepath.Join(r.source.temporary, "work")
	for _, dir := range []string{r.out, work} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	if err := r.removeOld(); err != nil {
		return err
	}
	programs := make(map[target]string)
	for _, t := range r.targets {
		if programs[t], err = r.build(t, filepath.Join(work, t.String())); err != nil {
			return err
		}
	}
	host, ok := programs[target{runtime.GOOS, runtime.GOARCH}]
	if !ok {
		return fmt.Errorf("-targets lacks %s-%s: the program writes its manual pages itself", runtime.GOOS, runtime.GOARCH)
	}
	common, err := r.commonFiles(host, work)
	if err != nil {
		return err
	}
	for _, t := range r.targets {
		fmt.Fprintln(os.Stderr, "release:", t)
		if err := r.pack(t, programs[t], common); err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
	}
	return writeSums(r.out)
}

// pack makes the files of one system.
func (r *release) pack(t target, program string, common []file) error {
	modules, err := r.linked(t)
	if err != nil {
		return err
	}
	licences, err := thirdParty(r.version, modules)
	if err != nil {
		return err
	}
	files := slices.Concat(common, []file{{licencesName, licences, 0o644}})
	binary, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	base := filepath.Join(r.out, fmt.Sprintf("ffconvert_%s_%s_%s", r.number(), t.os, t.arch))
	if err := r.writeSBOM(base+".cdx.json", program, modules); err != nil {
		return err
	}
	if err := r.writeArchive(base, t, slices.Concat(files, []file{{t.programName(), binary, 0o755}})); err != nil {
		return err
	}
	if t.os == "linux" {
		if err := r.writePackages(t, program, files); err != nil {
			return err
		}
	}
	if t.os == "windows" {
		return nil // no wheel: docs/releases.md says what works there
	}
	return r.writeWheel(t, program, licences)
}

// removeOld removes what an earlier release left.
func (r *release) removeOld() error {
	for _, pattern := range []string{"ffconvert_*", "ffconvert-*", "SHA256SUMS"} {
		names, err := filepath.Glob(filepath.Join(r.out, pattern))
		if err != nil {
			return err
		}
		for _, name := range names {
			if err := os.Remove(name); err != nil {
				return err
			}
		}
	}
	return nil
}
