package kubernetes

import (
	"debug/elf"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// root is the tree that the image is built of.
var root = filepath.Join("..", "..")

// An instruction is one of the Containerfile, and its arguments.
type instruction struct{ name, args string }

// An image is the stages of the Containerfile: each begins with FROM.
type image [][]instruction

// stage returns the stage of that name; "" is the one that is built by default, the last.
func (i image) stage(name string) []instruction {
	for n, stage := range i {
		if n == len(i)-1 && name == "" || name != "" && strings.HasSuffix(stage[0].args, " AS "+name) {
			return stage
		}
	}
	return nil
}

// readContainerfile returns its instructions.
func readContainerfile() (stages image, err error) {
	text, err := os.ReadFile(filepath.Join(root, "Containerfile"))
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(strings.ReplaceAll(string(text), "\\\n", " ")) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		name, args, _ := strings.Cut(line, " ")
		if name == "FROM" {
			stages = append(stages, nil)
		}
		if len(stages) == 0 {
			return nil, fmt.Errorf("Containerfile: %q before the first FROM", line)
		}
		last := &stages[len(stages)-1]
		*last = append(*last, instruction{name, strings.TrimSpace(args)})
	}
	for _, name := range []string{"golang", "build", "base", "unpacked", "release"} {
		if stages.stage(name) == nil {
			return nil, fmt.Errorf("Containerfile: no stage %s", name)
		}
	}
	return stages, nil
}

func instructions(t *testing.T) image {
	t.Helper()
	stages, err := readContainerfile()
	if err != nil {
		t.Fatal(err)
	}
	return stages
}

// only returns the arguments of the one instruction of that name in a stage.
func only(t *testing.T, stage []instruction, name string) string {
	t.Helper()
	var found []string
	for _, i := range stage {
		if i.name == name {
			found = append(found, i.args)
		}
	}
	if len(found) != 1 {
		t.Fatalf("Containerfile: %s is there %d times", name, len(found))
	}
	return found[0]
}

// containerUser returns the user of the image, who is also its group.
func containerUser(t *testing.T) int64 {
	t.Helper()
	args := only(t, instructions(t).stage("base"), "USER")
	user, group, _ := strings.Cut(args, ":")
	n, err := strconv.ParseInt(user, 10, 64)
	if err != nil || n == 0 || group != user {
		t.Fatalf("USER %s; want a number for user and group, not 0: a cluster that asks for users who are not root knows no names", args)
	}
	return n
}

// buildCommand returns the command that builds the program in the image, as a shell takes it.
func buildCommand(stages image) string {
	for _, i := range stages.stage("build") {
		if i.name == "RUN" && strings.Contains(i.args, "go build") {
			return i.args
		}
	}
	return ""
}

// The image is built as make build builds, and holds what comes of it and certificates.
func TestImageIsBuiltAsMakeBuilds(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	recipe := regexp.MustCompile(`(?m)^build:.*\n\t\$\(GO\) (build .*)$`).FindSubmatch(makefile)
	if recipe == nil || !regexp.MustCompile(`(?m)^export CGO_ENABLED \?= 0$`).Match(makefile) {
		t.Fatal("Makefile: no such recipe of build")
	}
	stages := instructions(t)
	if want := "CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go " + string(recipe[1]); buildCommand(stages) != want {
		t.Errorf("Containerfile builds with\n%s\nwant\n%s", buildCommand(stages), want)
	}
	if from := only(t, stages.stage("base"), "FROM"); from != "scratch AS base" {
		t.Errorf("the image is made from %s", from)
	}
	built := only(t, stages.stage("build"), "WORKDIR") + "/" + string(regexp.MustCompile(`-o (\S+)`).FindSubmatch(recipe[1])[1])
	var entry []string
	if err := json.Unmarshal([]byte(only(t, stages.stage("base"), "ENTRYPOINT")), &entry); err != nil || len(entry) != 1 {
		t.Fatalf("ENTRYPOINT %q: %v; without a shell it is a list", entry, err)
	}
	certificates := "/etc/ssl/certs/ca-certificates.crt" // the first place where Go looks, and Debian's
	for stage, want := range map[string][]instruction{
		"base": {{"COPY", "--from=golang " + certificates + " " + certificates}},
		"":     {{"FROM", "base"}, {"COPY", "--from=build " + built + " " + entry[0]}},
		"release": {{"FROM", "base AS release"}, {"COPY", "--from=unpacked /ffconvert_*/ffconvert " + entry[0]},
			{"COPY", "--from=unpacked /ffconvert_*/LICENSE /ffconvert_*/THIRD_PARTY_LICENSES.txt /licenses/"}},
		"unpacked": {{"FROM", "scratch AS unpacked"}, {"ARG", "TARGETOS TARGETARCH"}, {"ADD", "dist/ffconvert_*_${TARGETOS}_${TARGETARCH}.tar.gz /"}},
	} {
		got := stages.stage(stage)
		if stage == "base" {
			got = slices.DeleteFunc(slices.Clone(got), func(i instruction) bool { return i.name != "COPY" })
		}
		if !slices.Equal(got, want) {
			t.Errorf("stage %q: %q; want %q", stage, got, want)
		}
	}
}

// What is copied from the tree is there, and is not kept from the builder.
func TestImageCopiesWhatIsThere(t *testing.T) {
	t.Parallel()
	ignored, err := os.ReadFile(filepath.Join(root, ".dockerignore"))
	if err != nil {
		t.Fatal(err)
	}
	sources := []string{"cmd/ffconvert", "shard", "converters"}
	for _, i := range instructions(t).stage("build") {
		if i.name == "COPY" {
			names := strings.Fields(i.args)
			sources = append(sources, names[:len(names)-1]...)
		}
	}
	for _, name := range sources {
		if _, err := os.Stat(filepath.Join(root, name)); err != nil {
			t.Errorf("Containerfile copies %v", err)
		}
		for pattern := range strings.Lines(string(ignored)) {
			pattern = strings.TrimPrefix(strings.TrimSpace(pattern), "/")
			if hidden, err := filepath.Match(pattern, name); hidden || err != nil {
				t.Errorf(".dockerignore: %s hides %s, %v", pattern, name, err)
			}
		}
	}
	module, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	needs := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(module)
	if from := only(t, instructions(t).stage("golang"), "FROM"); !strings.Contains(from, "/golang:"+string(needs[1])+" ") {
		t.Errorf("FROM %s; go.mod needs Go %s", from, needs[1])
	}
}

// The program is static: the image has no loader.
func TestProgramIsStatic(t *testing.T) {
	t.Parallel()
	f, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			t.Errorf("%v: it needs a loader", p.Type)
		}
	}
}
