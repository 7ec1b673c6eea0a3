package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A fakeStore answers as its functions do.
type fakeStore struct {
	readOnly
	statting func() (Object, error)
	paging   func(token string) ([]Object, string, error)
	getting  func(ctx context.Context, off, n int64) (*reply, error)
}

func (s *fakeStore) stat(context.Context, string) (Object, error) { return s.statting() }
func (s *fakeStore) list(_ context.Context, _, token string, _ bool) ([]Object, string, error) {
	return s.paging(token)
}
func (s *fakeStore) open(ctx context.Context, _ Object, off, n int64) (*reply, error) {
	return s.getting(ctx, off, n)
}

// with is a Client that s serves http: of.
func with(t testing.TB, s service, opts Options) *Client {
	c := client(t, opts)
	c.made["http"] = s
	return c
}

func unavailable(after time.Duration) *Error {
	return &Error{URL: "http://x/", Kind: ErrUnavailable, Again: true, After: after}
}

// Waits grow from half a second to half a minute, by a half more or less each.
func TestWaitsGrow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var at []time.Time
		c := with(t, &fakeStore{statting: func() (Object, error) {
			at = append(at, time.Now())
			return Object{}, unavailable(0)
		}}, Options{wait: firstWait})
		_, err := c.Stat(t.Context(), "http://x/")
		if !errors.Is(err, ErrUnavailable) || len(at) != DefaultRetries+1 {
			t.Fatalf("%d attempts: %v", len(at), err)
		}
		want := firstWait
		for i := range at[1:] {
			if wait := at[i+1].Sub(at[i]); wait < want/2 || wait > want*3/2+1 {
				t.Errorf("wait %d: %v, want %v", i, wait, want)
			}
			want = min(2*want, mostWait)
		}
	})
}

// Without retries an error is what it is.
func TestNoRetries(t *testing.T) {
	t.Parallel()
	want := unavailable(0)
	c := with(t, &fakeStore{statting: func() (Object, error) { return Object{}, want }}, Options{Retries: -1})
	if _, err := c.Stat(t.Context(), "http://x/"); err != want {
		t.Error(err)
	}
}

// A service is asked no sooner than it wants, and given up where that is too long.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		after    time.Duration
		patience time.Duration
		want     error
	}{
		{90 * time.Second, 0, nil},
		{14 * time.Minute, 0, nil},
		{16 * time.Minute, 0, ErrUnavailable},
		{time.Hour, 2 * time.Hour, nil},
		{mostAfter, 0, ErrUnavailable},
	} {
		t.Run(fmt.Sprint(row.after), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began, asked := time.Now(), 0
				c := with(t, &fakeStore{statting: func() (Object, error) {
					if asked++; asked == 1 {
						return Object{}, unavailable(row.after)
					}
					return Object{}, nil
				}}, Options{Patience: row.patience})
				_, err := c.Stat(t.Context(), "http://x/")
				took := time.Since(began)
				if !errors.Is(err, row.want) || (err == nil) != (row.want == nil) || err == nil && took < row.after || err != nil && took > 0 {
					t.Errorf("%v after %v", err, took)
				}
			})
		})
	}
}

// A slow object has Patience beyond what it would take at leastRate, and waiting for others
// does not count.
func TestPatience(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		rate int // bytes a second
		want error
	}{
		{"faster", leastRate + leastRate/100, nil},
		{"slower", leastRate - leastRate/4, ErrUnavailable},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const size = 1 << 28 // an hour and more
				c := with(t, &fakeStore{getting: func(_ context.Context, off, n int64) (*reply, error) {
					return &reply{Body: io.NopCloser(&slowReader{n: n, rate: row.rate}), Off: off, N: n, Size: size}, nil
				}}, Options{Connections: 1, RangeSize: 1 << 24})
				began := time.Now()
				err := c.Fetch(t.Context(), Object{URL: "http://x/y", Size: size, Version: "1"}, discardFile{}, nil)
				if !errors.Is(err, row.want) || (err == nil) != (row.want == nil) {
					t.Errorf("%v after %v", err, time.Since(began))
				}
				if err != nil && time.Since(began) < DefaultPatience {
					t.Errorf("given up after %v", time.Since(began))
				}
			})
		})
	}
	t.Run("behind others", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			c := with(t, &fakeStore{getting: func(_ context.Context, off, n int64) (*reply, error) {
				return &reply{Body: io.NopCloser(&slowReader{n: 1 << 26, rate: 1 << 17}), N: 1 << 26, Size: 1 << 26}, nil
			}}, Options{Connections: 1, RangeSize: 1 << 30})
			errs := make(chan error)
			for range 12 { // each takes nine minutes
				go func() {
					errs <- c.Fetch(t.Context(), Object{URL: "http://x/y", Size: 1 << 26, Version: "1"}, discardFile{}, nil)
				}()
			}
			for range 12 {
				if err := <-errs; err != nil {
					t.Error(err)
				}
			}
		})
	})
}

