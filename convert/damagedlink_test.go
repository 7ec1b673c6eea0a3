package convert_test

import (
	"context"
	"fmt"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/convert/format"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/store"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A damagedLink is a service that has the files of a directory, and no checksums. Of each object, and of each of its ranges by their
// begin, the first answers have another byte.
type damagedLink struct {
	store.Store
	dir   string
	times int

	mu   sync.Mutex
	came map[string]int // answers, by URL
}

const linkURL = "s3://b/"

func (l *damagedLink) object(url string) (store.Object, error) {
	st, err := os.Stat(filepath.Join(l.dir, strings.TrimPrefix(url, linkURL)))
	if err != nil || st.IsDir() {
		return store.Object{}, &store.Error{URL: url, Kind: store.ErrNotFound}
	}
	return store.Object{URL: url, Size: st.Size(), Version: "1", Modified: time.Unix(1, 0)}, nil
}

func (l *damagedLink) Stat(_ context.Context, url string) (store.Object, error) {
	return l.object(url)
}

func (l *damagedLink) List(_ context.Context, prefix string) iter.Seq2[store.Object, error] {
	return func(yield func(store.Object, error) bool) {
		var urls []string
		err := filepath.WalkDir(l.dir, func(path string, _ os.DirEntry, err error) error {
			name, _ := filepath.Rel(l.dir, path)
			if url := linkURL + filepath.ToSlash(name); strings.HasPrefix(url, prefix) {
				urls = append(urls, url)
			}
			return err
		})
		if err != nil {
			yield(store.Object{}, err)
			return
		}
		slices.Sort(urls)
		for _, url := range urls {
			if o, err := l.object(url); err == nil && !yield(o, nil) {
				return
			}
		}
	}
}

func (l *damagedLink) Fetch(_ context.Context, o store.Object, into store.File, progress func(int64)) error {
	data, err := os.ReadFile(filepath.Join(l.dir, strings.TrimPrefix(o.URL, linkURL)))
	if err != nil {
		return err
	}
	l.mu.Lock()
	l.came[o.URL]++
	if l.came[o.URL] <= l.times {
		data[len(data)*2/3] ^= 1
	}
	l.mu.Unlock()
	_, err = into.WriteAt(data, 0)
	progress(int64(len(data)))
	return err
}

func (l *damagedLink) Read(_ context.Context, o store.Object, p []byte, off int64) error {
	f, err := os.Open(filepath.Join(l.dir, strings.TrimPrefix(o.URL, linkURL)))
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.ReadAt(p, off); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	at := fmt.Sprint(o.URL, " from ", off)
	if l.came[at]++; l.came[at] <= l.times {
		p[len(p)*2/3] ^= 1
	}
	return nil
}

// Shards from a service, and what lies beside them, are fetched again before they are called damaged; by whatever takes copies.
func TestDamagedLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tars, _ := format.Named("tar")
	in := &convert.Conversion{
		Reader: tars.Reader(), Sources: []string{filepath.Join("..", "testdata", "shards-{000..009}.tar")}, Out: filepath.Join(dir, "b", "in"),
		Options: convert.Options{Sizes: plan.Sizes{Shards: 3}},
	}
	if _, err := in.Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	convertAs := func(cut convert.Cut) func(t *testing.T, l *damagedLink) error {
		return func(t *testing.T, l *damagedLink) error {
			out := filepath.Join(t.TempDir(), "out")
			c := reshard(t, linkURL+"in/", out, cut)
			c.Input.Remote = l
			_, err := c.Write(t.Context())
			if err == nil {
				sameShards(t, in.Out, out)
			}
			return err
		}
	}
	for name, read := range map[string]func(t *testing.T, l *damagedLink) error{
		"ffr, all at once": convertAs(convert.CutSamples),
		"ffr, by parts":    convertAs(convert.CutParts),
		"export": func(t *testing.T, l *damagedLink) error {
			f, _ := format.Named("ffr")
			c := convert.Conversion{Reader: f.Reader(), Sources: []string{linkURL + "in/"}}
			c.Input.Remote = l
			return c.WithSamples(t.Context(), false, func(s *format.Samples) error {
				n := 0
				for part := range s.Source.Parts() {
					for _, err := range s.Source.Read(t.Context(), converters.Run{Part: part, Count: s.Heads[part].Samples}) {
						if err != nil {
							return err
						}
						n++
					}
				}
				if n != 120 {
					t.Errorf("%d samples", n)
				}
				return nil
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, times := range []int{0, 1, 2, math.MaxInt} {
				if name == "export" && times == 2 { // a sample may come by three ranges
					continue
				}
				l := &damagedLink{dir: filepath.Join(dir, "b"), times: times, came: map[string]int{}}
				err := read(t, l)
				if times < math.MaxInt && err != nil {
					t.Errorf("damaged %d times: %v", times, err)
				}
				if times == math.MaxInt && place.KindOf(err) != place.Corrupt {
					t.Errorf("damaged for good: %v", err)
				}
				for url, n := range l.came {
					if strings.HasSuffix(url, ".ffr") && name == "export" {
						t.Errorf("%s was fetched", url)
					}
					if most := 1 + strings.Count(url, "manifest.json") + strings.Count(url, " from "); times == 0 && n > most { // the second time as a file beside the shards
						t.Errorf("%s, sound, was fetched %d times", url, n)
					}
				}
			}
		})
	}
}
