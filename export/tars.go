package export

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"sync"
	"time"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/samples/choose"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// Options control an export. The zero value exports all samples; tars have FFRecord's own sizes.
type Options struct {
	Encode  encode.Options // only Fields, Rename, Missing and Limits are used: they select the fields
	Choice  choose.Options // the zero value chooses all samples
	Ordinal bool           // the key of a sample is its number in the export, in nine digits; not for a stream

	ModTime int64      // modification time of the members of tars, Unix seconds
	Sizes   plan.Sizes // of tars

	Workers  int           // tars or groups of files written at once; 0: the CPUs that this process may use
	NoVerify bool          // do not read files again and compare them
	AIO      aio.Options   // for re-reading
	Progress plan.Progress // may be nil
	Tool     string        // name and version of the program, for the manifest
}

func (o *Options) workers() int { return cmp.Or(max(0, o.Workers), runtime.GOMAXPROCS(0)) }

// bytesOptions are the options that affect the bytes of tars.
type bytesOptions struct {
	Name     string   `json:"name"`
	Fields   string   `json:"fields,omitempty"`
	Rename   []string `json:"rename,omitempty"`
	Missing  string   `json:"missing,omitempty"`
	Key      string   `json:"key,omitempty"`
	ModTime  int64    `json:"mtime"`
	Shards   int      `json:"shards,omitempty"`
	Size     int64    `json:"shard_size,omitempty"`
	Min      int64    `json:"min_shard_size,omitempty"`
	Max      int      `json:"max_shards,omitempty"`
	MaxCount int64    `json:"max_count,omitempty"`

	Choice *choose.Options `json:"choice,omitempty"`
}

func (o *Options) bytes(name string) bytesOptions {
	key := ""
	if o.Ordinal {
		key = "ordinal"
	}
	var choice *choose.Options
	if !o.Choice.IsZero() {
		choice = &o.Choice
	}
	return bytesOptions{
		Choice: choice, Name: name, Fields: o.Encode.Fields, Rename: o.Encode.Rename, Missing: o.Encode.Missing, Key: key, ModTime: o.ModTime,
		Shards: o.Sizes.Shards, Size: o.Sizes.ShardSize, Min: o.Sizes.Min, Max: o.Sizes.Max, MaxCount: o.Sizes.MaxSamples,
	}
}

// A Report describes a run of an export.
type Report struct {
	Manifest
	Path    string  // of the manifest; of a folder, which has none, the directory
	Written int     // number of files written by this run; the others were finished before
	Seconds float64 // of this run
	Backend string  // how files were re-read; "": none was
}

// Tars writes the samples to WebDataset tars. name is the name of a tar with a verb for its number:
// "train-%06d.tar". A tar has its final name only when it is complete, synced and, without NoVerify, re-read and
// compared; a manifest is written last. To resume an interrupted export, call Tars again.
func Tars(ctx context.Context, src *Source, name string, opts Options) (report *Report, err error) {
	began := time.Now()
	t, err := parseTemplate(name)
	if err != nil {
		return nil, err
	}
	if opts.ModTime < 0 || opts.ModTime > maxOctal {
		return nil, place.Options("option mtime %d: want a time from 1970 to 2242", opts.ModTime)
	}
	opts.Encode.Encoding, opts.Encode.Decode = "", false
	spec, err := encode.Parse(opts.Encode)
	if err != nil {
		return nil, err
	}
	how := opts.bytes(filepath.Base(name))
	request, err := src.digest(how)
	if err != nil {
		return nil, err
	}
	out, earlier, err := openTarget(t.dir, t.manifest(), request)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err = errors.Join(err, out.Close()); err != nil {
			report = nil
		}
	}()
	w := &tarWriter{target: out, src: src, spec: spec, opts: opts, progress: opts.Progress}
	report = &Report{Path: out.Path(out.manifest)}
	if earlier != nil {
		report.Manifest = *earlier
		report.Again = t.again(earlier)
		return report, w.present(earlier.Files)
	}
	if err := w.plan(ctx, &t); err != nil {
		return nil, err
	}
	if err := w.free(&t); err != nil {
		return nil, err
	}
	if err := w.begin(); err != nil {
		return nil, err
	}
	if err := w.writeAll(ctx); err != nil {
		return nil, err
	}
	m := &report.Manifest
	*m = Manifest{Version: manifestVersion, Tool: opts.Tool, Created: time.Now().UTC().Truncate(time.Second), Format: "tar", Request: request, Source: src.Sum, Verified: true}
	if m.Options, err = json.Marshal(how); err != nil {
		return nil, err
	}
	for _, job := range w.jobs {
		f := w.done[job.name]
		m.Files = append(m.Files, f.File)
		m.Totals.Files++
		m.Totals.Samples += f.Samples
		m.Totals.Fields += f.Fields
		m.Totals.Bytes += f.Bytes
		m.VerifiedFrom = m.VerifiedFrom.And(f.From)
		m.Verified = m.Verified && f.Verified
	}
	if m.Totals.LeftOut, err = src.leftOut(m.Totals.Samples, opts.Choice, opts.Encode.Missing); err != nil {
		return nil, err
	}
	if m.Again, m.NotAgain, err = w.rebuild(ctx, &t); err != nil {
		return nil, err
	}
	report.Written, report.Backend = w.written, w.backend
	report.Seconds = time.Since(began).Seconds()
	err = out.commit(m)
	m.Again = t.again(m)
	return report, err
}

