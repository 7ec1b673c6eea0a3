package plan

import (
	"bytes"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/checksum"
	"github.com/ffconvert/ffconvert/internal/fuzz"
	"github.com/ffconvert/ffconvert/internal/test/memsource"
)

// FuzzReadPlan hands arbitrary files to Read, as they are and with the right digest:
// what is accepted has runs that lie inside their parts, and is written again to a file
// that reads as the same plan, with the same digest. Allocations are bounded.
func FuzzReadPlan(f *testing.F) {
	for _, opts := range []Options{
		{Sizes: Sizes{Shards: 2}},
		{Sizes: Sizes{Shards: 3}, Recipe: Recipe{Shuffle: &Shuffle{9}, Source: SourceSpec{Format: "tar", Options: map[string]string{"x": "y"}}}},
	} {
		var file bytes.Buffer
		if _, err := newPlan(f, memsource.New(1, 2, 3, 10), encode.Options{Rename: []string{"a=bin"}}, opts).Write(&file); err != nil {
			f.Fatal(err)
		}
		f.Add(file.Bytes())
	}
	var file bytes.Buffer
	if _, err := newAligned(f, memsource.New(1, 3, 3, 10), Options{Sizes: Sizes{Shards: 2}}).Write(&file); err != nil {
		f.Fatal(err)
	}
	f.Add(file.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		wantPlan(t, data)
		wantPlan(t, sealed(data))
	})
}

// sealed is a plan file with the CRCs, the table and the foot that it should have, as far as
// its lines are those of a plan: no mutation gets past a SHA-256.
func sealed(data []byte) []byte {
	lines := bytes.SplitAfter(data, []byte{'\n'})
	next := 0
	line := func(v any) bool {
		if next == len(lines) {
			return false
		}
		_, text, _ := bytes.Cut(lines[next], []byte{' '})
		next++
		return checksum.Decode(text, v) == nil
	}
	var head planHead
	if !line(&head) || head.Parts > len(lines) || head.Shards > len(lines) {
		return data
	}
	p := &head.Plan
	for range head.Parts {
		var part Part
		if !line(&part) {
			return data
		}
		p.Parts = append(p.Parts, part)
	}
	for range head.Shards {
		var l planShard
		if !line(&l) || p.Whole != (l.First != nil) {
			return data
		}
		p.Shards = append(p.Shards, l.shard())
	}
	if (&Slice{Plan: p, Shards: head.Shards}).check() != nil {
		return data
	}
	alike := p.Columns.Alike
	p.Columns = p.columns()
	p.Columns.Alike = alike
	var b bytes.Buffer
	if _, err := p.Write(&b); err != nil {
		return data
	}
	return b.Bytes()
}

func wantPlan(t *testing.T, data []byte) {
	var p *Plan
	var err error
	fuzz.WantAllocated(t, 1<<20+500*len(data), func() { p, err = Read(bytes.NewReader(data), int64(len(data))) })
	if err != nil {
		if strings.ContainsAny(err.Error(), "\x1b") {
			t.Fatalf("refused with %q", err)
		}
		return
	}
	next := 0
	for _, s := range p.Shards {
		if p.Whole {
			if s.First != next || s.Parts < 1 || s.First+s.Parts > len(p.Parts) || filepath.Base(s.Name) != s.Name {
				t.Fatalf("shard %+v of %d parts", s, len(p.Parts))
			}
			next += s.Parts
			continue
		}
		found := int64(0)
		for _, r := range s.Runs {
			part := p.Parts[r.Part]
			if r.Count < 1 || r.First < 0 || r.Off < 0 || r.Off > part.Size || uint64(r.First)+uint64(r.Count) > uint64(part.Account.Samples) {
				t.Fatalf("run %+v of a part of %d samples, %d bytes", r, part.Account.Samples, part.Size)
			}
			found += r.Count
		}
		if s.Samples < 1 || s.Samples > found || filepath.Base(s.Name) != s.Name {
			t.Fatalf("shard %+v", s)
		}
	}
	var first, second bytes.Buffer
	digest, err := p.Write(&first)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Read(bytes.NewReader(first.Bytes()), int64(first.Len()))
	if err != nil {
		t.Fatalf("written again it is refused: %v", err)
	}
	if d, err := again.Write(&second); err != nil || d != digest || !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Fatalf("digest %s became %s, %v:\n%s%s", digest, d, err, &first, &second)
	}
	if !reflect.DeepEqual(p.Shards, again.Shards) || len(p.Parts) != len(again.Parts) {
		t.Fatalf("%+v became %+v", p.Shards, again.Shards)
	}
}
