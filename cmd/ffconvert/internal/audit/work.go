// Package audit does the work of verify: it finds the shards of the arguments, verifies them and reports. It also opens the
// inputs of check.
package audit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/hint"
	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/convert/format"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/bucket"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/shard/plan"
	"github.com/ffconvert/ffconvert/verify"
)

// work holds the directories and files to verify.
type work struct {
	want    Want
	dirs    []verifyDir
	files   []verify.Target
	refused []refusedArg
}

// A verifyDir is a directory of shards.
type verifyDir struct {
	path     string
	names    []string // shards in it
	manifest *dataset.Manifest
	repair   *dataset.Repairable // set by verify; nil if the directory has no manifest
	data     *dataset.Dataset
}

// Look finds the shards of the arguments. A directory, or a single shard, is compared with the
// manifest in its directory, if there is one.
// A URL is a dataset in an object store, which remote says how to reach. The caller closes the Work.
func Look(ctx context.Context, args []string, want Want, remote bucket.Options) *work {
	w := &work{want: want}
	for _, arg := range args {
		if err := w.add(ctx, arg, remote); err != nil {
			w.refused = append(w.refused, refusedArg{arg, err})
		}
	}
	return w
}

func (w *work) add(ctx context.Context, arg string, remote bucket.Options) error {
	if convert.IsURL(arg) {
		d, err := w.viewOf(ctx, arg, remote)
		if kind := place.KindOf(err); (kind == place.Corrupt || kind == place.Refused) && ctx.Err() == nil {
			d, err = w.viewOf(ctx, arg, remote) // a reply may have been wrong
		}
		if err == nil {
			w.dirs = append(w.dirs, d)
		}
		return err
	}
	st, err := os.Stat(arg)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: %w", arg, input.ErrNotFound)
	case errors.Is(err, syscall.ENOTDIR):
		return dataset.CheckPath(arg)
	}
	if err != nil {
		return err
	}
	if st.IsDir() {
		dir, err := w.dir(ctx, arg)
		if err == nil {
			w.dirs = append(w.dirs, dir)
		}
		return err
	}
	if w.want.some() {
		return fmt.Errorf("%s: %w", arg, errFile)
	}
	want, err := expectedOf(arg)
	if err == nil && want == nil {
		err = otherFile(arg)
	}
	if err == nil {
		w.files = append(w.files, verify.Target{Path: arg, Want: want})
	}
	return err
}

// otherFile returns an error if a file is certainly of another kind than a shard.
func otherFile(path string) error {
	r, err := record.Open(path, record.Options{AllowLegacy: true})
	if err == nil {
		return r.Close()
	}
	if err = hint.NotShards(path, err); errors.Is(err, format.ErrAnotherKind) {
		return err
	}
	return nil
}

func (w *work) dir(ctx context.Context, dir string) (verifyDir, error) {
	d := verifyDir{path: dir}
	var err error
	d.manifest, err = w.want.readManifest(dir, nil)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return d, err
	}
	if d.manifest == nil {
		switch _, err := os.Stat(filepath.Join(dir, dataset.WorkDir)); {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return d, err
		case err == nil:
			if _, err := convert.ReadStatus(ctx, dir, bucket.Options{}); errors.Is(err, plan.ErrDamaged) {
				return d, err
			}
			_, err := os.Lstat(filepath.Join(dir, dataset.CopyName))
			return d, unfinished(dir, err == nil)
		}
	}
	if d.manifest == nil && w.want.some() {
		return d, fmt.Errorf("%s: %w", dir, errNoManifest)
	}
	if d.data, err = dataset.View(dir); err != nil {
		return d, err
	}
	d.names, err = d.data.Shards()
	if err == nil && d.manifest == nil && len(d.names) == 0 {
		err = fmt.Errorf("%s: %w", dir, hint.ErrNoShards)
	}
	if err != nil {
		err = errors.Join(err, d.data.Close())
	}
	return d, err
}

// Verify verifies the directories one after another, then all the files.
func (w *work) Verify(ctx context.Context, how verify.Options) (*verify.Report, error) {
	var total *verify.Report
	for i := range w.dirs {
		report, err := w.dirs[i].verify(ctx, &w.want, how)
		if err != nil {
			return nil, err
		}
		total = total.Merge(report)
	}
	if len(w.files) > 0 {
		report, err := verify.Files(ctx, w.files, how)
		if err != nil {
			return nil, err
		}
		total = total.Merge(report)
	}
	if total == nil {
		total = &verify.Report{}
	}
	return total, nil
}

func (d *verifyDir) verify(ctx context.Context, want *Want, how verify.Options) (*verify.Report, error) {
	if d.manifest != nil {
		how = want.options(d.manifest, how)
	}
	var report *verify.Report
	var err error
	if d.data.InBucket() {
		how.Workers = max(how.Workers, 2) // one is fetched while another is read
	}
	report, d.repair, err = d.data.Verify(ctx, d.manifest, how)
	if err != nil || d.manifest == nil {
		return report, err
	}
	report.Proof = want.proof(d.manifest, report.Shards)
	if want.Key != nil {
		problems, err := d.unsigned()
		if err != nil {
			return nil, err
		}
		report.Problems = append(report.Problems, problems...)
	}
	return report, nil
}

// Repairs returns for each directory with a manifest whether it can be repaired.
func (w *work) Repairs() []*dataset.Repairable {
	var all []*dataset.Repairable
	for _, d := range w.dirs {
		if d.repair != nil {
			all = append(all, d.repair)
		}
	}
	return all
}

// expectedOf returns the entry of a file in the manifest of its directory; nil if there is none.
func expectedOf(path string) (*verify.Expect, error) {
	m, err := dataset.ReadManifest(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return m.ExpectOf(filepath.Base(path)), err
}

// Bytes returns the size of all shards that are read. Files that cannot be examined count as empty.
func (w *work) Bytes() int64 {
	total := int64(0)
	add := func(path string) {
		if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() {
			total += st.Size()
		}
	}
	for _, d := range w.dirs {
		var read map[string]bool
		if d.manifest != nil {
			read = w.want.reads(d.manifest)
		}
		if d.data.InBucket() {
			total += d.bytesByManifest(read)
			continue
		}
		for _, name := range d.names {
			if read == nil || read[name] {
				add(filepath.Join(d.path, name))
			}
		}
	}
	for _, f := range w.files {
		add(f.Path)
	}
	return total
}
