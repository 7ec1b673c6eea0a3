package dataset

import (
	"context"
	"math"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ffconvert/ffconvert/verify"
)

// Verify reads a dataset again and compares it with its manifest: all shards, the indexes and meta.json. It
// compares the plan and the journal, which a repair needs, with the manifest, too. how.Progress counts shards alone. If
// how.Only is set, it reads the shards that Only chooses, their indexes and meta.json. What a bucket keeps is fetched, a
// shard at a time by each worker, and removed when it was read. Without a manifest, nil, there are only shards to check.
func (d *Dataset) Verify(ctx context.Context, m *Manifest, how verify.Options) (report *verify.Report, repair *Repairable, err error) {
	began := time.Now()
	names, err := d.Shards()
	if err != nil {
		return nil, nil, err
	}
	if d.bucket != nil {
		how.Fetch = d.bucket.Fetch
	}
	var want []verify.Expect
	if m != nil {
		want = m.Expect()
	}
	if report, err = verify.Dataset(ctx, d.path, names, want, how); err != nil {
		return nil, nil, err
	}
	if m != nil {
		how.Progress = nil
		beside, err := verify.Sums(ctx, d.Root, m.sumsOf(how.Only), how)
		if err != nil {
			return nil, nil, err
		}
		if repair, err = d.checkKept(m); err != nil {
			return nil, nil, err
		}
		report.Merge(beside)
		report.Problems = append(report.Problems, repair.Problems...)
		report.Seconds = time.Since(began).Seconds()
	}
	d.rename(report)
	report.From = d.origin(report.From)
	return report, repair, nil
}

// Extra lists what lies in [IndexDir] and the manifest does not name, as in index/PART_00009.arrow, sorted. Of what a
// bucket keeps it is what the service lists.
func (d *Dataset) Extra(m *Manifest) (names []string, err error) {
	if d.Objects != nil {
		names = d.Objects.Names(IndexDir + "/")
	} else {
		names, err = readNames(d.Root, IndexDir)
		for i, name := range names {
			names[i] = path.Join(IndexDir, name)
		}
	}
	slices.Sort(names)
	named := make(map[string]bool, len(m.Shards))
	for i := range m.Shards {
		named[IndexName(m.Shards[i].Name)] = true
	}
	return slices.DeleteFunc(names, func(name string) bool { return named[name] }), err
}

// rename gives the files of a report, which were read in the scratch of a bucket, the names that they have there.
func (d *Dataset) rename(r *verify.Report) {
	if d.bucket == nil {
		return
	}
	name := func(path *string) {
		if rest, ok := strings.CutPrefix(*path, d.path+"/"); ok {
			*path = d.At(rest)
		}
	}
	for i := range r.Problems {
		name(&r.Problems[i].Path)
	}
	for i := range r.Results {
		name(&r.Results[i].Path)
	}
}

// A Sample limits verification to some of the shards. Either Percent or Shards is set.
type Sample struct {
	Percent float64 // of the shards, rounded up
	Shards  int
	Seed    uint64 // the same seed chooses the same of as many shards
}

// Choose returns the names of the shards to read: one at least.
func (s *Sample) Choose(m *Manifest) map[string]bool {
	n := s.Shards
	if s.Percent > 0 {
		n = int(math.Ceil(float64(len(m.Shards)) * s.Percent / 100))
	}
	n = max(1, min(n, len(m.Shards)))
	chosen := make(map[string]bool, n)
	for _, i := range rand.New(rand.NewPCG(s.Seed, 0)).Perm(len(m.Shards))[:n] {
		chosen[m.Shards[i].Name] = true
	}
	return chosen
}
