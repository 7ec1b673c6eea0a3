package cached_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset/cached"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/store"
	"github.com/ffconvert/ffconvert/internal/test/memsource"
	"github.com/ffconvert/ffconvert/internal/test/services"
	"github.com/ffconvert/ffconvert/internal/test/shardtest"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// made makes a dataset of n samples of up to size bytes in so many shards, and returns its directory and its records.
func made(t testing.TB, n, size, shards int) (dir string, records [][]byte) {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(n), uint64(size)))
	var part []converters.Sample
	for i := range n {
		data := make([]byte, rng.IntN(size))
		for k := range data {
			data[k] = byte(rng.Uint32())
		}
		part = append(part, converters.Sample{Key: fmt.Sprintf("%06d", i), Fields: []converters.Field{{Name: "bin", Value: converters.Bytes(data)}}})
	}
	dir = filepath.Join(t.TempDir(), "out")
	_, err := shardtest.Convert(t.Context(), &memsource.Source{Data: [][]converters.Sample{part}}, dir, shardtest.ConvertOptions{
		Encode: encode.Options{Encoding: "raw"}, Sizes: plan.Sizes{Shards: shards},
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir, recordsOf(t, dir)
}

// recordsOf returns the records of a dataset.
func recordsOf(t testing.TB, dir string) (records [][]byte) {
	t.Helper()
	r, err := record.Open(dir, record.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for i := range r.Len() {
		data, err := r.Read(i, nil)
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, data)
	}
	return records
}

// served serves a directory with ranges.
func served(t testing.TB, dir string) (url string) {
	t.Helper()
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	t.Cleanup(server.Close)
	return server.URL
}

// options keep samples in a new cache.
func options(t testing.TB, size int64) cached.Options {
	return optionsOf(t, &services.Service{}, t.TempDir(), size)
}

// optionsOf keep samples of a service in a cache.
func optionsOf(t testing.TB, s *services.Service, cache string, size int64) cached.Options {
	t.Helper()
	client := store.New(store.Options{Connections: 32, Retries: 20, Patience: time.Minute, LookupEnv: s.LookupEnv})
	t.Cleanup(client.Close)
	return cached.Options{Dir: cache, Size: size, Store: client, Warn: func(text string) { t.Log(text) }}
}

func opened(t testing.TB, url string, opts cached.Options) *cached.Dataset {
	t.Helper()
	x, err := cached.Open(t.Context(), url, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	return x
}

// filled waits until all shards that are kept are here whole.
func filled(t testing.TB, x *cached.Dataset) {
	t.Helper()
	if err := x.Filled(t.Context(), allOf(len(x.Manifest().Shards))...); err != nil {
		t.Fatal(err)
	}
}

// kept makes a cache have all of a dataset, which nobody has open any more.
func kept(t testing.TB, url string, opts cached.Options, records [][]byte) *cached.Dataset {
	t.Helper()
	x := opened(t, url, opts)
	epoch(t, records, 1, x)
	filled(t, x)
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	return x
}

// read reads samples and compares them.
func read(ctx context.Context, x *cached.Dataset, records [][]byte, numbers []int64) error {
	var want []byte
	for _, i := range numbers {
		want = append(want, records[i]...)
	}
	got := make([]byte, len(want))
	if err := x.Read(ctx, numbers, got); err != nil {
		return err
	}
	if !bytes.Equal(got, want) {
		return fmt.Errorf("samples %v have other bytes", numbers)
	}
	return nil
}

// batches returns the numbers of an epoch in batches, each of which ascends.
func batches(n, batch int, seed uint64) (all [][]int64) {
	order := rand.New(rand.NewPCG(seed, 0)).Perm(n)
	for at := 0; at < n; at += batch {
		var one []int64
		for _, i := range order[at:min(n, at+batch)] {
			one = append(one, int64(i))
		}
		all = append(all, sorted(one))
	}
	return all
}

// epoch reads all samples by several users at once, which say what comes.
func epoch(t testing.TB, records [][]byte, seed uint64, users ...*cached.Dataset) {
	t.Helper()
	all := batches(len(records), 32, seed)
	var work sync.WaitGroup
	for k, x := range users {
		work.Go(func() {
			for n := k; n < len(all); n += len(users) {
				x.Coming(t.Context(), all[n])
			}
			for n := k; n < len(all); n += len(users) {
				if err := read(t.Context(), x, records, all[n]); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	work.Wait()
}

func TestEpochs(t *testing.T) {
	t.Parallel()
	type set struct {
		dir     string
		records [][]byte
		size    int64
	}
	newSet := func(n, size, shards int) (s set) {
		s.dir, s.records = made(t, n, size, shards)
		for _, r := range s.records {
			s.size += int64(len(r)) + 12
		}
		return s
	}
	small, large := newSet(2000, 3000, 8), newSet(300, 200_000, 10)
	for _, c := range []struct {
		name        string
		set         set
		room        float64 // of its bytes
		first, then float64 // most bytes of an epoch, of all of its bytes
	}{
		{"room for all", small, 2, 1.05, 0},
		{"room for half", small, 9. / 16, 1.6, 1.1}, // four of eight shards, and what lies between samples
		{"no room", small, 0, 2, 2},
		{"large samples, room for half", large, .55, 1.02, 0.52},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			url, opts := served(t, c.set.dir), options(t, max(1, int64(c.room*float64(c.set.size))))
			a, b := opened(t, url, opts), opened(t, url, opts)
			before := int64(0)
			for n := range uint64(3) {
				epoch(t, c.set.records, n, a, b)
				filled(t, a)
				now, err := a.Fetched(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				most := c.first
				if n > 0 {
					most = c.then
				}
				if share := float64(now-before) / float64(c.set.size); share > most {
					t.Errorf("epoch %d fetched %.2f of the bytes, want %.2f at the most", n, share, most)
				}
				before = now
			}
		})
	}
}

func sorted(n []int64) []int64 { return slices.Sorted(slices.Values(n)) }

// What one user has said that it will read, and does not, keeps nobody else from reading it.
func TestIdleUser(t *testing.T) {
	t.Parallel()
	dir, records := made(t, 400, 3000, 4)
	url, opts := served(t, dir), options(t, 1).WithMemory(64<<10)
	idle, x := opened(t, url, opts), opened(t, url, opts)
	all := batches(len(records), 16, 1)
	for _, numbers := range all {
		idle.Coming(t.Context(), numbers)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, numbers := range all {
		x.Coming(ctx, numbers)
	}
	for _, numbers := range all {
		if err := read(ctx, x, records, numbers); err != nil {
			t.Fatal(err)
		}
	}
}

// What a server before the last start of the machine has kept is compared, and not fetched again where it is right.
func TestAfterPowerLoss(t *testing.T) {
	t.Parallel()
	dir, records := made(t, 400, 3000, 4)
	url, opts := served(t, dir), options(t, 0)
	x := kept(t, url, opts, records)
	if err := os.WriteFile(filepath.Join(x.Path(), "boot"), []byte("another start"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := opened(t, url, opts).Close(); err != nil { // a server that comes to no sample
		t.Fatal(err)
	}
	for k := range 4 {
		if have, err := os.ReadFile(filepath.Join(x.Path(), fmt.Sprintf("PART_%05d.ffr.have", k))); err != nil || strings.Trim(string(have), "\x00") != "" {
			t.Fatalf("shard %d: a bit of before is trusted, %v", k, err)
		}
	}
	if err := os.WriteFile(filepath.Join(x.Path(), "boot"), []byte("a third start"), 0o600); err != nil {
		t.Fatal(err)
	}
	lost, err := filepath.Glob(filepath.Join(x.Path(), "PART_00001.ffr.copy"))
	if err != nil || len(lost) != 1 {
		t.Fatal(lost, err)
	}
	st, err := os.Stat(lost[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(lost[0], make([]byte, st.Size()), 0o600); err != nil { // its pages were never written
		t.Fatal(err)
	}
	y := opened(t, url, opts)
	epoch(t, records, 2, y)
	filled(t, y)
	fetched, err := y.Fetched(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if want := st.Size(); fetched < want*9/10 || fetched > want*12/10 {
		t.Errorf("%d bytes were fetched, the lost copy has %d", fetched, want)
	}
}

// Close ends while others of its process read: they get an error, and no server is left.
func TestCloseWhileReading(t *testing.T) {
	t.Parallel()
	dir, records := made(t, 300, 3000, 3)
	for range 20 {
		x, err := cached.Open(t.Context(), served(t, dir), options(t, 1))
		if err != nil {
			t.Fatal(err)
		}
		var work sync.WaitGroup
		begun := make(chan struct{}, 4)
		for k := range 4 {
			work.Go(func() {
				for n := 0; ; n++ {
					if err := read(t.Context(), x, records, []int64{int64((7*n + k) % 300)}); err != nil {
						return
					}
					select {
					case begun <- struct{}{}:
					default:
					}
				}
			})
		}
		<-begun
		if err := x.Close(); err != nil {
			t.Error(err)
		}
		work.Wait()
	}
}

// A user that ends takes nothing from others that wait for what it has said to come.
func TestForget(t *testing.T) {
	t.Parallel()
	dir, records := made(t, 600, 3000, 4)
	url, opts := served(t, dir), options(t, 1)
	fickle, x := opened(t, url, opts), opened(t, url, opts)
	for seed := range uint64(10) {
		for _, numbers := range batches(len(records), 100, seed) {
			fickle.Coming(t.Context(), numbers)
			fickle.Forget(t.Context())
			if err := read(t.Context(), x, records, numbers); err != nil {
				t.Fatal(err)
			}
		}
	}
}
