package export

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/direct"
	"github.com/ffconvert/ffconvert/internal/files"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/shard/plan"
	"github.com/ffconvert/ffconvert/verify"
)

// folderManifest is the name of the manifest that earlier versions wrote in a folder. The name of the journal is
// derived from it.
const folderManifest = dataset.WorkDir + "/export.json"

// Folder writes the fields of the samples as files below dir, which must be empty or not exist. A file is named
// KEY.FIELD; if the sample has a class, it is in the directory of the class. Folder checks all paths before it writes.
// A file has its final name only when it is complete. At the end all files are synced and, without NoVerify, read again
// and compared. Nothing else is left, no manifest either, because readers of folders take any directory for a class. To
// resume an interrupted export, call Folder again; for a finished export it compares the files.
func Folder(ctx context.Context, src *Source, dir string, opts Options) (report *Report, err error) {
	began := time.Now()
	opts.Encode.Encoding, opts.Encode.Decode = "", false
	spec, err := encode.Parse(opts.Encode)
	if err != nil {
		return nil, err
	}
	how := (&Options{Encode: opts.Encode, Choice: opts.Choice, Ordinal: opts.Ordinal}).bytes("")
	request, err := src.digest(struct {
		Folder  bool
		Classes []string
		How     bytesOptions
	}{true, src.Description.Classes, how})
	if err != nil {
		return nil, err
	}
	out, finished, err := openTarget(dir, folderManifest, request)
	if err != nil {
		return nil, err
	}
	defer func() {
		finished := err == nil
		if err = errors.Join(err, out.Close()); err == nil && finished {
			err = leftBeside(dir)
		}
		if err != nil {
			report = nil
		}
	}()
	report = &Report{Path: dir}
	w := &folderWriter{target: out, src: src, spec: spec, opts: opts, layout: newLayout(src, opts.Ordinal)}
	w.resumed = w.resumed || finished != nil
	if err := w.look(); err != nil {
		return nil, err
	}
	if err := w.plan(ctx); err != nil {
		return nil, err
	}
	if err := w.compareExisting(ctx); err != nil {
		return nil, err
	}
	if err := w.begin(); err != nil {
		return nil, err
	}
	w.kept = true
	if err := w.writeAll(ctx); err != nil {
		return nil, err
	}
	m := &report.Manifest
	*m = Manifest{Version: manifestVersion, Tool: opts.Tool, Created: time.Now().UTC().Truncate(time.Second), Format: "folder", Request: request, Source: src.Sum, Verified: !opts.NoVerify, VerifiedFrom: w.from}
	m.Totals = totals{Files: w.total.files.Load(), Samples: w.total.samples.Load(), Fields: w.total.fields.Load(), Bytes: w.total.bytes.Load()}
	if m.Totals.LeftOut, err = src.leftOut(m.Totals.Samples, opts.Choice, opts.Encode.Missing); err != nil {
		return nil, err
	}
	if m.Options, err = json.Marshal(how); err != nil {
		return nil, err
	}
	report.Written, report.Backend = int(w.written.Load()), w.backend
	report.Seconds = time.Since(began).Seconds()
	return report, out.clear()
}

// leftBeside returns an error if the working directory exists; its removal is durable.
func leftBeside(dir string) error {
	at := filepath.Join(dir, dataset.WorkDir)
	if _, err := os.Lstat(at); errors.Is(err, fs.ErrNotExist) {
		return files.SyncDir(nil, dir) // so that a loss of power does not bring it back
	}
	return &place.Error{Where: at, Off: -1, Err: errLeft, Hint: "remove it: readers of folders take it for a class"}
}

var errLeft = place.New(place.IO, "the files are written and compared, but this directory could not be removed")

