package record

import (
	"bytes"
	"testing"
)

// FuzzHeader hands arbitrary files to Reader and Scanner: they never panic, never allocate more than
// the file warrants, agree with each other and with the oracle, and what they accept is written
// again to the same bytes.
func FuzzHeader(f *testing.F) {
	f.Add([]byte(nil), uint16(1))
	f.Add(shardOf(f), uint16(5))
	f.Add(shardOf(f, f3Samples()...)[:60], uint16(3))
	f.Add(shardOf(f, []byte("hello"), nil, []byte("xx")), uint16(13))
	f.Add(bytes.Repeat([]byte{0xff}, 40), uint16(12))
	f.Fuzz(func(t *testing.T, b []byte, block uint16) {
		samples, sound := oracle(b)
		_, err := readAll(b, samples, Options{})
		sum, problems, serr := scan(b, int(block)+1, Options{})
		if (err == nil) != sound || (serr == nil) != sound || (len(problems) == 0) != sound {
			t.Fatalf("oracle %v, reader %v, scanner %v", sound, err, serr)
		}
		if _, lerr := readAll(b, samples, Options{AllowLegacy: true}); sound && lerr != nil {
			t.Fatalf("strict accepts, legacy does not: %v", lerr)
		}
		if !sound {
			return
		}
		if again := shardOf(t, samples...); !bytes.Equal(again, b) || sum.Size != int64(len(b)) {
			t.Fatalf("% x is written again as % x", b, again)
		}
	})
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
		if _, ok := oracle(d.b); !ok {
			t.Fatal("the oracle refuses it")
		}
	})
}
