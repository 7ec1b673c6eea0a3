package made

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// An sbom is what the tests read of a list of contents.
type sbom struct {
	SerialNumber string
	Metadata     struct {
		Component struct {
			Version string
			Hashes  []struct{ Content string }
		}
	}
	Components []struct {
		Name, Version, PURL string
		Licenses            []struct{ License struct{ ID string } }
	}
}

// unpack returns the program and the licences of the archive.
func unpack(t *testing.T) (program, licences string) {
	t.Helper()
	tool(t, "tar")
	dir := t.TempDir()
	run(t, exec.Command("tar", "-xzf", one(t, ".tar.gz"), "-C", dir, "--strip-components=1"))
	text, err := os.ReadFile(filepath.Join(dir, "THIRD_PARTY_LICENSES.txt"))
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "ffconvert"), string(text)
}

// Every module that the program was linked of is in the list of contents and in the licences, and nothing else.
func TestContentsAreTheProgram(t *testing.T) {
	document, err := os.ReadFile(one(t, ".cdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	var list sbom
	if err := json.Unmarshal(document, &list); err != nil {
		t.Fatal(err)
	}
	program, licences := unpack(t)
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"std " + strings.TrimPrefix(info.GoVersion, "go"), "uPlot 1.6.32"}
	for _, m := range info.Deps {
		want = append(want, m.Path+" "+m.Version)
	}
	var got []string
	for _, c := range list.Components {
		got = append(got, c.Name+" "+c.Version)
		if len(c.Licenses) == 0 {
			t.Errorf("%s has no licence", c.Name)
		}
		if !regexp.MustCompile(`(?m)^=+\n` + regexp.QuoteMeta(c.Name+" "+c.Version) + `: \S*(?i:licen[sc]e|copying)`).MatchString(licences) {
			t.Errorf("THIRD_PARTY_LICENSES.txt has no text of %s", c.Name)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("components\n%q\nwant\n%q", got, want)
	}
	if sum := strings.Fields(run(t, exec.Command("sha256sum", program)))[0]; list.Metadata.Component.Version != version || sum != list.Metadata.Component.Hashes[0].Content {
		t.Errorf("the list is of %+v; the program has %s", list.Metadata.Component, sum)
	}
	for _, text := range []string{"Copyright (c) 2022 Leon Sorokin", "Copyright 2009 The Go Authors", "This product includes software developed at MinIO, Inc.", "Permission is hereby granted, free of charge"} {
		if !strings.Contains(licences, text) {
			t.Errorf("THIRD_PARTY_LICENSES.txt lacks %q", text)
		}
	}
}

// The list is valid by the schema of CycloneDX, which its npm package carries.
func TestContentsAreValid(t *testing.T) {
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(cache, "ffconvert-node", "node_modules", "@cyclonedx", "cyclonedx-library", "res", "schema")
	if _, err := os.Stat(dir); err != nil && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	compiler := jsonschema.NewCompiler()
	const base = "http://cyclonedx.org/schema/"
	for _, name := range []string{"bom-1.6", "spdx", "jsf-0.82"} {
		name += ".SNAPSHOT.schema.json"
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err == nil {
			err = compiler.AddResource(base+name, schema)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	schema, err := compiler.Compile(base + "bom-1.6.SNAPSHOT.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	document, err := os.ReadFile(one(t, ".cdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	validate := func(document []byte) error {
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
		if err != nil {
			return err
		}
		return schema.Validate(value)
	}
	if err := validate(document); err != nil {
		t.Error(err)
	}
	if validate(bytes.Replace(document, []byte(`"Apache-2.0"`), []byte(`"Apache-2"`), 1)) == nil {
		t.Error("the schema accepts a licence that SPDX does not have")
	}
}

// The wheel is of the version, in each place where Python looks.
func TestWheel(t *testing.T) {
	tool(t, "python3")
	wheel := one(t, ".whl")
	const script = `import sys, zipfile
z = zipfile.ZipFile(sys.argv[1])
info = "ffconvert-0.0.1rc1.dist-info/"
names = z.namelist()
helper = "ffconvert/libffconvert.so" in names # of Linux; libdeflate is in it
assert helper == ("linux" in sys.argv[1]) == (info + "licenses/LICENSE.libdeflate" in names), names
assert info + "licenses/LICENSE" in names and info + "licenses/THIRD_PARTY_LICENSES.txt" in names, names
print(z.read(info + "METADATA").decode().count("License-File: ") - helper, "\nVersion: 0.0.1rc1\n" in z.read(info + "METADATA").decode())
sys.path.insert(0, sys.argv[1])
import ffconvert
print(ffconvert.__version__)`
	if said := run(t, exec.Command("python3", "-c", script, wheel)); said != "2 True\n0.0.1rc1\n" {
		t.Errorf("%s: %s", filepath.Base(wheel), fmt.Sprintf("%q", said))
	}
}
