package tar

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/convertertest"
)

// sound is three members, two samples, 3,584 bytes and padding to 10,240.
func sound() []byte {
	b := archive(regular("a.jpg", "first"), regular("a.cls", "1"), regular("b.jpg", strings.Repeat("second", 100)))
	return append(b, make([]byte, 10240-len(b))...)
}

const soundEnd = 512 * 7 // where the zeros begin

func TestRefuse(t *testing.T) {
	t.Parallel()
	lenient := Options{AllowMissingTrailer: true, Concatenated: true, KeepDuplicates: true}
	for _, c := range []struct {
		name    string
		corrupt func([]byte) []byte
		want    error
		hint    string   // with the flag that relaxes it; "": none does
		relaxed []string // what the index has with all flags
	}{
		{name: "empty file", corrupt: func(b []byte) []byte { return nil }, want: converters.ErrTruncated},
		{name: "no trailer", corrupt: func(b []byte) []byte { return b[:soundEnd] }, want: converters.ErrTruncated,
			hint: "option allow-missing-trailer", relaxed: []string{"a jpg=5 cls=1", "b jpg=600", "waived: missing end of archive"}},
		{name: "one zero block", corrupt: func(b []byte) []byte { return b[:soundEnd+512] }, want: converters.ErrTruncated,
			hint: "option allow-missing-trailer", relaxed: []string{"a jpg=5 cls=1", "b jpg=600", "waived: missing end of archive"}},
		{name: "half a zero block", corrupt: func(b []byte) []byte { return b[:soundEnd+256] }, want: converters.ErrTruncated},
		{name: "one zero block and a half", corrupt: func(b []byte) []byte { return b[:soundEnd+768] }, want: converters.ErrTruncated},
		{name: "cut in the padding", corrupt: func(b []byte) []byte { return b[:soundEnd-1] }, want: converters.ErrTruncated},
		{name: "cut in the payload", corrupt: func(b []byte) []byte { return b[:soundEnd-600] }, want: converters.ErrTruncated},
		{name: "cut in a header", corrupt: func(b []byte) []byte { return b[:1024+100] }, want: converters.ErrTruncated},
		{name: "first header damaged", corrupt: func(b []byte) []byte { b[0] ^= 1; return b }, want: converters.ErrMalformed},
		{name: "last header damaged", corrupt: func(b []byte) []byte { b[2048+400] ^= 1; return b }, want: converters.ErrMalformed},
		{name: "checksum damaged", corrupt: func(b []byte) []byte { b[148]++; return b }, want: converters.ErrMalformed},
		{name: "checksum not a number", corrupt: func(b []byte) []byte { b[149] = 'x'; return b }, want: converters.ErrMalformed},
		{name: "one byte behind the end", corrupt: func(b []byte) []byte { return append(b, 1) }, want: converters.ErrMalformed},
		{name: "a byte among the zeros", corrupt: func(b []byte) []byte { b[9000] = 'x'; return b }, want: converters.ErrMalformed},
		{name: "noise behind the end", corrupt: func(b []byte) []byte { return append(b, bytes.Repeat([]byte("noise"), 1000)...) }, want: converters.ErrMalformed},
		{name: "second archive", corrupt: func(b []byte) []byte { return append(b, archive(regular("c.jpg", "x"))...) }, want: converters.ErrUnsupported,
			hint: "option concatenated", relaxed: []string{"a jpg=5 cls=1", "b jpg=600", "waived: appended archive", "c jpg=1"}},
		{name: "second archive with the last key", corrupt: func(b []byte) []byte { return append(b, archive(regular("b.cls", "x"))...) }, want: converters.ErrUnsupported,
			hint: "option concatenated", relaxed: []string{"a jpg=5 cls=1", "b jpg=600", "waived: appended archive", "waived: key that came back", "b cls=1"}},
		{name: "second archive, cut", corrupt: func(b []byte) []byte { return append(b, regular("c.jpg", "x")[:600]...) }, want: converters.ErrUnsupported, hint: "option concatenated"},
		{name: "lone zero block", corrupt: func(b []byte) []byte { return slices.Insert(b, 2048, make([]byte, 512)...) }, want: converters.ErrUnsupported,
			hint: "option concatenated", relaxed: []string{"a jpg=5 cls=1", "waived: missing end of archive", "waived: appended archive", "b jpg=600"}},
		{name: "duplicate suffix", corrupt: func(b []byte) []byte { return archive(regular("a.jpg", ""), regular("a.jpg", "")) }, want: converters.ErrDuplicate},
		{name: "duplicate suffix by case", corrupt: func(b []byte) []byte { return archive(regular("a.jpg", ""), regular("a.JPG", "")) }, want: converters.ErrDuplicate},
		{name: "duplicate suffix over a skipped member", corrupt: func(b []byte) []byte {
			return archive(regular("a.jpg", ""), regular("README", ""), regular("a.jpg", ""))
		}, want: converters.ErrDuplicate},
		{name: "duplicate suffix of many", corrupt: func(b []byte) []byte {
			var m [][]byte
			for i := range 100 {
				m = append(m, regular("a."+strings.Repeat("x", i), ""))
			}
			return archive(append(m, regular("a.xx", ""))...)
		}, want: converters.ErrDuplicate},
		{name: "key that comes back", corrupt: func(b []byte) []byte {
			return archive(regular("a.jpg", ""), regular("b.jpg", ""), regular("a.cls", ""))
		}, want: converters.ErrDuplicate,
			hint: "option on-duplicate-key keep", relaxed: []string{"a jpg=0", "b jpg=0", "waived: key that came back", "a cls=0"}},
		{name: "PAX header too large", corrupt: func(b []byte) []byte {
			return archive(pax("comment="+strings.Repeat("x", DefaultMaxHeader)), regular("a.jpg", ""))
		}, want: converters.ErrLimit, hint: "option max-header-size"},
		{name: "sample too large", corrupt: func(b []byte) []byte {
			return archive(regular("a.jpg", strings.Repeat("x", 60_000)), regular("a.cls", ""))
		},
			want: converters.ErrLimit, hint: "option max-sample-size"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			data := c.corrupt(sound())
			got, err := listed(t, memory(Options{MaxSample: 60_000 + 512}, data))
			if !errors.Is(err, c.want) {
				t.Fatalf("%q, error %v, want %v", got, err, c.want)
			}
			var placed *converters.Error
			if !errors.As(err, &placed) || placed.Where != "part-0.tar" || placed.Off < 0 {
				t.Errorf("no place: %v", err)
			}
			if (c.hint == "") != (placed.Hint == "") || !strings.Contains(placed.Hint, c.hint) {
				t.Errorf("hint %q, want %q", placed.Hint, c.hint)
			}
			lenient := lenient
			lenient.MaxSample = 60_000 + 512
			got, err = listed(t, memory(lenient, data))
			if (err == nil) != (c.relaxed != nil) || err == nil && !slices.Equal(got, c.relaxed) {
				t.Errorf("with all flags: %q, error %v, want %q", got, err, c.relaxed)
			}
		})
	}
}

