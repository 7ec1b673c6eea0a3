package dataset

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A Status tells how many shards of a plan are finished, running and missing, by the files in the directory.
type Status struct {
	Plan     string    `json:"plan_sha256"`
	Format   string    `json:"format"`
	Parts    int       `json:"parts"`
	Shards   int       `json:"shards"`
	Bytes    int64     `json:"bytes"` // size of all shards; if the plan is part-aligned, stored size of its parts
	Done     int       `json:"shards_done"`
	DoneSize int64     `json:"bytes_done"`
	Running  []running `json:"running"`  // not done, but claimed
	Missing  []string  `json:"missing"`  // neither, or of another size; in the order of the plan
	Manifest bool      `json:"manifest"` // the manifest exists: the dataset was complete once
	Complete bool      `json:"complete"` // the manifest is there, and so are all shards and their indexes

	damage  error // the manifest cannot be read
	journal error // the journal is damaged, or is missing while shards exist

	// Rate is how many bytes a second were finished in the last rateSpan before now, or since
	// the first shard was, where that is shorter; 0: none were.
	Rate float64 `json:"bytes_per_second"`
}

// rateSpan is the time that a rate is of.
const rateSpan = 10 * time.Minute

// A running shard is one that a process has claimed.
type running struct {
	Shard string    `json:"shard"`
	Task  string    `json:"task"`
	Host  string    `json:"host"`
	PID   int       `json:"pid"`
	Since time.Time `json:"since"`
	Seen  time.Time `json:"seen"`  // when it showed life last
	Stale bool      `json:"stale"` // so long ago that it must be taken for dead
}

// Status reads the plan, the journals, the claims, and the names and sizes of shards and indexes. It reads no shard.
// A directory without a plan is [ErrNothingKept].
func (d *Dataset) Status() (*Status, error) {
	if err := d.ownFiles(); err != nil {
		return nil, err
	}
	s := &Status{Running: []running{}, Missing: []string{}}
	j, err := readJournal(d.Dir, "", 0, 0, maxShards)
	if err != nil {
		return nil, err
	}
	head, lines := j.head.Plan, len(j.Done)
	if err := s.readManifest(d, j); err != nil {
		return nil, err
	}
	claims, err := readClaims(d.Root)
	if err != nil {
		return nil, err
	}
	claimed := make(map[string]bool, len(claims))
	now := time.Now()
	var recent rate
	var unknown error
	err = d.readPlan(func(f *plan.File) error {
		if err := f.Check(); err != nil {
			return err
		}
		s.Plan, s.Format, s.Parts, s.Shards = f.Digest(), f.Head.Source.Format, f.Head.Parts, f.Head.Shards
		if j.head.Plan != s.Plan {
			clear(j.Done)
		}
		for _, c := range claims {
			if _, done := j.Done[c.shard]; !done {
				claimed[c.shard] = true
				s.Running = append(s.Running, running{c.shard, c.Task, c.Host, c.PID, c.Since, c.shown(), c.isDead(now)})
			}
		}
		return f.Weights(func(i int, weight int64) {
			name := record.Name(i, s.Shards)
			done, ok := j.Done[name]
			if ok {
				var err error
				ok, err = d.sized(done)
				unknown = cmp.Or(unknown, err)
			}
			s.Bytes += weight
			switch {
			case ok:
				s.Done++
				s.DoneSize += weight
				recent.add(now, time.Unix(done.At, 0), weight)
			case !claimed[name]:
				s.Missing = append(s.Missing, name)
			}
		})
	})
	if err = cmp.Or(err, unknown); err != nil {
		return nil, err
	}
	if head != s.Plan || j.Bad > 0 && lines < s.Shards {
		if err := s.checkJournal(d, j, head); err != nil {
			return nil, err
		}
	}
	if recent.bytes > 0 {
		s.Rate = float64(recent.bytes) / max(1, now.Sub(recent.first).Seconds())
	}
	s.Complete = s.Manifest && s.damage == nil && s.Done == s.Shards
	return s, nil
}

// checkJournal sets s.journal if the journal is damaged. A missing journal is not damage before the first
// shard is written, nor in a finished dataset.
func (s *Status) checkJournal(d *Dataset, j *Journal, head string) error {
	if head == "" && j.Bad == 0 {
		names, err := d.Shards()
		if err != nil || len(names) == 0 || s.Manifest {
			return err
		}
	}
	s.journal = d.damagedJournal(j.Bad)
	return nil
}

// Err is [ErrManifest] or [ErrManifestVersion] if the manifest cannot be read, [plan.ErrDamaged] if the journal is
// damaged, and a [Missing] if the dataset was complete and shards or their indexes are gone or have other sizes.
// Shards of a plan that are not written yet are not an error.
func (s *Status) Err() error {
	if err := cmp.Or(s.damage, s.journal); err != nil || s.Complete || !s.Manifest {
		return err
	}
	gone := &Missing{Shards: slices.Clone(s.Missing), Of: s.Shards}
	for _, r := range s.Running {
		gone.Shards = append(gone.Shards, r.Shard)
	}
	return gone
}

// readManifest reads the manifest, and enters the shards in it that the journal has no line of.
func (s *Status) readManifest(d *Dataset, j *Journal) error {
	m, err := d.Manifest()
	if errors.Is(err, ErrManifest) || errors.Is(err, ErrManifestVersion) {
		s.Manifest, s.damage = true, err
		return nil
	}
	if err != nil || m == nil {
		return err
	}
	s.Manifest = true
	if m.PlanDigest != j.head.Plan && j.head.Plan != "" {
		return nil
	}
	j.head.Plan = m.PlanDigest
	for _, shard := range m.Shards {
		if _, known := j.Was[shard.Name]; !known {
			j.Done[shard.Name] = Finished{ManifestShard: shard, At: m.Created.Unix()}
		}
	}
	return nil
}

// A rate adds up the bytes of recently finished shards.
type rate struct {
	bytes int64
	first time.Time // when the first of them was finished
}

func (r *rate) add(now, at time.Time, bytes int64) {
	if now.Sub(at) > rateSpan {
		r.first = now.Add(-rateSpan)
		return
	}
	r.bytes += bytes
	if r.first.IsZero() || at.Before(r.first) {
		r.first = at
	}
}

// Named returns how many shards of a directory have their final name, and how many its plan has. When they are equal,
// write.Finish may succeed. A directory without a plan is [ErrNothingKept].
func Named(dir string) (named, of int, err error) {
	d, err := View(dir)
	if err != nil {
		return 0, 0, err
	}
	defer d.Close()
	names, err := d.Shards()
	if err != nil {
		return 0, 0, err
	}
	err = d.readPlan(func(f *plan.File) error {
		of = f.Head.Shards
		return nil
	})
	return min(len(names), of), of, err
}
