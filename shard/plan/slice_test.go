package plan

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/checksum"
	"github.com/ffconvert/ffconvert/internal/test/memsource"
)

// A slice of a plan with a byte changed or cut off is refused, or has nothing of the change.
func TestSliceOfDamagedPlan(t *testing.T) {
	t.Parallel()
	src := memsource.New(83, 3, 12, 200)
	plan := newPlan(t, src, encode.Options{}, Options{Sizes: Sizes{Shards: 3}})
	var file bytes.Buffer
	if _, err := plan.Write(&file); err != nil {
		t.Fatal(err)
	}
	read := func(data []byte) (string, error) {
		f, err := OpenFile(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return "", err
		}
		s, err := f.Slice(Task{1, 3}, false)
		if err != nil {
			return "", err
		}
		var b bytes.Buffer
		_, err = s.Plan.Write(&b)
		return b.String() + s.Digest, err
	}
	want, err := read(file.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for i := range file.Len() {
		damaged := bytes.Clone(file.Bytes())
		damaged[i] ^= 1 << (i % 8)
		switch got, err := read(damaged); {
		case err != nil:
			refused++
		case got != want:
			t.Fatalf("bit %d of byte %d changes the slice", i%8, i)
		}
		if got, err := read(file.Bytes()[:i]); err == nil {
			t.Fatalf("cut after %d bytes it has the slice %q", i, got)
		}
	}
	if refused < file.Len()/4 {
		t.Errorf("%d of %d changes are refused", refused, file.Len())
	}
}

// A sparse file is zeros, but for some lines.
type sparse map[int64][]byte

func (s sparse) ReadAt(p []byte, off int64) (int, error) {
	clear(p)
	for at, text := range s {
		if from, to := max(off, at), min(off+int64(len(p)), at+int64(len(text))); from < to {
			copy(p[from-off:to-off], text[from-at:to-at])
		}
	}
	return len(p), nil
}

// Numbers of a plan that a file with holes makes room for size nothing.
func TestSliceOfHostilePlan(t *testing.T) {
	t.Parallel()
	line := func(text string) []byte { return checksum.AppendLine(nil, []byte(text)) }
	head := func(parts, shards int64, more string) []byte {
		return line(fmt.Sprintf(`{"ffconvert_plan":2,"source":{"format":"tar"},"encode":{"encoding":"raw"},"index":{},"parts":%d,"shards":%d%s}`, parts, shards, more))
	}
	row := func(off, sum int64) []byte { return checksum.AppendLine(nil, planRow{off, sum}.text()) }
	const many = 1 << 45
	for _, test := range []struct {
		name          string
		parts, shards int64
		more, shard   string
	}{
		{"parts of a shard", many, 1, "", fmt.Sprintf(`{"name":"PART_00000.ffr","samples":1,"bytes":99,"runs":[[0,0,0,1],[%d,0,0,1]]}`, many-1)},
		{"parts of a part-aligned shard", many, 1, `,"whole_parts":true`, fmt.Sprintf(`{"name":"PART_00000.ffr","first":0,"parts":%d}`, many)},
		{"shards", 1, many, "", `{"name":"PART_00000.ffr","samples":1,"bytes":99,"runs":[[0,0,0,1]]}`},
		{"parts and shards", math.MaxInt64, math.MaxInt64, "", `{}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			const table = 1 << 20
			file := sparse{0: head(test.parts, test.shards, test.more), 1 << 10: line(test.shard), 1 << 11: line(`{"name":"a"}`)}
			rows := test.parts + test.shards
			if test.parts <= many {
				file[table] = row(1<<11, 1)
				file[table+test.parts*planRowSize] = row(1<<10, 1)
				for i := test.shards; i > 0; i /= 2 { // those that a search looks at
					file[table+(test.parts+i-1)*planRowSize] = row(1<<10, 1)
					file[table+(test.parts+i)*planRowSize] = row(1<<10, 1)
				}
			}
			foot := line(fmt.Sprintf(`{"table":%d,"sha256":""}`, table))
			end := max(0, rows*planRowSize) + table
			file[end] = append([]byte{'\n'}, foot...)
			f, err := OpenFile(file, end+1+int64(len(foot)))
			if err == nil {
				_, err = f.Slice(Task{}, false)
			}
			if err == nil || errors.Is(err, ErrUnreadable) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// BenchmarkSlice writes the plan of 400,000 shuffled samples, and reads it as a task does that
// has all 20 shards. A sample has a run of its own.
func BenchmarkSlice(b *testing.B) {
	parts := make([]PartIndex, 100)
	for i := range parts {
		parts[i].Size = 1 << 40
		for j := range int64(4000) {
			parts[i].Add(j*1_000_003, 900+j%200)
			parts[i].Account.Samples++
		}
	}
	plan, err := New(parts, Options{Recipe: Recipe{Shuffle: &Shuffle{1}}, Sizes: Sizes{Shards: 20}})
	if err != nil {
		b.Fatal(err)
	}
	var file bytes.Buffer
	b.Run("write", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			file.Reset()
			if _, err := plan.Write(&file); err != nil {
				b.Fatal(err)
			}
		}
		b.SetBytes(int64(file.Len()))
	})
	b.Run("read", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(file.Len()))
		for b.Loop() {
			f, err := OpenFile(bytes.NewReader(file.Bytes()), int64(file.Len()))
			if err == nil {
				_, err = f.Slice(Task{0, 1}, false)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkNewPlan plans ten million samples, a hundred thousand with -short.
func BenchmarkNewPlan(b *testing.B) {
	samples := int64(10_000_000)
	if testing.Short() {
		samples /= 100
	}
	var part PartIndex
	for i := range samples {
		part.Add(i*1000, 900+i%200)
		part.Account.Samples++
	}
	for name, opts := range map[string]Options{"in order": {}, "shuffled": {Recipe: Recipe{Shuffle: &Shuffle{1}}}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := New([]PartIndex{part}, opts); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
