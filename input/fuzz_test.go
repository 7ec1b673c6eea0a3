package input

import (
	"bufio"
	"bytes"
	stdgzip "compress/gzip"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/ffconvert/ffconvert/internal/fuzz"
)

// FuzzExpand: no pattern panics or hangs; the names are those of the slow model, as many
// as were checked against the limit, none longer than its pattern; unbalanced braces are
// found where the model finds them; and a name expands, escaped, to itself.
func FuzzExpand(f *testing.F) {
	for _, tt := range braceTable {
		f.Add(tt.pattern)
	}
	escape := strings.NewReplacer(`\`, `\\`, "{", `\{`, "}", `\}`, ",", `\,`, "<", `\<`, ":", `\:`, "$", `\$`)
	f.Fuzz(func(t *testing.T, pattern string) {
		if len(pattern) > 1<<12 {
			return // a thousand names of a megabyte each are no use here
		}
		opts := ExpandOptions{Max: 1000, LookupEnv: testEnv}
		var names []string
		var err error
		// A thousand names; and under the race detector, which empties pools, a regular expression's
		// 10 KB wherever a byte may begin a range.
		fuzz.WantAllocated(t, 1<<20+20_000*len(pattern), func() { names, err = collect(Expand(pattern, opts)) })
		if err != nil {
			if !errors.Is(err, ErrPattern) || strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Fatalf("%q: %v", pattern, err)
			}
			if errors.Is(err, errUnbalanced) && modelBalanced(pattern) {
				t.Fatalf("%q: %v, and they are balanced", pattern, err)
			}
			return
		}
		if want, ok := model(pattern); !ok || !slices.Equal(names, want) {
			t.Fatalf("%q: %q; the model has %q, %t", pattern, names, want, ok)
		}
		seqs, err := parsePatterns(pattern, opts)
		if err != nil {
			t.Fatal(err)
		}
		var want int64
		for _, s := range seqs {
			want += s.count()
		}
		if int64(len(names)) != want {
			t.Fatalf("%q: %d names, counted %d", pattern, len(names), want)
		}
		for _, name := range names {
			if len(name) > len(pattern) {
				t.Fatalf("%q: longer name %q", pattern, name)
			}
			again, err := collect(Expand(escape.Replace(name), opts))
			if err != nil || len(again) != 1 || again[0] != name {
				t.Fatalf("%q: escaped, %q expands to %q, %v", pattern, name, again, err)
			}
		}
	})
}

// FuzzLists: no list panics or hangs; its lines are those of a slow reading, none empty or
// longer than the limit; and what was read is a list of the same.
func FuzzLists(f *testing.F) {
	for _, row := range listRows {
		if len(row.text) < 1<<12 {
			f.Add([]byte(row.text))
		}
	}
	read := func(text []byte) (names []string, err error) {
		readList(context.Background(), "list", bytes.NewReader(text), func(a argument, e error) bool {
			if err = e; err == nil {
				names = append(names, a.text)
			}
			return err == nil
		})
		return names, err
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var names []string
		var err error
		fuzz.WantAllocated(t, 4<<20+200*len(text), func() { names, err = read(text) })
		if err != nil {
			if !errors.Is(err, ErrList) || strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Fatal(err)
			}
			return
		}
		var want []string
		for line := range strings.SplitSeq(strings.ReplaceAll(strings.TrimPrefix(string(text), "\ufeff"), "\r\n", "\n"), "\n") {
			if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#") {
				want = append(want, line)
			}
		}
		if !slices.Equal(names, want) || len(names) == 0 {
			t.Fatalf("%q: %q, want %q", text, names, want)
		}
		again, err := read([]byte("#\r\n" + strings.Join(names, "\r\n\r\n") + "\r\n"))
		if err != nil || !slices.Equal(again, names) {
			t.Fatalf("%q, %v; again %q", names, err, again)
		}
	})
}

// FuzzDecoders: no compressed bytes panic, hang or allocate beyond the largest window;
// what is refused has a kind; and what is accepted another decoder, or the same one in
// another mode, decompresses to the same bytes.
func FuzzDecoders(f *testing.F) {
	for _, c := range compressions {
		f.Add(compress(f, c, smallTar(f)))
	}
	const most = 1 << 20 // decompressed bytes: a few of these can be gigabytes
	f.Fuzz(func(t *testing.T, data []byte) {
		compression, err := sniff(data[:min(len(data), sniffLen)])
		if err != nil || compression == "" {
			return
		}
		var out []byte
		fuzz.WantAllocated(t, 4*DefaultMaxWindow+1000*len(data), func() { // xz: the sum of dictionaries that grow from block to block
			r, derr := decoder(compression, bufio.NewReader(bytes.NewReader(data)), DefaultMaxWindow)
			if derr != nil {
				t.Fatal(derr)
			}
			defer r.Close()
			out, err = io.ReadAll(io.LimitReader(r, most))
		})
		if err != nil {
			if _, kind := decodeError(compression, DefaultMaxWindow, err); !errors.Is(kind, ErrTruncated) && !errors.Is(kind, ErrMalformed) || strings.Contains(kind.Error(), "\n") {
				t.Fatalf("%s: %v is %v", compression, err, kind)
			}
			return
		}
		if compression == "xz" && bytes.Count(data, []byte("\x21\x01")) > 2 {
			return // the other decoder takes the window that a header asks for, for every block
		}
		theirs, err := otherDecoder(compression, data, most)
		if compression == "xz" && err != nil && strings.Contains(err.Error(), "filter") {
			return // the other decoder reads LZMA2 alone
		}
		if err != nil || !bytes.Equal(out, theirs) {
			t.Fatalf("%s: we have %d bytes, another decoder %d, %v", compression, len(out), len(theirs), err)
		}
	})
}

// otherDecoder decompresses what was accepted, most bytes at most. Zeros that pad a gzip
// file it does not know.
func otherDecoder(compression string, data []byte, most int64) (out []byte, err error) {
	var r io.Reader
	switch compression {
	case "gzip":
		r, err = stdgzip.NewReader(bytes.NewReader(data))
	case "zstd":
		d, zerr := zstd.NewReader(bytes.NewReader(data), zstd.WithDecoderConcurrency(2))
		if zerr != nil {
			return nil, zerr
		}
		defer d.Close()
		r = d
	case "xz":
		r, err = xz.NewReader(bytes.NewReader(data))
	default: // there is one reader of bzip2 in Go: its input a byte at a time
		d, derr := decoder(compression, bufio.NewReaderSize(bytes.NewReader(data), 16), DefaultMaxWindow)
		if derr != nil {
			return nil, derr
		}
		defer d.Close()
		r = d
	}
	if err != nil {
		return nil, err
	}
	out, err = io.ReadAll(io.LimitReader(r, most))
	if compression == "gzip" && (err == stdgzip.ErrHeader || err == io.ErrUnexpectedEOF) {
		err = nil
	}
	return out, err
}