// The limit of metadata holds to the byte.
func TestMaxHeader(t *testing.T) {
	t.Parallel()
	data := archive(long(typeLongName, "a/b.jpg"), regular("x", "1")) // 8 bytes, with the NUL
	for most, want := range map[int64]error{7: converters.ErrLimit, 8: nil, 0: nil} {
		got, err := listed(t, memory(Options{MaxHeader: most}, data))
		if !errors.Is(err, want) || want != nil && !strings.Contains(err.Error(), "at most 7 are read") {
			t.Errorf("at most %d: %q, %v", most, got, err)
		}
	}
}

// Any number of zero blocks from two on is an end.
func TestEnds(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1024, 1536, 10_240, 102_400} {
		if got, err := listed(t, memory(Options{}, append(sound()[:soundEnd], make([]byte, n)...))); err != nil || len(got) != 2 {
			t.Errorf("%d zeros: %q, %v", n, got, err)
		}
	}
	if got, err := listed(t, memory(Options{}, make([]byte, 1024))); err != nil || len(got) != 0 {
		t.Errorf("no members: %q, %v", got, err)
	}
}

// Two keys with one hash are two keys, and each is found again, in ascending order and in any other.
func TestKeys(t *testing.T) {
	t.Parallel()
	const n = 3 * fewKeys // the table grows
	var names []string
	var members [][]byte
	for i := range n {
		names = append(names, fmt.Sprintf("%04d", i))
	}
	names = append(names, "0000-more") // not in order
	for i := range n {
		names = append(names, fmt.Sprintf("%04d", 2*n-i))
	}
	for _, name := range names {
		members = append(members, regular(name+".x", "payload"))
	}
	s := memory(Options{}, archive(members...))
	f, err := s.open(s.Parts()[0], converters.Cached)
	if err != nil {
		t.Fatal(err)
	}
	off := func(i int) int64 { return int64(2 * blockSize * i) }
	k := newKeys(f, s.Parts()[0], DefaultMaxHeader)
	for i, name := range names {
		if i == n && k.slots != nil {
			t.Fatal("a table of keys that ascend")
		}
		if i == n+2 { // as if the first key had the hash of this one
			k.insert(slot{k.hash(name), 1})
		}
		if first, again, err := k.add(t.Context(), name, off(i)); again || err != nil {
			t.Fatalf("%s: first at %d, %t, %v", name, first, again, err)
		}
	}
	for i, name := range names {
		if first, again, err := k.add(t.Context(), name, off(len(names))); !again || err != nil || first != off(i) {
			t.Errorf("%s again: first at %d, %t, %v, want %d", name, first, again, err, off(i))
		}
	}
}

