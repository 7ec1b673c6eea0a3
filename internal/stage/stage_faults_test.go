package stage

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/test/need"

	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/test/inputtest"
)

func TestBombs(t *testing.T) {
	t.Parallel()
	zeros := make([]byte, 24<<20)
	half := make([]byte, 8<<20)
	for _, tt := range []struct {
		name, compression string
		data              []byte
		opts              Options
		want              error
		says              string
	}{
		{"within the ratio", "gzip", zeros, Options{}, nil, ""}, // deflate cannot pass it
		{"over the ratio", "zstd", zeros, Options{}, ErrRatio, "option max-ratio"},
		{"over a lower ratio", "gzip", zeros, Options{MaxRatio: 900}, ErrRatio, "option max-ratio"},
		{"no ratio", "zstd", zeros, Options{MaxRatio: -1}, nil, ""},
		{"a higher ratio", "zstd", zeros, Options{MaxRatio: 1 << 40}, nil, ""},
		{"small is harmless", "zstd", half, Options{MaxRatio: 2}, nil, ""},
		{"within the quota", "gzip", half, Options{Quota: 8 << 20}, nil, ""},
		{"over the quota", "gzip", half, Options{Quota: 8<<20 - 1}, ErrQuota, "8,388,607 bytes no more than 0 can be had, in "},
		{"quota says what is needed", "gzip", half, Options{Quota: 8<<20 - 1}, ErrQuota, "; at least 8,388,608 are needed at once"},
		{"quota names its option", "gzip", half, Options{Quota: 1}, ErrQuota, "option cache-size"},
		{"quota of plain input", "", half, Options{Quota: 1}, ErrQuota, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, dir, "bomb", compress(t, tt.compression, tt.data))
			arg := "bomb"
			if tt.compression == "" {
				arg, tt.opts.Stdin = "-", bytes.NewReader(tt.data)
			}
			set, err := open(t, dir, tt.opts, arg)
			if !errors.Is(err, tt.want) || (err == nil) != (tt.want == nil) {
				t.Fatalf("got %v, want %v", err, tt.want)
			}
			kept := 0
			if err == nil {
				must(t, set.Release())
				if kept = 1; arg == "-" {
					kept = 0 // no later run can use it
				}
			} else if !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%v does not say %q", err, tt.says)
			}
			if names := left(t, dir); len(names) != kept {
				t.Errorf("left behind: %q, want %d", names, kept)
			}
		})
	}
}

// The quota is of the cache, whoever filled it: what is in use stays, what was used makes room.
func TestQuotaCountsEarlierRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a", "b", "c"} {
		write(t, dir, name, compress(t, "gzip", make([]byte, 1000)))
	}
	opts := Options{Quota: 1999}
	first, err := open(t, dir, opts, "a")
	must(t, err)
	_, err = open(t, dir, opts, "b") // as another process: it is told, and does not wait
	if !errors.Is(err, ErrQuota) || strings.Contains(err.Error(), "\n") {
		t.Fatal(err)
	}
	for _, says := range []string{"1,000 more bytes are needed, and of its 1,999 bytes no more than 999 can be had; other processes use 1,000, in ", "raise option cache-size"} {
		if !strings.Contains(err.Error(), says) {
			t.Errorf("%v does not say %q", err, says)
		}
	}
	again, err := open(t, dir, opts, "a")
	if err != nil {
		t.Fatal("what is there already needs no room:", err)
	}
	must(t, again.Release())
	opts.Quota++
	second, err := open(t, dir, opts, "b")
	must(t, err)
	if names := left(t, dir); len(names) != 2 {
		t.Fatalf("left %q", names)
	}
	must(t, first.Release())
	must(t, second.Release())
	third, err := open(t, dir, opts, "c")
	must(t, err)
	if names := left(t, dir); len(names) != 2 || exists(dir, "cache/"+filepath.Base(first.Parts[0].Path)) {
		t.Fatalf("left %q", names)
	}
	must(t, third.Release())
}

// Each operation on the cache fails in turn; each failure is reported, with its
// errno, and leaves nothing behind.
func TestCacheFaults(t *testing.T) {
	t.Parallel()
	data := smallTar(t)
	for _, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EIO, syscall.EDQUOT} {
		for k := int64(0); ; k++ {
			dir := t.TempDir()
			write(t, dir, "x", compress(t, "gzip", data))
			var n int64
			opts := Options{fault: func(op string) error {
				if n++; n-1 == k {
					return &fs.PathError{Op: op, Path: "somewhere", Err: errno}
				}
				return nil
			}}
			set, err := open(t, dir, opts, "x")
			if err == nil {
				err = set.Release()
			}
			if n <= k {
				must(t, err)
				if k < 8 {
					t.Fatalf("only %d operations", k)
				}
				break
			}
			var got syscall.Errno
			var e *place.Error
			if !errors.As(err, &got) || got != errno || !errors.As(err, &e) || !strings.Contains(err.Error(), "cache") {
				t.Fatalf("operation %d: got %v", k, err)
			}
			if names := left(t, dir); names != nil {
				t.Fatalf("operation %d: left behind %q", k, names)
			}
		}
	}
}

