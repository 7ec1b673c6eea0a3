package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/internal/findings"
)

// addReport adds the flag --report, which may be repeated.
func addReport(flags *pflag.FlagSet, list *[]string) {
	flags.StringArrayVar(list, "report", nil, "another document of the same run, FORMAT=FILE with a FORMAT of --format; may be repeated")
}

// reports are the files that --report names.
type reports []reportFile

type reportFile struct {
	format findings.Format
	file   *os.File
}

// createReports makes the files before anything is read: what cannot be written is told at once.
func createReports(list []string) (all reports, err error) {
	for _, text := range list {
		format, name, ok := strings.Cut(text, "=")
		switch {
		case !ok || name == "":
			err = fmt.Errorf("--report %q: want FORMAT=FILE, as sarif=verify.sarif", text)
		case !slices.Contains(findings.Formats(), format):
			err = fmt.Errorf("--report %q: want one of %s before the equals sign", text, strings.Join(findings.Formats(), ", "))
		}
		if err == nil {
			var f *os.File
			if f, err = createFile(name); err == nil {
				all = append(all, reportFile{findings.Format(format), f})
			}
		}
		if err != nil {
			return nil, errors.Join(err, all.close())
		}
	}
	return all, nil
}

// createFile makes a file, or empties it. A link that leads out of its directory is refused, as in all that ffconvert writes.
func createFile(name string) (*os.File, error) {
	root, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	defer root.Close()
	f, err := root.Create(filepath.Base(name))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return f, nil
}

// write writes all documents, and closes the files.
func (r reports) write(document func(io.Writer, findings.Format) error) error {
	var errs []error
	for _, f := range r {
		errs = append(errs, document(f.file, f.format))
	}
	return errors.Join(append(errs, r.close())...)
}

// close closes the files. It may be called again.
func (r reports) close() error {
	var errs []error
	for _, f := range r {
		if err := f.file.Close(); !errors.Is(err, os.ErrClosed) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
