package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/input"
)

// pluginPrefix is what the name of an executable begins with that becomes a command, as
// git and kubectl have it.
const pluginPrefix = "ffconvert-"

// pluginName is what may follow the prefix: nothing that leads to another directory.
var pluginName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`)

// addPlugin makes a command of the plugin that the arguments name, where no command of
// ours has that name.
func addPlugin(root *cobra.Command, args []string) error {
	if len(args) == 0 || !pluginName.MatchString(args[0]) {
		return nil
	}
	if found, _, err := root.Find(args[:1]); err == nil && found != root {
		return nil
	}
	path, err := exec.LookPath(pluginPrefix + args[0])
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return nil // cobra says that the command is unknown
	case errors.Is(err, exec.ErrDot):
		return fmt.Errorf("%s: found in the current directory; name that directory in PATH by its full path to use it", path)
	case err != nil:
		return err
	}
	root.AddCommand(newPluginCommand(args[0], path))
	return nil
}

// findPlugins returns the executables on PATH that become commands, by name.
func findPlugins(root *cobra.Command) map[string]string {
	found := make(map[string]string)
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if !filepath.IsAbs(dir) {
			continue // such are not run either
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // PATH names many directories that are not there
		}
		for _, e := range entries {
			name, ok := strings.CutPrefix(e.Name(), pluginPrefix)
			if !ok || !pluginName.MatchString(name) || found[name] != "" || slices.ContainsFunc(root.Commands(), func(c *cobra.Command) bool { return c.Name() == name }) {
				continue
			}
			path := filepath.Join(dir, e.Name())
			if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() && st.Mode().Perm()&0o111 != 0 {
				found[name] = path
			}
		}
	}
	return found
}

// newPluginCommand returns the conversion of what the executable at path writes.
func newPluginCommand(name, path string) *cobra.Command {
	f := format{
		Format: convert.ProgramFormat(name),
		source: "[--] [ARGS...]",
		short:  "what " + path + " writes",
		long: `Run ` + path + ` with ARGS and convert the
samples that it writes to standard output, a CBOR sequence of maps. Flags of its own stand
behind --. Nothing is kept of its output unless it exits with status 0.`,
		plugin:  true,
		example: "  ffconvert " + name + " ARGS... out/",
	}
	cmd := newConvertCommand(f, func(c *conversion) {
		c.Program = pluginProgram(name, path, c.Sources)
	})
	cmd.Flags().SetInterspersed(false) // what follows the first argument is the plugin's
	return cmd
}

// pluginProgram is a plugin with its arguments.
func pluginProgram(name, path string, args []string) *input.Command {
	return &input.Command{Name: commandLine(pluginPrefix+name, args), Args: append([]string{path}, args...)}
}

// commandLine prints a command, for people and manifests.
func commandLine(name string, args []string) string {
	for _, a := range args {
		if a == "" || strings.ContainsAny(a, " \t\n\"'\\$") {
			a = strconv.Quote(a)
		}
		name += " " + a
	}
	return name
}
