package bucket

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/store"
)

var errNone = place.New(place.Refused, "no dataset is there: it has no "+dataset.ManifestName)

// Look opens the finished dataset at a URL of any service, to read samples of it. It downloads the manifest, its signature
// and meta.json, and lists nothing: shards and indexes are looked up by their names when they are first opened.
func Look(ctx context.Context, url string, opts Options) (*dataset.Dataset, error) {
	t, err := open(ctx, url, opts, looker)
	if err != nil {
		return nil, err
	}
	return t.Dataset, nil
}

// look is fill for Look.
func (b *bucket) look() error {
	for _, name := range []string{dataset.ManifestName, dataset.SignatureName, dataset.MetaName} {
		o, err := store.StatTwice(b.ctx, b.objects, b.url+name)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		b.objects.Enter(name, o)
		if err := b.bring(o, name); err != nil {
			return err
		}
	}
	text, err := b.out.ReadFile(dataset.ManifestName)
	if errors.Is(err, fs.ErrNotExist) {
		return b.noManifest()
	}
	if err == nil {
		_, err = dataset.ParseManifest(store.Redact(b.url)+dataset.ManifestName, text)
	}
	return err
}

// noManifest returns the error of a URL without a manifest.
func (b *bucket) noManifest() error {
	for _, err := range b.objects.List(b.ctx, b.url) { // no reply to a request for an object says that there is no bucket
		if err != nil && !errors.Is(err, store.ErrNoList) && !errors.Is(err, store.ErrDenied) {
			return err
		}
		break
	}
	begun, err := b.objects.StatAll(b.ctx, []string{dataset.PlanName, dataset.CopyName})
	if err == nil && len(begun) > 0 {
		err = dataset.ErrUnfinished
	} else if err == nil {
		err = errNone
	}
	return fmt.Errorf("%s: %w", b.out.Name(), err)
}