// A folderWriter writes the files of one folder.
type folderWriter struct {
	*target
	src     *Source
	spec    *encode.Spec // the exported fields
	opts    Options
	layout  *layout
	pieces  []plan.Shard
	bytes   int64   // of all files
	foreign foreign // other contents of the directory, unless an export was begun in it

	total struct{ samples, fields, files, bytes atomic.Int64 }

	written atomic.Int64 // number of files written by this run
	from    aio.Origin
	backend string
}

// A worker writes a piece at a time, of at most pieceSize and pieceSamples.
const (
	pieceSize    = 16 << 20 // bytes
	pieceSamples = 4 << 10
)

// A paths is an encoder that checks the paths of the files of samples, and counts their bytes. It is for one goroutine.
type paths struct {
	w       *folderWriter
	tree    *tree // of all files
	sample  *tree // files of the current sample
	writers fileWriter
	number  int64
}

// encode checks the files of a sample. It appends only their size.
func (p *paths) encode(b *encode.Builder, s *converters.Sample) error {
	base, err := p.w.layout.base(s, p.number)
	if err != nil {
		return err
	}
	p.number++
	total, files := int64(0), 0
	for i := range s.Fields {
		f := &s.Fields[i]
		if p.w.layout.isClass(f) {
			continue
		}
		name := p.w.layout.file(base, f)
		if err := checkPath(name); err != nil {
			return err
		}
		paths := p.tree
		if p.w.opts.Ordinal { // numbers differ, and the index of one part does not know them
			if paths = p.sample; i == 0 {
				clear(paths.seen)
			}
		}
		if err := paths.add(name); err != nil {
			return err
		}
		content, err := p.writers.content(f)
		if err != nil {
			return fmt.Errorf("field %q: %w", f.Name, err)
		}
		p.w.foreign.remove(name)
		total += content.Len()
		files++
	}
	if files == 0 {
		return fmt.Errorf("%w: a sample without fields, of which a folder would have nothing", converters.ErrUnsupported)
	}
	size := converters.Opaque(total)
	b.Value(&size)
	return nil
}

// plan indexes the samples, checks the paths of all files and divides them into pieces.
func (w *folderWriter) plan(ctx context.Context) error {
	all := newTree()
	for _, class := range w.layout.classes {
		if err := checkPath(class); err != nil {
			return &converters.Error{Where: dataset.MetaName, Off: -1, Entry: class, Err: err}
		}
	}
	spec := w.spec.WithForm(func() encode.Form { return (&paths{w: w, tree: all, sample: newTree()}).encode })
	var err error
	opts := w.opts
	opts.Sizes, opts.Ordinal = plan.Sizes{ShardSize: pieceSize, MaxSamples: pieceSamples}, true // the first of two equal paths is right
	w.pieces, err = w.src.pieces(ctx, w.src.Samples, spec, opts)
	for i := range w.pieces {
		w.bytes += w.pieces[i].Bytes
	}
	return err
}

// writeAll writes all files, makes them durable, and reads them again.
func (w *folderWriter) writeAll(ctx context.Context) error {
	for _, class := range w.layout.classes { // also classes without samples
		if err := w.Root.MkdirAll(class, 0o755); err != nil {
			return err
		}
	}
	progress := plan.StartPhase(w.opts.Progress, "write", w.bytes)
	err := w.each(ctx, progress, func() (visit, func() error, error) {
		f := &fileMaker{folderWriter: w}
		return f.write, func() error { return nil }, nil
	})
	if err != nil {
		return err
	}
	if err := direct.SyncTree(w.Root); err != nil {
		return fmt.Errorf("sync %s: %w", w.Path("."), err)
	}
	if w.opts.NoVerify {
		return nil
	}
	how := verify.Share(w.opts.AIO, w.opts.workers())
	progress = plan.StartPhase(w.opts.Progress, "verify", w.bytes)
	return w.each(ctx, progress, func() (visit, func() error, error) {
		r, err := aio.NewReader(how)
		if err != nil {
			return nil, nil, err
		}
		c := &comparer{folderWriter: w, reader: r}
		return c.compare, c.close, nil
	})
}