type slowReader struct {
	n    int64
	rate int
}

func (r *slowReader) Read(p []byte) (int, error) {
	if r.n == 0 {
		return 0, io.EOF
	}
	n := min(int64(len(p)), r.n)
	time.Sleep(time.Duration(n) * time.Second / time.Duration(r.rate))
	r.n -= n
	return int(n), nil
}

// A discardFile takes everything and holds x.
type discardFile struct{}

func (discardFile) WriteAt(p []byte, _ int64) (int, error) { return len(p), nil }
func (discardFile) ReadAt(p []byte, _ int64) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// That the name of a service is not found is a mistake before anything was found, and trouble after.
func TestNoSuchHost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		missing := transportError("http://x/", &net.DNSError{Err: "no such host", Name: "x", IsNotFound: true})
		asked := 0
		c := with(t, &fakeStore{
			statting: func() (Object, error) { asked++; return Object{}, missing },
			getting: func(_ context.Context, off, n int64) (*reply, error) {
				if asked++; asked < 4 {
					return nil, missing
				}
				return &reply{Body: io.NopCloser(strings.NewReader("abc")), N: 3, Size: 3}, nil
			},
		}, Options{})
		if _, err := c.Stat(t.Context(), "http://x/"); !errors.Is(err, ErrSetting) || asked != 1 {
			t.Errorf("%d attempts: %v", asked, err)
		}
		if err := c.Fetch(t.Context(), Object{URL: "http://x/", Size: 3, Version: "1"}, new(memFile), nil); err != nil || asked != 4 {
			t.Errorf("%d attempts: %v", asked, err)
		}
	})
}

// A page that breaks is asked for again; a list without order is refused.
func TestListBreaks(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		names string
		want  string // what comes of it
	}{
		{"in order", "abcdef", "abcdef"},
		{"out of order", "abdcef", "abd"},
		{"twice the same", "abccef", "abc"},
	} {
		for broken := range len(row.names) {
			synctest.Test(t, func(t *testing.T) {
				asked := map[int]int{}
				c := with(t, &fakeStore{paging: func(token string) ([]Object, string, error) {
					at, _ := strconv.Atoi(token)
					if asked[at]++; at == broken && asked[at] == 1 {
						return nil, "", unavailable(0)
					}
					next := strconv.Itoa(at + 1)
					if at == len(row.names)-1 {
						next = ""
					}
					return []Object{{URL: "http://x/" + row.names[at:at+1]}}, next, nil
				}}, Options{})
				var got strings.Builder
				var err error
				for o, e := range c.List(t.Context(), "http://x/") {
					if err = e; e == nil {
						got.WriteByte(o.URL[len(o.URL)-1])
					}
				}
				if got.String() != row.want || row.want == row.names && err != nil || row.want != row.names && !errors.Is(err, ErrNoList) {
					t.Errorf("%s, broken at %d: %q, %v", row.name, broken, got.String(), err)
				}
				for at, n := range asked {
					most := 1
					if at == broken {
						most++
					}
					if at == 3 && row.want != row.names { // where the order ends
						most += doubts
					}
					if n > most {
						t.Errorf("%s, broken at %d: page %d is asked for %d times", row.name, broken, at, n)
					}
				}
			})
		}
	}
}

