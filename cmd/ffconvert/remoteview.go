package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/cliflag"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/bucket"
	"github.com/ffconvert/ffconvert/dataset/lookup"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/record"
)

// views are the datasets in object stores that a command looks into.
type views struct {
	cliflag.Place
	open []*dataset.Dataset
}

func newViews() *views { return &views{Place: cliflag.NewPlace()} }

// view opens a finished dataset in an object store.
func (v *views) view(ctx context.Context, url string) (*dataset.Dataset, *dataset.Manifest, error) {
	if strings.HasSuffix(url, record.Ext) {
		return nil, nil, fmt.Errorf("%s: a shard in an object store is looked at with its dataset; name what it lies in, %s", url, url[:strings.LastIndexByte(url, '/')+1])
	}
	out, m, err := v.finished(ctx, url)
	if kind := place.KindOf(err); ctx.Err() == nil && (err == nil && m == nil || kind == place.Corrupt || kind == place.Refused) { // a reply may have been wrong
		out, m, err = v.finished(ctx, url)
	}
	if err != nil || m != nil {
		return out, m, v.rename(err)
	}
	begun, err := out.Begun()
	if err == nil && begun {
		err = fmt.Errorf("%s: %w", url, dataset.ErrUnfinished)
	} else if err == nil {
		err = fmt.Errorf("%s: %w", url, cliflag.ErrNoShards)
	}
	return nil, nil, err
}

// finished opens a dataset and reads its manifest; nil: it has none.
func (v *views) finished(ctx context.Context, url string) (*dataset.Dataset, *dataset.Manifest, error) {
	out, err := bucket.View(ctx, url, v.Options(nil))
	if err != nil {
		return nil, nil, cliflag.Hint(err, "", url)
	}
	v.open = append(v.open, out)
	m, err := out.Manifest()
	return out, m, err
}

// lookup opens it for single samples. The table of its keys is kept on this machine.
func (v *views) lookup(ctx context.Context, url string, opts lookup.Options) (*lookup.Dataset, error) {
	out, _, err := v.view(ctx, url)
	if err != nil {
		return nil, err
	}
	if dir, err := os.UserCacheDir(); err == nil {
		opts.TableDir = filepath.Join(dir, "ffconvert", "keys")
	}
	opts.Open = out.OpenPath
	d, err := lookup.Open(out.Path(""), opts)
	return d, v.rename(err)
}

// end removes the scratch directories. err is the error of the command.
func (v *views) end(err error) error {
	errs := []error{v.rename(err)}
	for _, out := range v.open {
		errs = append(errs, out.Close())
	}
	return errors.Join(errs...)
}

// rename gives the files in an error, whose places are in the scratch, the names that they have in the object store.
func (v *views) rename(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	for _, out := range v.open {
		text = strings.ReplaceAll(text, filepath.Clean(out.Path("")), strings.TrimSuffix(out.Name(), "/"))
	}
	if text == err.Error() {
		return err
	}
	return &renamed{text, err}
}

// A renamed error has another text.
type renamed struct {
	text string
	err  error
}

func (e *renamed) Error() string { return e.text }
func (e *renamed) Unwrap() error { return e.err }
