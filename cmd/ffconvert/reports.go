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
	format string
	file   *os.File
}

// createReports makes the files before anything is read, so that one that cannot be written is reported at once.
func createReports(list []string) (all reports, err error) {
	for _, text := range list {
		format, name, ok := strings.Cut(text, "=")
		var f *os.File
		switch {
		case !ok || name == "":
			err = fmt.Errorf("--report %q: want FORMAT=FILE, as sarif=verify.sarif", text)
		case !slices.Contains(findings.Formats(), format):
			err = fmt.Errorf("--report %q: want one of %s before the equals sign", text, strings.Join(findings.Formats(), ", "))
		default:
			f, err = createFile(name)
		}
		if err != nil {
			return nil, errors.Join(err, all.close())
		}
		all = append(all, reportFile{format, f})
	}
	return all, nil
}

// createFile makes a file, or empties it. A link that leads out of its directory is refused, as in all that ffconvert writes.
func createFile(name string) (*os.File, error) {
	root, err := os.OpenRoot(filepath.Dir(name))
	var f *os.File
	if err == nil {
		defer root.Close()
		f, err = root.Create(filepath.Base(name))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return f, nil
}

// write writes all documents, and closes the files.
func (r reports) write(document func(io.Writer, string) error) error {
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