// A list that nobody wants more of ends, and so does one whose context does.
func TestListEnds(t *testing.T) {
	t.Parallel()
	c := with(t, &fakeStore{paging: func(token string) ([]Object, string, error) {
		at, _ := strconv.Atoi(token)
		if at > 1000 {
			return nil, "", context.Canceled
		}
		return []Object{{URL: fmt.Sprintf("http://x/%09d", at)}}, strconv.Itoa(at + 1), nil
	}}, Options{})
	n := 0
	for range c.List(t.Context(), "http://x/") {
		if n++; n == 3 {
			break
		}
	}
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	var last error
	for _, err := range c.List(ctx, "http://x/") {
		cancel(cause)
		last = err
	}
	if n != 3 || last != cause {
		t.Errorf("%d objects, then %v", n, last)
	}
	for _, err := range client(t, Options{}).List(t.Context(), "https://me:"+password+"@127.0.0.1/a/") {
		if !errors.Is(presentable(t, err), ErrNoList) {
			t.Error(err)
		}
	}
}

// What a fetch holds does not grow with the object. Not parallel: it counts what all allocate.
func TestFetchMemory(t *testing.T) {
	const size = 256 << 20
	block := bytes.Repeat([]byte("x"), 1<<20)
	var gets atomic.Int64
	c := with(t, &fakeStore{getting: func(_ context.Context, off, n int64) (*reply, error) {
		gets.Add(1)
		body := io.LimitReader(&repeater{block}, n)
		return &reply{Body: io.NopCloser(body), Off: off, N: n, Size: size}, nil
	}}, Options{RangeSize: 1 << 20, Connections: 4})
	h := sha256.New()
	for range size >> 20 {
		h.Write(block)
	}
	sum := Sum{Kind: "sha256", Value: hex.EncodeToString(h.Sum(nil))}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	must(t, c.Fetch(t.Context(), Object{URL: "http://x/y", Size: size, Version: "1", Sum: sum}, discardFile{}, nil))
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 8*bufferSize || gets.Load() != size>>20 {
		t.Errorf("%d bytes were allocated in %d ranges", n, gets.Load())
	}
}

type repeater struct{ block []byte }

func (r *repeater) Read(p []byte) (int, error) { return copy(p, r.block), nil }

// Errors of the file are reported as they are, and at once.
func TestFetchFileFails(t *testing.T) {
	t.Parallel()
	full := errors.New("no space left")
	data := random(1000, 13)
	for i := range 12 {
		o := &origin{data: data, etag: `"1"`}
		c := client(t, Options{RangeSize: 100, Connections: 2})
		object, err := c.Stat(t.Context(), start(t, o).URL+"/x")
		must(t, err)
		f := &failingFile{err: full}
		f.left.Store(int64(i))
		err = c.Fetch(t.Context(), object, f, nil)
		if failed := f.left.Load() < 0; failed != (err != nil) || err != nil && !errors.Is(err, full) {
			t.Errorf("write %d fails: %v", i, err)
		}
		if _, ok := errors.AsType[*Error](err); err != nil && !ok {
			t.Errorf("%T", err)
		}
	}
}

type failingFile struct {
	memFile
	left atomic.Int64
	err  error
}

func (f *failingFile) WriteAt(p []byte, off int64) (int, error) {
	if f.left.Add(-1) < 0 {
		return 0, f.err
	}
	return f.memFile.WriteAt(p, off)
}

// Under Once nothing is repeated, and the error says whether the service has answered.
func TestOnce(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		err    *Error
		silent bool
	}{
		{unavailable(0), true},
		{&Error{Kind: ErrUnavailable, Again: true, Err: &net.DNSError{IsNotFound: true}}, true},
		{&Error{Kind: ErrUnavailable, Again: true, Status: 503}, false},
		{&Error{Kind: ErrDenied}, true},
		{&Error{Kind: ErrDenied, Status: 403}, false},
		{&Error{Kind: ErrNotFound, Status: 404}, false},
		{&Error{Kind: ErrTLS}, false},
		{&Error{Kind: ErrURL}, false},
	} {
		asked := 0
		c := with(t, &fakeStore{statting: func() (Object, error) {
			asked++
			return Object{}, row.err
		}}, Options{})
		if _, err := c.Stat(Once(t.Context()), "http://x/"); err == nil || asked != 1 || Silent(err) != row.silent {
			t.Errorf("%v: asked %d times, silent %v", err, asked, Silent(err))
		}
	}
}