// A tarWriter writes the tars of one export.
type tarWriter struct {
	*target
	src      *Source
	spec     *encode.Spec // the exported fields
	opts     Options
	progress plan.Progress
	jobs     []tarJob
	readers  int // number of readers for a tar of small samples

	mu      sync.Mutex
	proofs  []*proof // one for each run of the index
	written int
	backend string
}

// A tarJob is a tar to write.
type tarJob struct {
	plan.Shard
	name  string
	first int64 // number of its first sample
	size  int64 // bytes of the tar
}

// plan indexes the samples and divides them into tars.
func (w *tarWriter) plan(ctx context.Context, t *template) error {
	prove := w.whyNotRebuilt() == ""
	spec := w.spec.WithForm(func() encode.Form {
		m := &members{ordinal: w.opts.Ordinal, sizes: true}
		if prove {
			m.proof, _ = newProof(w.src.Dataset.Encode)
			w.mu.Lock()
			defer w.mu.Unlock()
			w.proofs = append(w.proofs, m.proof)
		}
		return m.encode
	})
	pieces, err := w.src.pieces(ctx, w.src.Samples, spec, w.opts)
	if err != nil {
		return err
	}
	names, err := t.names(len(pieces))
	if err != nil {
		return err
	}
	first := int64(0)
	for i, p := range pieces {
		size := p.Bytes + trailer
		size = (size + recordSize - 1) / recordSize * recordSize
		w.jobs = append(w.jobs, tarJob{p, names[i], first, size})
		first += p.Samples
	}
	return nil
}

// present returns an error if a finished file is missing.
func (w *tarWriter) present(files []File) error {
	for _, f := range files {
		exists, err := w.has(f)
		if err != nil {
			return err
		}
		if !exists {
			return fmt.Errorf("%s: %w; remove %s and the tars that it names to export them anew", w.Path(f.Name), errMissing, w.Path(w.manifest))
		}
	}
	return nil
}

// free returns an error if the directory has tars with names of the template that no run of this export has finished.
func (w *tarWriter) free(t *template) error {
	ours := make(map[string]bool)
	for _, j := range w.jobs {
		if f, ok := w.done[j.name]; ok {
			exists, err := w.has(f.File)
			if err != nil {
				return err
			}
			if !exists {
				delete(w.done, j.name)
			}
		}
		ours[j.name] = true
	}
	number := ""
	if t.width >= 0 {
		number = "[0-9]+"
	}
	like := regexp.MustCompile("^" + regexp.QuoteMeta(t.before) + number + regexp.QuoteMeta(t.last) + "$")
	names, err := w.list()
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, done := w.done[name]; !like.MatchString(name) || done || ours[name] && w.resumed {
			continue
		}
		return w.occupied(name, "name another directory, or remove it")
	}
	return nil
}
