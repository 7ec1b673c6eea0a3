package kubernetes

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// program is the one of the image, built by the command of the Containerfile.
var program string

func TestMain(m *testing.M) { os.Exit(run(m)) }

// together is how many schedules run at once: they wait for the device more than they work.
const together = "6"

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "ffconvert-kubernetes-*")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "ffconvert")
	if err := build(program); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := flag.Set("test.parallel", together); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// build runs the build command of the Containerfile, for this system and to another place.
func build(to string) error {
	stages, err := readContainerfile()
	if err != nil {
		return err
	}
	command := buildCommand(stages)
	const output = "-o bin/ffconvert "
	if !strings.Contains(command, output) {
		return fmt.Errorf("Containerfile: %q has no %s", command, output)
	}
	cmd := exec.Command("sh", "-ec", strings.Replace(command, output, `-o "$OUTPUT" `, 1))
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "OUTPUT="+to, "TARGETOS="+runtime.GOOS, "TARGETARCH="+runtime.GOARCH)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", command, err, out)
	}
	return nil
}
