package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	pathpkg "path"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/cliflag"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/look"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/internal/text"
	"github.com/ffconvert/ffconvert/packed"
)

type listOptions struct {
	look.Lister
	recursive bool
	limits    folderLimits
}

func newListCommand() *cobra.Command {
	opts := listOptions{Lister: look.Lister{Format: formatValue()}}
	cmd := &cobra.Command{
		Use:   "ls OUT|FILE [PATH]",
		Short: "List the samples of a dataset, or the files of a packed folder",
		Long: `List the samples of a dataset or a shard in their order, a line each: the size of the record in
bytes, the key, or #N where there are no keys, and the label. Indexes and headers say so, and
no record is read. With -l all records are read and checked: number and fields are added, each with
the bytes that get writes of it. --where lists the samples for which an expression holds, and
reads records where that compares fields.

List a directory of a packed folder, its root where PATH is not given, in the order in
which its files are stored: size and name, a directory with a slash behind it.

` + exitStatus,
		Example: `  ffconvert ls out/ | head
  ffconvert ls out/ --format json | jq -r 'select(.size > 1e6).key'
  ffconvert ls out/ --where 'label=3 and jpg.size<1MiB'
  ffconvert ls -R images.ffr train/cats`,
		Args: cliflag.WantArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			path := ""
			if len(args) == 2 {
				path = args[1]
			}
			samples, err := opts.listsSamples(args[0])
			switch {
			case samples && (len(args) == 2 || opts.recursive):
				return inFolder(args[0], fmt.Errorf("%w: PATH and -R are for packed folders", packed.ErrNotPacked))
			case samples:
				return opts.Run(cmd.Context(), args[0], cmd.OutOrStdout())
			case err == nil && (opts.Long || opts.Where != ""):
				return inFolder(args[0], errors.New("-l and --where are for datasets: a packed folder has files without fields"))
			}
			return runList(opts, args[0], path, cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	flags.BoolVarP(&opts.Long, "long", "l", false, "list the fields of samples, too")
	flags.BoolVarP(&opts.recursive, "recursive", "R", false, "list what is in the directories of a packed folder too, by whole paths")
	flags.Var(&opts.Format, "format", "output: text, or json with an object a line")
	cliflag.AddWhere(flags, &opts.Where)
	opts.Add(flags)
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
		if opts.Format.Value == "json" {
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
		Args:    cliflag.WantArgs,
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

// listsSamples reports whether ls lists samples: of a directory, or of a shard that is not a packed folder.
func (o *listOptions) listsSamples(path string) (bool, error) {
	if st, err := os.Stat(path); convert.IsURL(path) || err == nil && st.IsDir() {
		return true, nil
	}
	f, err := o.limits.open(path)
	if err == nil {
		return false, f.Close()
	}
	return errors.Is(err, packed.ErrNotPacked), err
}
