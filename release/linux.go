package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	"github.com/goreleaser/nfpm/v2/rpm"
)

const (
	home        = "https://github.com/ffconvert/ffconvert"
	maintainer  = "The ffconvert authors <ffconvert@users.noreply.github.com>"
	summary     = "turn machine-learning datasets into FFRecord shards, and verify them"
	description = summary + `
ffconvert reads WebDataset tars, folders, CSV, Parquet, Arrow, TFRecord,
JSON Lines and others, writes FFRecord shards of even size, and proves that
these hold exactly their input. It verifies, repairs, exports and shows
datasets, too.`
)

// A place is where a package has a file of the archive; "" means that it does not have it.
type place func(name string) string

// debianPlace is the place of a file in a Debian package.
func debianPlace(name string) string {
	switch name {
	case "CHANGELOG.md":
		return "/usr/share/doc/ffconvert/CHANGELOG.md.gz"
	case "changelog":
		return "/usr/share/doc/ffconvert/changelog.gz"
	case "overrides":
		return "/usr/share/lintian/overrides/ffconvert"
	case "LICENSE":
		return "" // the file copyright names /usr/share/common-licenses
	case "completions/_ffconvert":
		return "/usr/share/zsh/vendor-completions/_ffconvert"
	}
	return linuxPlace(name)
}

// rpmPlace is the place of a file in an RPM.
func rpmPlace(name string) string {
	switch name {
	case "LICENSE", licencesName:
		return "/usr/share/licenses/ffconvert/" + name
	case "completions/_ffconvert":
		return "/usr/share/zsh/site-functions/_ffconvert"
	}
	return linuxPlace(name)
}

func linuxPlace(name string) string {
	switch name {
	case "completions/ffconvert.bash":
		return "/usr/share/bash-completion/completions/ffconvert"
	case "completions/ffconvert.fish":
		return "/usr/share/fish/vendor_completions.d/ffconvert.fish"
	case "completions/ffconvert.ps1":
		return ""
	}
	if page, ok := strings.CutPrefix(name, "man/"); ok {
		return "/usr/share/man/" + page + ".gz"
	}
	return "/usr/share/doc/ffconvert/" + name
}

// copyright is the file of that name in a Debian package.
const copyright = `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: ffconvert
Source: ` + home + `

Files: *
Copyright: 2026 The ffconvert authors
License: Apache-2.0
Comment: The program contains modules of other authors. ` + licencesName + ` in this directory
 has their copyrights and licences.

License: Apache-2.0
 On Debian systems the text of the Apache License, version 2.0, is in
 /usr/share/common-licenses/Apache-2.0.
`

// overrides say what Debian's lintian is not to wonder at.
const overrides = "ffconvert: statically-linked-binary [usr/bin/ffconvert]\n"

// debianChangelog is the changelog in Debian's form.
func (r *release) debianChangelog() []byte {
	version := strings.Replace(r.number(), "-rc", "~rc", 1)
	return fmt.Appendf(nil, "ffconvert (%s) stable; urgency=medium\n\n  * Release %s: CHANGELOG.md.gz in this directory.\n\n -- %s  %s\n",
		version, r.version, maintainer, r.source.time.Format(time.RFC1123Z))
}

// writePackages writes the .deb and the .rpm of a system.
func (r *release) writePackages(t target, program string, all []file) error {
	for _, p := range []struct {
		packager nfpm.PackagerWithExtension
		place    place
		licence  string // Debian has it in the file copyright alone
		more     []file
	}{
		{deb.Default, debianPlace, "", []file{{"copyright", []byte(copyright), 0o644}, {"changelog", r.debianChangelog(), 0o644}, {"overrides", []byte(overrides), 0o644}}},
		{rpm.DefaultRPM, rpmPlace, "Apache-2.0", nil},
	} {
		contents, err := r.contents(filepath.Join(filepath.Dir(program), "files"), p.place, slices.Concat(all, p.more))
		if err != nil {
			return err
		}
		contents = append(contents, r.content(program, "/usr/bin/ffconvert", 0o755))
		info := nfpm.WithDefaults(&nfpm.Info{
			Name: "ffconvert", Arch: t.arch, Platform: t.os, Version: r.version, Section: "utils", Priority: "optional",
			Maintainer: maintainer, Vendor: "ffconvert", Description: description, Homepage: home, License: p.licence, MTime: r.source.time,
			Overridables: nfpm.Overridables{
				Contents:   contents,
				Recommends: []string{"ca-certificates"}, // for https, s3 and gs
				RPM:        nfpm.RPM{BuildHost: "localhost", Summary: summary},
			},
		})
		if err := r.writePackage(info, p.packager); err != nil {
			return err
		}
	}
	return nil
}

func (r *release) writePackage(info *nfpm.Info, packager nfpm.PackagerWithExtension) error {
	if err := nfpm.PrepareForPackager(info, packager.ConventionalExtension()[1:]); err != nil {
		return err
	}
	name := filepath.Join(r.out, packager.ConventionalFileName(info))
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := packager.Package(info, f); err != nil {
		f.Close()
		return fmt.Errorf("%s: %w", name, err)
	}
	return f.Close()
}

// contents writes the files of a package below dir, from where nfpm reads them.
func (r *release) contents(dir string, where place, all []file) (contents files.Contents, err error) {
	for _, f := range all {
		to := where(f.name)
		if to == "" {
			continue
		}
		data := f.data
		if strings.HasSuffix(to, ".gz") {
			if data, err = compressed(data); err != nil {
				return nil, err
			}
		}
		from := filepath.Join(dir, filepath.FromSlash(to))
		if err := os.MkdirAll(filepath.Dir(from), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(from, data, 0o644); err != nil {
			return nil, err
		}
		contents = append(contents, r.content(from, to, f.mode))
	}
	return contents, nil
}

// content is a file of a package: of root, with the time of the commit.
func (r *release) content(from, to string, mode os.FileMode) *files.Content {
	return &files.Content{Source: from, Destination: to, FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: mode, MTime: r.source.time}}
}
