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
	"github.com/ffconvert/ffconvert/internal/option"
)

// documents are the forms in which check and verify write their report: --format on standard output, and a file for each --report.
type documents struct {
	format option.Choice
	list   []string // FORMAT=FILE
	files  []documentFile
}

type documentFile struct {
	format string
	file   *os.File
}

// add registers the flags.
func (d *documents) add(flags *pflag.FlagSet) {
	d.format = option.Choice{Value: "text", Words: findings.Formats()}
	flags.Var(&d.format, "format", "output: text, json, junit, sarif, github or markdown")
	flags.StringArrayVar(&d.list, "report", nil, "another document of the same run, FORMAT=FILE with a FORMAT of --format; may be repeated")
}

// textOnly reports whether the report is written for people alone.
func (d *documents) textOnly() bool { return d.format.Value == findings.Text && len(d.list) == 0 }

// create makes the files before any input is read, so that a file that cannot be written is reported at once.
func (d *documents) create() error {
	for _, text := range d.list {
		format, name, ok := strings.Cut(text, "=")
		var f *os.File
		var err error
		switch {
		case !ok || name == "":
			err = fmt.Errorf("--report %q: want FORMAT=FILE, as sarif=verify.sarif", text)
		case !slices.Contains(findings.Formats(), format):
			err = fmt.Errorf("--report %q: want one of %s before the equals sign", text, strings.Join(findings.Formats(), ", "))
		default:
			f, err = createFile(name)
		}
		if err != nil {
			return errors.Join(err, d.close())
		}
		d.files = append(d.files, documentFile{format, f})
	}
	return nil
}

// createFile makes a file, or empties it. It refuses a link that leads out of its directory, as all of ffconvert does.
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
func (d *documents) write(stdout io.Writer, document func(w io.Writer, format string) error) error {
	errs := []error{document(stdout, d.format.Value)}
	for _, f := range d.files {
		errs = append(errs, document(f.file, f.format))
	}
	return errors.Join(append(errs, d.close())...)
}

// close closes the files. It may be called again.
func (d *documents) close() error {
	var errs []error
	for _, f := range d.files {
		if err := f.file.Close(); !errors.Is(err, os.ErrClosed) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
