package bucket

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"path"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/checksum"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/store"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// Check returns an error if no dataset can be written to a URL: package store cannot write to its service, or a path
// element is empty, . or .., which some services resolve.
func Check(url string) error {
	scheme, rest, _ := strings.Cut(url, "://")
	bad := &store.Error{URL: store.Redact(url), Kind: store.ErrURL, Err: errors.New("no dataset can be written there"), Hint: "s3://bucket/name/ or gs://bucket/name/"}
	if !store.Writes(scheme) {
		return bad
	}
	for _, name := range strings.Split(strings.TrimRight(rest, "/"), "/")[1:] {
		if name == "" || name == "." || name == ".." {
			bad.Err = fmt.Errorf("a name between its slashes is %q", name)
			return bad
		}
	}
	return nil
}

// Open opens the dataset at a URL for a run that writes all shards. If another process on this machine has opened it, the
// error is [dataset.ErrLocked].
func Open(ctx context.Context, url string, opts Options) (*dataset.Writing, error) {
	t, err := open(ctx, url, opts, alone)
	if err != nil {
		return nil, err
	}
	return &dataset.Writing{Task: t}, nil
}

// OpenTask opens the dataset at a URL for one of several tasks that write it. Each task has a separate scratch.
func OpenTask(ctx context.Context, url string, opts Options) (*dataset.Task, error) {
	return open(ctx, url, opts, task)
}

// View opens the dataset at a URL to read it.
func View(ctx context.Context, url string, opts Options) (*dataset.Dataset, error) {
	t, err := open(ctx, url, opts, reader)
	if err != nil {
		return nil, err
	}
	return t.Dataset, nil
}

// How a process uses a dataset: the prefix of the name of its scratch.
const (
	looker = "look-" // reads samples
	reader = "view-"
	alone  = "out-"  // the only writer
	task   = "task-" // one of several writers
)

func open(ctx context.Context, url string, opts Options, as string) (*dataset.Task, error) {
	if as != reader && as != looker {
		if err := Check(url); err != nil {
			return nil, err
		}
	}
	if opts.Warn == nil {
		opts.Warn = func(string) {}
	}
	url, opts.Client = withQuery(url, opts.Client)
	base, token := Base(url), strings.ToLower(rand.Text()[:13])
	if as == alone { // the same scratch for all processes: its lock admits one
		sum := sha256.Sum256([]byte(base))
		token = hex.EncodeToString(sum[:8])
	}
	for n := 1; ; n++ {
		b := &bucket{mirror: mirror{
			opts: opts, ctx: ctx, url: base, scratch: opts.NewScratch(), objects: store.NewListing(opts.Client, base), listed: as != looker,
			stored: map[string][]byte{}, indexes: map[string]*index{},
		}}
		b.sums, b.spare = sync.OnceValue(b.readSums), b.dropIndexes
		d, err := dataset.OpenScratch(opts.Scratch, as+token, store.Redact(base), func(d *dataset.Dataset) (dataset.Bucket, error) {
			b.out, d.Objects, d.ReadsBack = d, b.objects, b.opts.ReadBack
			if as == looker {
				return b, b.look()
			}
			return b, b.fill(as != reader, as == task)
		})
		if err == nil {
			return &dataset.Task{Dataset: d}, nil
		}
		if n == looks || !isStale(err) || len(b.objects.Names("")) == 0 {
			return nil, err
		}
	}
}

// looks is how often open lists a dataset. Between the list and the download of an object, a task may have put the line of a
// shard again, or finish may have replaced the journal and removed the lines.
const looks = 4

// isStale reports whether an error means that a list is out of date.
func isStale(err error) bool {
	return errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrChanged) || errors.Is(err, store.ErrLength)
}

// fill finds the objects of the dataset, and downloads all but shards and indexes to the scratch. writes: the caller
// may write; task: other processes write other shards of the plan.
func (b *bucket) fill(writes, task bool) error {
	other := "" // the name of an object of another program
	var begun func(string) bool
	if writes {
		begun = isNamed
	}
	err := b.objects.Look(b.ctx, func(name string) bool { // accept everything in IndexDir
		named := isNamed(name)
		if !named {
			other = cmp.Or(other, name)
		}
		return named || strings.HasPrefix(name, dataset.IndexDir+"/")
	}, begun)
	if err != nil && (writes || !errors.Is(err, store.ErrNoList)) { // the names in the manifest suffice a reader
		return err
	}
	if err := b.objects.StatUnknown(b.ctx, fixed); err != nil {
		return err
	}
	owned := false // there is an object that only datasets have
	for _, name := range fixed {
		o, ok := b.objects.Object(name)
		if !ok {
			continue
		}
		owned = owned || name != dataset.MetaName && name != dataset.SignatureName && name != dataset.CopyName
		if err := b.bring(o, name); err != nil {
			return err
		}
	}
	if writes && !owned && !b.opts.Beside && (other != "" || len(b.objects.Names("")) > 0) {
		return fmt.Errorf("%s: %w", store.Redact(b.url), dataset.ErrNotEmpty)
	}
	if err := b.statNamed(task); err != nil {
		return err
	}
	if err := b.bringDone(); err != nil {
		return err
	}
	for _, name := range b.objects.Names(dataset.IndexedDir + "/") {
		o, _ := b.objects.Object(name)
		if err := b.bring(o, name); err != nil {
			return err
		}
	}
	if _, planned := b.objects.Object(dataset.PlanName); planned || slices.ContainsFunc(b.objects.Names(dataset.IndexDir+"/"), isNamed) {
		if err := b.out.Mkdir(dataset.IndexDir); err != nil {
			return err
		}
	}
	return nil
}

