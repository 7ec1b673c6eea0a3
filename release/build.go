package main

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A target is a system that programs are built for.
type target struct{ os, arch string }

func (t target) String() string { return t.os + "-" + t.arch }

func (t target) programName() string {
	if t.os == "windows" {
		return "ffconvert.exe"
	}
	return "ffconvert"
}

func parseTargets(list string) (targets []target, err error) {
	for name := range strings.SplitSeq(list, ",") {
		system, arch, ok := strings.Cut(name, "-")
		if !ok {
			return nil, fmt.Errorf("-targets %q: want linux-amd64 and the like", name)
		}
		targets = append(targets, target{system, arch})
	}
	return targets, nil
}

// environment returns variables for the go command, so that settings of the user do not change the program.
func (t target) environment() []string {
	return []string{"CGO_ENABLED=0", "GOOS=" + t.os, "GOARCH=" + t.arch, "GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS=", "GOEXPERIMENT=", "GOWORK=off", "GOFIPS140=off"}
}

// build builds the program into dir, and sees to it that it says which version and commit it is of.
func (r *release) build(t target, dir string) (program string, err error) {
	program = filepath.Join(dir, t.programName())
	fmt.Fprintln(os.Stderr, "release: building for", t)
	// Leaves out symbols and DWARF, a third of the size. Stack traces do not need them.
	_, err = outputWith(t.environment(), r.source.dir, "go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w", "-o", program, "./cmd/ffconvert")
	if err != nil {
		return "", err
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return "", err
	}
	settings := make(map[string]string)
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	if info.Main.Version != r.version || settings["vcs.revision"] != r.source.commit || settings["vcs.modified"] != "false" {
		return "", fmt.Errorf("%s says it is version %s of commit %s, modified %s; want %s of %s, unmodified",
			program, info.Main.Version, settings["vcs.revision"], settings["vcs.modified"], r.version, r.source.commit)
	}
	return program, nil
}

// writeWheel writes the wheel of a program.
func (r *release) writeWheel(t target, program string, licences []byte) error {
	file := filepath.Join(filepath.Dir(program), licencesName)
	if err := os.WriteFile(file, licences, 0o644); err != nil {
		return err
	}
	out, err := filepath.Abs(r.out)
	if err != nil {
		return err
	}
	version := strings.NewReplacer("-rc.", "rc", "-rc", "rc").Replace(r.number()) // PEP 440
	python := filepath.Join(r.source.dir, "python")
	args := []string{"wheel.py", program, t.String(), out, "--version", version, "--licenses", file}
	if t.os == "linux" {
		native := filepath.Join(filepath.Dir(program), "libffconvert.so")
		if _, err := output(python, "native/build.sh", t.String(), native); err != nil {
			return err
		}
		args = append(args, "--native", native)
	}
	_, err = output(python, "python3", args...)
	return err
}
