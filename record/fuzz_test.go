package record

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"

	"github.com/ffconvert/ffconvert/internal/fuzz"
)

// FuzzHeader hands arbitrary files to Reader and Scanner, as they are and with right checksums: they
// never panic, never allocate more than the file warrants, agree with each other and with the oracle,
// and what they accept is written again to the same bytes.
func FuzzHeader(f *testing.F) {
	f.Add([]byte(nil), uint16(1))
	f.Add(shardOf(f), uint16(5))
	f.Add(shardOf(f, f3Samples()...)[:60], uint16(3))
	f.Add(shardOf(f, []byte("hello"), nil, []byte("xx")), uint16(13))
	f.Add(bytes.Repeat([]byte{0xff}, 40), uint16(12))
	for _, pattern := range []string{"*.ffr", "refused/*.ffr"} {
		paths, err := filepath.Glob(filepath.Join(goldenDir, pattern))
		if err != nil || len(paths) == 0 {
			f.Fatal(paths, err)
		}
		for _, path := range paths {
			b, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b, uint16(len(b)/3))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, block uint16) {
		judge(t, b, int(block)+1)
		judge(t, mended(b), int(block)+1)
	})
}

func judge(t *testing.T, b []byte, block int) {
	samples, sound := oracle(b)
	var sum FileInfo
	var problems []*FormatError
	var err, serr error
	fuzz.WantAllocated(t, 1<<20+200*len(b), func() {
		_, err = readAll(b, samples, Options{})
		sum, problems, serr = scan(b, block, Options{})
	})
	if (err == nil) != sound || (serr == nil) != sound || (len(problems) == 0) != sound {
		t.Fatalf("oracle %v, reader %v, scanner %v", sound, err, serr)
	}
	if !sound {
		return
	}
	if _, err := readAll(b, samples, Options{AllowLegacy: true}); err != nil {
		t.Fatalf("strict accepts, legacy does not: %v", err)
	}
	if again := shardOf(t, samples...); !bytes.Equal(again, b) || sum.Size != int64(len(b)) {
		t.Fatalf("% x is written again as % x", b, again)
	}
}

// mended is b with the checksums that its samples and header should have, where it has tables. No
// mutation gets past a checksum, so without it hardly any offset would be looked at.
func mended(b []byte) []byte {
	if len(b) < headSize {
		return b
	}
	_, n := parseHead(b)
	if n < 0 || n > samplesFit(int64(len(b))) {
		return b
	}
	b = bytes.Clone(b)
	offsets := b[offsetsOff(n):payloadOff(n)]
	for i := range n {
		off, end := parseOff(offsets[offSize*i:]), int64(len(b))
		if i+1 < n {
			end = parseOff(offsets[offSize*(i+1):])
		}
		if 0 <= off && off <= end && end <= int64(len(b)) {
			binary.LittleEndian.PutUint32(b[headSize+sumSize*i:], crc32.ChecksumIEEE(b[off:end]))
		}
	}
	putHead(b, crc32.ChecksumIEEE(b[sumSize:payloadOff(n)]), n)
	return b
}

// FuzzRoundTrip cuts data into samples, writes them in parts, and reads them back.
func FuzzRoundTrip(f *testing.F) {
	f.Add([]byte("hello"), []byte{5, 0, 2})
	f.Add([]byte{}, []byte{})
	f.Add(noise(1, 3000), []byte{0, 255, 0, 7, 100})
	f.Fuzz(func(t *testing.T, data, cuts []byte) {
		var samples [][]byte
		rest := data
		for _, c := range cuts {
			k := min(int(c), len(rest))
			samples = append(samples, rest[:k])
			rest = rest[k:]
		}
		d := &disk{}
		w, err := NewWriter(d, int64(len(samples)))
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range samples {
			k := len(s) * (i % 3) / 2
			if _, err := w.Append(s[:k], s[k:]); err != nil {
				t.Fatal(err)
			}
		}
		sum, err := w.Close()
		if err != nil || sum.Size != FileSize(int64(len(samples)), int64(len(data)-len(rest))) {
			t.Fatal(sum, err)
		}
		if lost, err := readAll(d.b, samples, Options{}); lost > 0 || err != nil {
			t.Fatal(lost, err)
		}
		if got, _, err := scan(d.b, 1+len(data)%61, Options{}); got != sum || err != nil {
			t.Fatal(got, err)
		}
		if got, ok := oracle(d.b); !ok || len(got) != len(samples) {
			t.Fatalf("the oracle has %d samples of %d, sound: %t", len(got), len(samples), ok)
		}
		// One byte from anywhere, and it is refused.
		d.b[(7*len(data)+13*len(cuts))%len(d.b)] ^= byte(1 + len(data)%255)
		if lost, err := readAll(d.b, samples, Options{}); lost > 0 || err == nil {
			t.Fatalf("a changed byte: %d lost, error %v", lost, err)
		}
	})
}