// Keys that are no longer in order are all read again, until the context ends.
func TestKeysEnd(t *testing.T) {
	t.Parallel()
	const n = 5000
	var members [][]byte
	for i := range n {
		members = append(members, regular(fmt.Sprintf("%04d.x", i), ""))
	}
	s := memory(Options{}, archive(append(members, regular("0000.x", ""))...))
	open, use := convertertest.Count(s.open)
	f, err := open(s.Parts()[0], converters.Cached)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	k := newKeys(cancelling{f, cancel}, s.Parts()[0], DefaultMaxHeader)
	for i := range n {
		if _, _, err := k.add(t.Context(), fmt.Sprintf("%04d", i), int64(blockSize*i)); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := k.add(ctx, "0000", blockSize*n); !errors.Is(err, context.Canceled) || use.Read.Load() > 1024*blockSize+headerReads {
		t.Errorf("%v after %d bytes", err, use.Read.Load())
	}
}

// A cancelling file cancels a context when it is read.
type cancelling struct {
	converters.File
	cancel func()
}

func (f cancelling) ReadAt(p []byte, off int64) (int, error) {
	f.cancel()
	return f.File.ReadAt(p, off)
}

// A tar that its writer padded to 10,240 bytes, cut in the padding, 1,124 zeros behind the last
// member among others: it has its two zero blocks, and nothing belongs to it behind them.
func TestCutPadding(t *testing.T) {
	t.Parallel()
	data := archive(regular("a.jpg", "x"))
	whole := len(data)
	data = append(data, make([]byte, 10_240-whole)...)
	for n := whole; n <= len(data); n++ {
		_, err := listed(t, memory(Options{}, data[:n]))
		if err != nil {
			t.Errorf("cut at %d: %v", n, err)
		}
		_, err = listed(t, memory(Options{}, append(data[:n:n], 'x')))
		if !errors.Is(err, converters.ErrMalformed) {
			t.Errorf("a byte at %d: %v", n, err)
		}
	}
}

// E1: a tar of three members, cut at every byte.
func TestCutEverywhere(t *testing.T) {
	t.Parallel()
	need.Time(t, "a cut at each byte")
	data := archive(regular("a.jpg", strings.Repeat("x", 20_000)), regular("a.cls", "1"), regular("b.jpg", strings.Repeat("y", 9_700)))
	data = append(data, make([]byte, 33_280-len(data))...)
	end := bytes.LastIndexByte(data, 'y')/512*512 + 512
	undetected := 0
	for n := range end + 1024 {
		if got, err := listed(t, memory(Options{}, data[:n])); err == nil {
			undetected++
			t.Errorf("cut at %d: %q", n, got)
		} else if !errors.Is(err, converters.ErrTruncated) {
			t.Errorf("cut at %d: %v", n, err)
		}
		_, err := listed(t, memory(Options{AllowMissingTrailer: true}, data[:n]))
		boundary := n == 20_992 || n == 22_016 || n == end || n == end+512
		if (err == nil) != boundary {
			t.Errorf("cut at %d, without trailer: %v", n, err)
		}
	}
	t.Logf("E1 cases=%d undetected=%d lost=0", end+1024, undetected)
}
