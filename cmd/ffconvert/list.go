package main

import (
	"fmt"
	"io"
	pathpkg "path"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/help"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/convert/option"
	"github.com/ffconvert/ffconvert/internal/text"
	"github.com/ffconvert/ffconvert/packed"
)

type listOptions struct {
	recursive bool
	format    option.Choice
	limits    folderLimits
}

func newListCommand() *cobra.Command {
	opts := listOptions{format: formatValue()}
	cmd := &cobra.Command{
		Use:   "ls FILE.ffr [PATH]",
		Short: "List a packed folder",
		Long: `List a directory of a packed folder, its root where PATH is not given, in the order in
which its files are stored: size and name, a directory with a slash behind it.

` + exitStatus,
		Example: `  ffconvert ls images.ffr
  ffconvert ls -R images.ffr train/cats`,
		Args: help.WantArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			path := ""
			if len(args) == 2 {
				path = args[1]
			}
			return runList(opts, args[0], path, cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	flags.BoolVarP(&opts.recursive, "recursive", "R", false, "list what is in the directories too, by whole paths")
	flags.Var(&opts.format, "format", "output: text, or json with an object a line")
	opts.limits.add(flags)
	return cmd
}

// listed is one line of ls --format json.
type listed struct {
	Path   string `json:"path"`
	Dir    bool   `json:"dir"`
	Size   int64  `json:"size"`             // bytes
	Sample *int64 `json:"sample,omitempty"` // index in the FFRecord file
}

func runList(opts listOptions, file, path string, stdout io.Writer) error {
	f, err := opts.limits.open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	enc := terminal.NewJSONEncoder(stdout)
	show := func(e packed.Entry, name string) error {
		if opts.format.Value == "json" {
			l := listed{Path: e.Path, Dir: e.IsDir(), Size: e.Size()}
			if !l.Dir {
				l.Sample = &e.Sample
			}
			return enc.Encode(l)
		}
		if e.IsDir() {
			name += "/"
		}
		_, err := fmt.Fprintf(stdout, "%12d  %s\n", e.Size(), text.Name(name))
		return err
	}
	if err := inside(path); err != nil {
		return inFolder(file, err)
	}
	if opts.recursive {
		for e, err := range f.Walk(path) {
			if err != nil {
				return inFolder(file, err)
			}
			if err := show(e, e.Path); err != nil {
				return err
			}
		}
		return nil
	}
	entries, err := f.List(path)
	if err != nil {
		return inFolder(file, err)
	}
	for _, e := range entries {
		if err := show(e, e.Name()); err != nil {
			return err
		}
	}
	return nil
}

func newCatCommand() *cobra.Command {
	var limits folderLimits
	cmd := &cobra.Command{
		Use:   "cat FILE.ffr PATH...",
		Short: "Write files of a packed folder to standard output",
		Long: `Write files of a packed folder to standard output, one behind the other. No byte of a file
is written before all of it was checked against its checksum.

` + exitStatus,
		Example: "  ffconvert cat images.ffr train/cats/1.jpg > 1.jpg",
		Args:    help.WantArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runCat(limits, args[0], args[1:], cmd.OutOrStdout())
		},
	}
	limits.add(cmd.Flags())
	return cmd
}

func runCat(limits folderLimits, file string, paths []string, stdout io.Writer) error {
	f, err := limits.open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	for _, path := range paths {
		if err := inside(path); err != nil {
			return inFolder(file, err)
		}
		data, err := f.ReadFile(packed.Clean(path))
		if err != nil {
			return inFolder(file, err)
		}
		if _, err := stdout.Write(data); err != nil {
			return err
		}
	}
	return nil
}

// inside refuses a path that leads out of the folder.
func inside(name string) error {
	if rel := pathpkg.Clean(strings.TrimLeft(name, "/")); rel == ".." || strings.HasPrefix(rel, "../") {
		return fmt.Errorf("%q leads out of the folder", name)
	}
	return nil
}

// inFolder adds the name of the packed folder to an error.
func inFolder(file string, err error) error { return fmt.Errorf("%s: %w", file, err) }