// The k-th read of the source fails, after data and with data.
func TestSourceFaults(t *testing.T) {
	t.Parallel()
	need.Time(t, "an error at each byte")
	for _, c := range append(compressions, "") {
		data := compress(t, c, smallTar(t))
		for n := range len(data) {
			if n%23 != 0 && n > 6 && n < len(data)-2 {
				continue
			}
			dir := t.TempDir()
			broken := io.MultiReader(iotest.OneByteReader(bytes.NewReader(data[:n])), iotest.ErrReader(syscall.EIO))
			_, err := open(t, dir, Options{Options: input.Options{Stdin: broken}}, "-")
			var errno syscall.Errno
			if !errors.As(err, &errno) || errno != syscall.EIO || left(t, dir) != nil {
				t.Fatalf("%q, after %d bytes: %v, left %q", c, n, err, left(t, dir))
			}
		}
	}
}

func TestChangedSource(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, compression string
		change            func(path string) error
		want              error
	}{
		{"plain, longer", "", func(p string) error { return os.Truncate(p, 1<<20) }, input.ErrChanged},
		{"plain, touched", "", func(p string) error { return os.Chtimes(p, time.Time{}, time.Unix(1, 0)) }, input.ErrChanged},
		{"plain, gone", "", os.Remove, input.ErrNotFound},
		{"gzip, touched", "gzip", func(p string) error { return os.Chtimes(p, time.Time{}, time.Unix(1, 0)) }, input.ErrChanged},
		{"a named pipe now", "", func(p string) error {
			return errors.Join(os.Remove(p), syscall.Mkfifo(p, 0o600))
		}, input.ErrNotRegular},
	} {
		t.Run(tt.name+", before", func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, dir, "x", compress(t, tt.compression, smallTar(t)))
			path := filepath.Join(dir, "x")
			opts := Options{Options: input.Options{LookupEnv: noEnv}, CacheDir: filepath.Join(dir, "cache")}
			found, err := input.Find(t.Context(), []string{path}, opts.Options)
			must(t, err)
			must(t, tt.change(path))
			if _, err := Open(t.Context(), found, opts); !errors.Is(err, tt.want) {
				t.Fatal(err)
			}
		})
		if tt.compression == "" {
			continue
		}
		t.Run(tt.name+", meanwhile", func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, dir, "x", compress(t, tt.compression, smallTar(t)))
			opts := Options{fault: func(op string) error {
				if op == "write" {
					return tt.change(filepath.Join(dir, "x"))
				}
				return nil
			}}
			if _, err := open(t, dir, opts, "x"); !errors.Is(err, tt.want) || left(t, dir) != nil {
				t.Fatal(err, left(t, dir))
			}
		})
	}
}

func TestUnreadableSource(t *testing.T) {
	t.Parallel()
	if !inputtest.Unprivileged(t) {
		return
	}
	dir := t.TempDir()
	write(t, dir, "x", smallTar(t))
	must(t, os.Chmod(filepath.Join(dir, "x"), 0))
	_, err := open(t, dir, Options{}, "x")
	if !errors.Is(err, fs.ErrPermission) || !errors.Is(err, syscall.EACCES) {
		t.Fatal(err)
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	why := errors.New("interrupted")
	t.Run("before", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		write(t, dir, "x", compress(t, "gzip", smallTar(t)))
		opts := Options{Options: input.Options{LookupEnv: noEnv}, CacheDir: filepath.Join(dir, "cache")}
		found, err := input.Find(t.Context(), []string{filepath.Join(dir, "x")}, opts.Options)
		must(t, err)
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(why)
		if _, err := Open(ctx, found, opts); !errors.Is(err, why) || left(t, dir) != nil {
			t.Fatal(err)
		}
	})
	t.Run("meanwhile", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		write(t, dir, "x", compress(t, "gzip", make([]byte, 32<<20)))
		ctx, cancel := context.WithCancelCause(t.Context())
		writes := 0
		opts := Options{Options: input.Options{LookupEnv: noEnv}, CacheDir: filepath.Join(dir, "cache"), fault: func(op string) error {
			if op == "write" {
				if writes++; writes == 3 {
					cancel(why)
				}
			}
			return nil
		}}
		found, err := input.Find(t.Context(), []string{filepath.Join(dir, "x")}, opts.Options)
		must(t, err)
		if _, err := Open(ctx, found, opts); !errors.Is(err, why) || left(t, dir) != nil || writes > 3+4 {
			t.Fatal(err, writes, left(t, dir))
		}
	})
	t.Run("standard input that blocks", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		r, w := io.Pipe()
		defer w.Close()
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() {
			w.Write(make([]byte, 10_000))
			cancel(why)
		}()
		opts := Options{Options: input.Options{Stdin: r, LookupEnv: noEnv}, CacheDir: filepath.Join(dir, "cache")}
		if _, err := Open(ctx, []input.Name{{Name: "-", Size: -1}}, opts); !errors.Is(err, why) || left(t, dir) != nil {
			t.Fatal(err, left(t, dir))
		}
	})
}

// One bad input fails the set; copies of the good ones stay for the next run, but
// never that of standard input.
func TestOneOfManyFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data := compress(t, "gzip", smallTar(t))
	write(t, dir, "good", data)
	write(t, dir, "bad", data[:len(data)-1])
	_, err := open(t, dir, Options{Options: input.Options{Stdin: bytes.NewReader(data)}, Workers: 1}, "good", "-", "bad")
	var e *place.Error
	if !errors.Is(err, ErrTruncated) || !errors.As(err, &e) || e.Where != filepath.Join(dir, "bad") {
		t.Fatal(err)
	}
	if names := left(t, dir); len(names) != 1 || !strings.HasSuffix(names[0], ".staged") {
		t.Fatalf("left %q", names)
	}
}