// isNamed reports whether an object has a name that a dataset may use.
func isNamed(name string) bool {
	dir, base := path.Split(name)
	switch dir {
	case "":
		return dataset.IsDatasetFile(name) || strings.HasSuffix(name, ".ffr")
	case dataset.IndexDir + "/":
		return dataset.IsDatasetFile(name)
	case dataset.WorkDir + "/":
		return name == dataset.PlanName || name == dataset.JournalName || name == dataset.CopyName || name == dataset.KeysName
	}
	return (dir == dataset.DoneDir+"/" || dir == dataset.IndexedDir+"/") && base != ""
}

// bring downloads a file that can change, twice if it is damaged, and records its checksum in r.stored. A file that
// stays damaged is no error: it counts as missing.
func (r *mirror) bring(o store.Object, name string) error {
	free, err := r.Room(r.ctx, o.Size) // a hostile object must not fill the device
	if err != nil {
		return fmt.Errorf("%s: %w", store.Redact(o.URL), err)
	}
	defer free()
	err = r.fetch(r.ctx, o, name)
	if err == nil && !r.isSound(name) || place.KindOf(err) == place.Corrupt { // the transport may have damaged it
		err = r.fetch(r.ctx, o, name)
	}
	if place.KindOf(err) == place.Corrupt { // these files have checksums of their own, and can be written again
		return nil
	}
	if err != nil {
		return err
	}
	r.stored[name], err = r.sum(name)
	return err
}

// isSound reports whether a downloaded file matches the checksums and the format of its kind.
func (r *mirror) isSound(name string) bool {
	text, err := r.out.ReadFile(name)
	if err != nil {
		return false
	}
	switch name {
	case dataset.ManifestName:
		_, err = dataset.DecodeManifest(text)
	case dataset.MetaName:
		if m, err := r.out.Manifest(); err == nil && m != nil {
			return m.Meta.Bytes == int64(len(text)) && m.Meta.CRC == crc32.ChecksumIEEE(text)
		}
	case dataset.PlanName:
		_, err = plan.Read(bytes.NewReader(text), int64(len(text)))
	case dataset.JournalName:
		for line := range bytes.Lines(text) {
			if _, sound := checksum.CheckLine(bytes.TrimSuffix(line, []byte{'\n'})); !sound {
				return false
			}
		}
	}
	return err == nil
}

// bringDone appends the lines of finished shards to the journal in the scratch. It skips a damaged line: that shard is
// written again.
func (b *bucket) bringDone() error {
	names := b.objects.Names(dataset.DoneDir + "/")
	if _, ok := b.objects.Object(dataset.JournalName); !ok || len(names) == 0 {
		return nil
	}
	lines := make([][]byte, len(names))
	g, ctx := errgroup.WithContext(b.ctx)
	g.SetLimit(requests)
	for i, name := range names {
		o, _ := b.objects.Object(name)
		if o.Size > checksum.MaxLine {
			continue
		}
		g.Go(func() error {
			for range 2 { // the transport may have damaged it
				line := make([]byte, o.Size)
				if err := b.objects.Read(ctx, o, line, 0); err != nil {
					return err
				}
				if isLine(line) {
					lines[i] = line
					break
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	f, err := b.out.OpenFile(dataset.JournalName)
	if err != nil {
		return err
	}
	_, err = f.Seek(0, 2)
	if err == nil {
		_, err = f.Write(slices.Concat(lines...))
	}
	return errors.Join(err, f.Close())
}

// isLine reports whether bytes are one complete line of a journal with a correct checksum.
func isLine(line []byte) bool {
	text, whole := bytes.CutSuffix(line, []byte{'\n'})
	if !whole || bytes.Contains(text, []byte{'\n'}) {
		return false
	}
	_, sound := checksum.CheckLine(text)
	return sound
}
