package transfer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/bucket"
	"github.com/ffconvert/ffconvert/internal/store"
	"github.com/ffconvert/ffconvert/record"
)

// A toBucket is an object store that receives a dataset. It has no locks: two copies of one dataset put the same
// objects, and a copy of another one finds its mark, unless both begin at the same moment: the manifest is only put
// where there is none.
type toBucket struct {
	url    string // with a slash at its end
	client store.Store
	back   bool // uploads are read back
	warn   func(string)
	is     state

	pending []store.Object // uploads that were begun and not ended when the copy began

	mu      sync.Mutex
	objects map[string]store.Object // by their names in the dataset
}

func openBucket(ctx context.Context, to string, opts Options) (target, error) {
	if err := bucket.Check(to); err != nil {
		return nil, err
	}
	t := &toBucket{url: bucket.Base(to), client: opts.Bucket.Client, back: opts.Bucket.ReadBack, warn: opts.Bucket.Warn, objects: map[string]store.Object{}}
	for o, err := range t.client.List(ctx, t.url) {
		if err != nil {
			return nil, err
		}
		t.objects[strings.TrimPrefix(o.URL, t.url)] = o
	}
	for p, err := range t.client.Pending(ctx, t.url) {
		if err != nil { // who may not list them goes on without
			break
		}
		if isOurs(strings.TrimPrefix(p.URL, t.url)) {
			t.pending = append(t.pending, p)
		}
	}
	if t.warn == nil {
		t.warn = func(string) {}
	}
	return t, nil
}

func (t *toBucket) name() string { return store.Redact(t.url) }
func (t *toBucket) close() error { return nil }

func (t *toBucket) object(name string) (store.Object, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	o, ok := t.objects[name]
	return o, ok
}

// text reads a small object; nil: there is none.
func (t *toBucket) text(ctx context.Context, name string) ([]byte, error) {
	o, ok := t.object(name)
	if !ok {
		return nil, nil
	}
	return readObject(ctx, t.client, o)
}

// ask enters those of the names that the bucket has and its listing lacks.
func (t *toBucket) ask(ctx context.Context, names []string) error {
	names = slices.DeleteFunc(names, func(name string) bool { _, listed := t.object(name); return listed })
	there, err := bucket.StatAll(ctx, t.client, t.url, names)
	for name, o := range there {
		t.enter(name, o)
	}
	return err
}

func (t *toBucket) planned() bool {
	_, there := t.object(dataset.PlanName)
	return there
}

// askNamed asks for the files of the dataset that is copied, and of the one there, which has the manifest or a plan.
func (t *toBucket) askNamed(ctx context.Context, j *job, manifest []byte) error {
	var names []string
	for name := range j.named() {
		names = append(names, name)
	}
	if m, err := dataset.DecodeManifest(manifest); err == nil {
		for i := range m.Shards {
			names = append(names, m.Shards[i].Name, dataset.IndexName(m.Shards[i].Name))
		}
	} else {
		text, err := t.text(ctx, dataset.PlanName)
		if err != nil {
			return err
		}
		shards := bucket.Planned(text)
		for i := range shards {
			name := record.Name(i, shards)
			names = append(names, name, dataset.IndexName(name), path.Join(dataset.DoneDir, name))
		}
	}
	return t.ask(ctx, names)
}

func (t *toBucket) look(ctx context.Context, j *job) (state, error) {
	if err := t.ask(ctx, bucket.Fixed()); err != nil {
		return 0, err
	}
	manifest, err := t.text(ctx, dataset.ManifestName)
	if err != nil {
		return 0, err
	}
	mark, err := t.text(ctx, dataset.CopyName)
	if err != nil {
		return 0, err
	}
	if manifest != nil || mark != nil || t.planned() { // else a copy has put nothing there
		if err := t.askNamed(ctx, j, manifest); err != nil {
			return 0, err
		}
	}
	var names []string
	other := ""
	for name := range t.objects {
		if isOurs(name) || isShard(name) {
			names = append(names, name)
		} else if other == "" || name < other {
			other = name
		}
	}
	if other != "" && manifest == nil && mark == nil {
		return 0, fmt.Errorf("%s: %w", t.name(), dataset.ErrNotEmpty)
	}
	t.is, err = j.judge(t.name(), manifest, mark, names)
	return t.is, err
}

func (t *toBucket) begin(ctx context.Context, j *job) error {
	for _, name := range []string{dataset.SignatureName, dataset.ManifestName} {
		if err := t.remove(ctx, name); err != nil {
			return err
		}
	}
	_, err := t.save(ctx, dataset.CopyName, []byte(j.mark+"\n"))
	return err
}

func (t *toBucket) remove(ctx context.Context, name string) error {
	if _, ok := t.object(name); !ok {
		return nil
	}
	if err := t.client.Remove(ctx, store.Object{URL: t.url + name}); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.objects, name)
	return nil
}

// isMD5 matches the ETag of an object that was put whole, which is its MD5 on most services.
var isMD5 = regexp.MustCompile(`^[0-9a-f]{32}$`)

