package audit

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/lookup"
	"github.com/ffconvert/ffconvert/verify"
)

// unsigned returns the files in a dataset's directories of indexes and keys that no signature covers: indexes that the manifest
// does not name, and a table of keys that is not that of the indexes.
func (d *verifyDir) unsigned() (problems []verify.Problem, err error) {
	at := func(name string) string { return filepath.Join(d.path, filepath.FromSlash(name)) }
	extra, keys := d.manifest.Extra, func() error { return lookup.CheckKeys(d.path, lookup.Options{}) }
	if v := d.view; v != nil {
		at = v.At
		extra = func(string) ([]string, error) { return v.Extra(d.manifest) }
		keys = func() error { return lookup.CheckKeys(v.Path(""), lookup.Options{Open: v.OpenPath}) }
	}
	names, err := extra(d.path)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		problems = append(problems, verify.NewProblem(at(name), name, verify.Extra, errors.New("it is not in the signed manifest: remove it")))
	}
	if err = keys(); errors.Is(err, lookup.ErrKeys) {
		problems = append(problems, verify.NewProblem(at(dataset.KeysName), dataset.KeysName, verify.Changed, fmt.Errorf("%w: remove it, a search by key makes another one", err)))
		err = nil
	}
	return problems, err
}
