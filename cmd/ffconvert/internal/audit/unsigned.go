package audit

import (
	"errors"
	"fmt"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/lookup"
	"github.com/ffconvert/ffconvert/verify"
)

// unsigned returns the files in a dataset's directories of indexes and keys that no signature covers: indexes that the manifest
// does not name, and a table of keys that is not that of the indexes.
func (d *verifyDir) unsigned() (problems []verify.Problem, err error) {
	names, err := d.data.Extra(d.manifest)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		problems = append(problems, verify.NewProblem(d.data.At(name), name, verify.Extra, errors.New("it is not in the signed manifest: remove it")))
	}
	var how lookup.Options
	if d.data.InBucket() {
		how.Open = d.data.OpenPath
	}
	if err = lookup.CheckKeys(d.data.Path(""), how); errors.Is(err, lookup.ErrKeys) {
		problems = append(problems, verify.NewProblem(d.data.At(dataset.KeysName), dataset.KeysName, verify.Changed, fmt.Errorf("%w: remove it, a search by key makes another one", err)))
		err = nil
	}
	return problems, err
}