// has compares checksums; the bytes, where the service has none or the source knows none of that kind.
func (t *toBucket) has(ctx context.Context, j *job, f *file) (bool, error) {
	o, ok := t.object(f.name)
	if !ok || o.Size != f.bytes {
		return false, nil
	}
	o, err := t.client.Stat(ctx, t.url+f.name)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil || o.Size != f.bytes {
		return false, err
	}
	sum, exact := o.Sum, true
	if sum.NewHash() == nil && isMD5.MatchString(o.Version) {
		sum, exact = store.Sum{Kind: "md5", Value: o.Version}, false
	}
	if sum.NewHash() != nil {
		mine, err := j.from.hash(ctx, f.name, sum)
		if err != nil {
			return false, f.lost(j.from.name(), err)
		}
		if mine != "" && (exact || mine == sum.Value) {
			return mine == sum.Value, nil
		}
	}
	err = f.prove(ctx, t.name(), store.ReadAt(ctx, t.client, o), nil)
	if errors.Is(err, ErrSource) {
		return false, nil
	}
	return err == nil, err
}

// put compares the file with the manifest before the upload: the service would keep a damaged one as well.
func (t *toBucket) put(ctx context.Context, j *job, f *file) error {
	from, done, err := j.from.local(ctx, f.name, f.bytes)
	if err != nil {
		return f.lost(j.from.name(), err)
	}
	defer done()
	if err := f.prove(ctx, j.from.name(), from, nil); err != nil {
		return err
	}
	o, err := t.client.Put(ctx, &store.Upload{URL: t.url + f.name, From: from, Size: f.bytes, Progress: j.opts.Progress})
	if err != nil {
		return err
	}
	if t.back {
		if err := f.prove(ctx, t.name(), store.ReadAt(ctx, t.client, o), nil); err != nil {
			return err
		}
	}
	t.enter(f.name, o)
	return nil
}

func (t *toBucket) enter(name string, o store.Object) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.objects[name] = o
}

func (t *toBucket) save(ctx context.Context, name string, text []byte) (bool, error) {
	if text == nil {
		_, there := t.object(name)
		return there, t.remove(ctx, name)
	}
	if there, err := t.text(ctx, name); err != nil || there != nil && bytes.Equal(there, text) {
		return false, err
	}
	return true, t.upload(ctx, name, text, false)
}

func (t *toBucket) upload(ctx context.Context, name string, text []byte, isNew bool) error {
	o, err := t.client.Put(ctx, &store.Upload{URL: t.url + name, From: bytes.NewReader(text), Size: int64(len(text)), New: isNew})
	if err == nil {
		t.enter(name, o)
	}
	return err
}

func (t *toBucket) finish(ctx context.Context, j *job) error {
	if err := t.clear(ctx, j); err != nil {
		return err
	}
	if err := j.save(ctx, dataset.SignatureName, j.sign); err != nil {
		return err
	}
	there, err := t.text(ctx, dataset.ManifestName)
	if err != nil {
		return err
	}
	if there == nil {
		j.small = append(j.small, dataset.ManifestName)
		err = t.upload(ctx, dataset.ManifestName, j.text, true)
		if errors.Is(err, store.ErrExists) {
			err = t.same(ctx, j)
		}
	} else if !bytes.Equal(there, j.text) { // of the same dataset
		err = j.save(ctx, dataset.ManifestName, j.text)
	}
	if err == nil {
		t.tidy(ctx)
	}
	return err
}

// tidy removes what only an unfinished copy needs. The copy is complete: what cannot be removed is said.
func (t *toBucket) tidy(ctx context.Context) {
	err := t.remove(ctx, dataset.CopyName)
	if _, late := t.client.Stat(ctx, t.url+dataset.CopyName); err == nil && late == nil { // the reply was wrong
		err = t.client.Remove(ctx, store.Object{URL: t.url + dataset.CopyName})
	}
	if err != nil {
		t.warn(fmt.Sprintf("%s: the copy is complete; %s, which it no longer needs, was not removed: %v", t.name(), dataset.CopyName, err))
	}
	for _, p := range t.pending {
		if err := t.client.Remove(ctx, p); err != nil {
			t.warn(fmt.Sprintf("%s: an upload in parts that was begun %s stays: %v", store.Redact(p.URL), p.Modified.Format(time.RFC3339), err))
		}
	}
}

// same compares the manifest with one that another process has put meanwhile.
func (t *toBucket) same(ctx context.Context, j *job) error {
	o, err := t.client.Stat(ctx, t.url+dataset.ManifestName)
	if err != nil {
		return err
	}
	text, err := readObject(ctx, t.client, o)
	if err == nil && !j.same(text) {
		err = fmt.Errorf("%s: %w: another process has put it there meanwhile", t.name(), dataset.ErrOccupied)
	}
	return err
}

// clear removes what is of the dataset before, or of a conversion that was under way.
func (t *toBucket) clear(ctx context.Context, j *job) error {
	mine := j.named()
	t.mu.Lock()
	var old []string
	for name := range t.objects {
		if isOurs(name) && !mine[name] && !slices.Contains(beside, name) && name != dataset.CopyName && name != dataset.ManifestName && name != dataset.SignatureName {
			old = append(old, name)
		}
	}
	t.mu.Unlock()
	slices.Sort(old)
	for _, name := range old {
		if err := t.remove(ctx, name); err != nil {
			return err
		}
	}
	return nil
}
