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

	"golang.org/x/sync/errgroup"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/crcline"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/store"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// Check returns an error if a URL is none of a service that datasets can be written to, or has names between its
// slashes that some services drop or resolve: they would list the dataset elsewhere.
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

// Open opens the dataset at a URL to write to it alone. A second process on this machine that does the same is
// [dataset.ErrLocked].
func Open(ctx context.Context, url string, opts Options) (*dataset.Writing, error) {
	t, err := open(ctx, url, opts, alone)
	if err != nil {
		return nil, err
	}
	return &dataset.Writing{Task: t}, nil
}

// OpenTask opens the dataset at a URL for one task of several, each of which has a scratch of its own.
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

// What a process does with a dataset, which begins the name of its scratch.
const (
	reader = "view-"
	alone  = "out-"  // it writes, and no other does
	task   = "task-" // it writes, as others do
)

func open(ctx context.Context, url string, opts Options, as string) (*dataset.Task, error) {
	if as != reader {
		if err := Check(url); err != nil {
			return nil, err
		}
	}
	if opts.Warn == nil {
		opts.Warn = func(string) {}
	}
	base, token := Base(url), strings.ToLower(rand.Text()[:13])
	if as == alone { // one scratch for all processes, whose lock one has
		sum := sha256.Sum256([]byte(base))
		token = hex.EncodeToString(sum[:8])
	}
	b := &bucket{mirror: mirror{opts: opts, ctx: ctx, url: base, scratch: opts.NewScratch(), there: store.NewListing(opts.Client, base), was: map[string][]byte{}}}
	d, err := dataset.OpenScratch(opts.Scratch, as+token, store.Redact(base), func(d *dataset.Dataset) (dataset.Bucket, error) {
		b.out, d.Objects, d.ReadsBack = d, b.there, b.opts.ReadBack
		return b, b.fill(as != reader, as == task)
	})
	if err != nil {
		return nil, err
	}
	return &dataset.Task{Dataset: d}, nil
}

// fill finds the objects of the dataset, and brings into the scratch what it has beside shards and indexes. task says that
// other processes write other shards of its plan.
func (b *bucket) fill(writes, task bool) error {
	other := "" // the name of an object that is none of the dataset
	var begun func(string) bool
	if writes {
		begun = isOurs
	}
	err := b.there.Look(b.ctx, func(name string) bool { // also all below IndexDir
		ours := isOurs(name)
		if !ours {
			other = cmp.Or(other, name)
		}
		return ours || strings.HasPrefix(name, dataset.IndexDir+"/")
	}, begun)
	if err != nil {
		return err
	}
	if err := b.there.Ask(b.ctx, fixed); err != nil {
		return err
	}
	ours := false
	for _, name := range fixed {
		o, ok := b.there.Object(name)
		if !ok {
			continue
		}
		ours = ours || name != dataset.MetaName && name != dataset.SignatureName && name != dataset.CopyName
		if err := b.bring(o, name); err != nil {
			return err
		}
	}
	if writes && !ours && !b.opts.Beside && (other != "" || len(b.there.Names("")) > 0) {
		return fmt.Errorf("%s: %w", store.Redact(b.url), dataset.ErrNotEmpty)
	}
	if err := b.askNamed(task); err != nil {
		return err
	}
	if err := b.bringDone(); err != nil {
		return err
	}
	for _, name := range b.there.Names(dataset.IndexedDir + "/") {
		o, _ := b.there.Object(name)
		if err := b.bring(o, name); err != nil {
			return err
		}
	}
	if _, planned := b.there.Object(dataset.PlanName); planned || slices.ContainsFunc(b.there.Names(dataset.IndexDir+"/"), isOurs) {
		if err := b.out.Mkdir(dataset.IndexDir); err != nil { // whose it is, the plan and the manifest say
			return err
		}
	}
	return nil
}

// isOurs reports whether an object may belong to a dataset.
func isOurs(name string) bool {
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

// bring fetches a file that can change, and notes what it is.
func (r *mirror) bring(o store.Object, name string) error {
	free, err := r.Room(r.ctx, o.Size) // a hostile one does not fill the device
	if err != nil {
		return fmt.Errorf("%s: %w", store.Redact(o.URL), err)
	}
	defer free()
	err = r.fetch(r.ctx, o, name)
	if err == nil && !r.isSound(name) || place.KindOf(err) == place.Corrupt { // maybe by the transport
		err = r.fetch(r.ctx, o, name)
	}
	if place.KindOf(err) == place.Corrupt { // as these files tell themselves; it can be written anew
		return nil
	}
	if err != nil {
		return err
	}
	r.was[name], err = r.sum(name)
	return err
}

// isSound reports whether a file that was brought is what it should be, as far as it tells itself.
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
			if _, sound := crcline.Check(bytes.TrimSuffix(line, []byte{'\n'})); !sound {
				return false
			}
		}
	}
	return err == nil
}

// bringDone adds the lines of finished shards to the journal. One that is damaged is left out: its shard is written
// again.
func (b *bucket) bringDone() error {
	names := b.there.Names(dataset.DoneDir + "/")
	if _, ok := b.there.Object(dataset.JournalName); !ok || len(names) == 0 {
		return nil
	}
	lines := make([][]byte, len(names))
	g, ctx := errgroup.WithContext(b.ctx)
	g.SetLimit(requests)
	for i, name := range names {
		o, _ := b.there.Object(name)
		if o.Size > crcline.Max {
			continue
		}
		g.Go(func() error {
			for range 2 { // it may have been damaged on its way
				line := make([]byte, o.Size)
				if err := b.there.Read(ctx, o, line, 0); err != nil {
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

// isLine reports whether bytes are one sound line of a journal.
func isLine(line []byte) bool {
	text, whole := bytes.CutSuffix(line, []byte{'\n'})
	if !whole || bytes.Contains(text, []byte{'\n'}) {
		return false
	}
	_, sound := crcline.Check(text)
	return sound
}
