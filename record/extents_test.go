package record

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"
)

// CheckHeader and ReadExtents say of a shard, sound or changed in one byte, what Open says of it.
func TestExtents(t *testing.T) {
	t.Parallel()
	samples := [][]byte{[]byte("hello"), nil, bytes.Repeat([]byte("x"), 1000), nil, []byte("end")}
	sound := shardOf(t, samples...)
	info, err := CheckHeader(bytes.NewReader(sound), "a.ffr", int64(len(sound)), Options{})
	if err != nil || info.Samples != 5 || info.Size != int64(len(sound)) {
		t.Fatalf("%+v, %v", info, err)
	}
	for first := range int64(6) {
		for count := range 6 - first {
			at, err := ReadExtents(bytes.NewReader(sound), info, first, count, nil)
			if err != nil || int64(len(at)) != count {
				t.Fatalf("%d samples from %d: %v, %v", count, first, at, err)
			}
			for i, e := range at {
				n := first + int64(i)
				payload := sound[e.Off : e.Off+e.Size]
				if !bytes.Equal(payload, samples[n]) || info.CheckSample(n, e, payload) != nil {
					t.Errorf("sample %d: %q at %+v", n, payload, e)
				}
			}
		}
	}
	for _, bad := range [][2]int64{{-1, 1}, {0, 6}, {5, 1}, {1, -1}} {
		if _, err := ReadExtents(bytes.NewReader(sound), info, bad[0], bad[1], nil); !errors.Is(err, errRange) {
			t.Errorf("%v: %v", bad, err)
		}
	}
	for off := range sound {
		damaged := bytes.Clone(sound)
		damaged[off] ^= byte(1 + rand.IntN(255))
		_, err := CheckHeader(bytes.NewReader(damaged), "a.ffr", int64(len(damaged)), Options{})
		if payload := off >= 12+12*5; !payload || off >= len(sound)-3 {
			if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrTooLarge) {
				t.Errorf("byte %d: %v", off, err)
			}
			continue
		}
		e, err := ReadExtents(bytes.NewReader(damaged), info, 0, 5, nil)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for i := range e {
			if errors.Is(info.CheckSample(int64(i), e[i], damaged[e[i].Off:e[i].Off+e[i].Size]), ErrChecksum) {
				found++
			}
		}
		if found != 1 {
			t.Errorf("byte %d: %d samples are damaged", off, found)
		}
	}
	for n := range len(sound) {
		if _, err := CheckHeader(bytes.NewReader(sound[:n]), "a.ffr", int64(n), Options{}); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// Offsets that were changed after the header was checked do not lead out of the file.
func TestExtentsChanged(t *testing.T) {
	t.Parallel()
	sound := shardOf(t, []byte("hello"), []byte("x"))
	info, err := CheckHeader(bytes.NewReader(sound), "a.ffr", int64(len(sound)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, off := range []uint64{0, 1 << 40, 1 << 63} {
		binary.LittleEndian.PutUint64(sound[12+8+8:], off)
		for first := range int64(2) {
			if _, err := ReadExtents(bytes.NewReader(sound), info, first, 1, nil); !errors.Is(err, ErrCorrupt) {
				t.Errorf("offset %d, sample %d: %v", off, first, err)
			}
		}
	}
}
