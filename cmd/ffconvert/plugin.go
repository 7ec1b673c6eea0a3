package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/cliflag"
	"github.com/ffconvert/ffconvert/convert/format"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/text"
)

// An executable on PATH called pluginPrefix + NAME becomes the command NAME, as with git and kubectl.
const pluginPrefix = "ffconvert-"

// pluginName is the pattern of plugin names. It excludes paths.
var pluginName = text.Pattern(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`)

// addPlugin adds the command of a plugin if the first argument names one, and not a built-in command.
func addPlugin(root *cobra.Command, args []string) error {
	if len(args) == 0 || !pluginName().MatchString(args[0]) {
		return nil
	}
	if found, _, err := root.Find(args[:1]); err == nil && found != root {
		return nil
	}
	path, err := exec.LookPath(pluginPrefix + args[0])
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return nil // cobra reports an unknown command
	case errors.Is(err, exec.ErrDot):
		return fmt.Errorf("%s: found in the current directory; name that directory in PATH by its full path to use it", path)
	case err != nil:
		return err
	}
	cmd := newPluginCommand(args[0], path)
	cliflag.Finish(cmd)
	root.AddCommand(cmd)
	return nil
}

// findPlugins returns the paths of the plugins on PATH, by name.
func findPlugins(root *cobra.Command) map[string]string {
	found := make(map[string]string)
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if !filepath.IsAbs(dir) {
			continue // plugins are not run from relative directories
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // a directory of PATH may be missing
		}
		for _, e := range entries {
			name, ok := strings.CutPrefix(e.Name(), pluginPrefix)
			if !ok || !pluginName().MatchString(name) || found[name] != "" || slices.ContainsFunc(root.Commands(), func(c *cobra.Command) bool { return c.Name() == name }) {
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

// newPluginCommand returns a command that converts the output of the executable at path.
func newPluginCommand(name, path string) *cobra.Command {
	f := sourceFormat{
		Format: format.Program(name),
		source: "[--] [ARGS...]",
		short:  "what " + path + " writes",
		long: `Run ` + path + ` with ARGS and convert the
samples that it writes to standard output, a CBOR sequence of maps. Flags of its own stand
behind --. Nothing is kept of its output unless it exits with status 0.`,
		plugin:  true,
		example: "  ffconvert " + name + " ARGS... out/",
	}
	cmd := newConvertCommand(f, func(c *conversion) {
		c.Program = func(string) (*input.Command, error) { return pluginProgram(name, path, c.Sources), nil }
	})
	cmd.Flags().SetInterspersed(false) // flags after the first argument are the plugin's
	return cmd
}

// pluginProgram returns the command line of a plugin.
func pluginProgram(name, path string, args []string) *input.Command {
	return &input.Command{Name: commandLine(pluginPrefix+name, args), Args: append([]string{path}, args...)}
}

// commandLine formats a command line for messages and manifests.
func commandLine(name string, args []string) string {
	for _, a := range args {
		if a == "" || strings.ContainsAny(a, " \t\n\"'\\$") {
			a = strconv.Quote(a)
		}
		name += " " + a
	}
	return name
}
