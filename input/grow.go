package input

import (
	"errors"
	"math"
	"path"
	"slices"

	"github.com/ffconvert/ffconvert/input/cache"
)

// What a compressed source will become is not known before it is, so that several groups may
// begin for which together there is no room. Two things help: a source is expected to grow as
// those before it with the same end of the name have, and a group that has found no room lets go
// of all, and begins again once there is as much more at hand.

// expected is how many bytes more the job will take than its want says.
func (s *Stager) expected(j *job) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j.source.Tree != nil {
		return 0
	}
	size := j.source.Size
	if j.source.Object != nil {
		size = j.source.Object.Size
	}
	return int64(min(s.grows[path.Ext(j.source.Name)]*float64(max(size, 0)), math.MaxInt64/4))
}

// learn notes how the sources have grown.
func (s *Stager) learn(jobs []*job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range jobs {
		if f := &j.file; f.Compression != "" && f.SourceSize > 0 {
			end := path.Ext(j.source.Name)
			s.grows[end] = max(s.grows[end], float64(f.Size)/float64(f.SourceSize))
		}
	}
}

// grown notes how large the draft would be where it has found no room.
func (j *job) grown(d *cache.Draft, err error) {
	if errors.Is(err, ErrQuota) {
		j.wanted = max(j.wanted, d.Size()+copySize)
	}
}

// askMore makes the jobs that have found no room ask for more at first; false where that is in
// vain.
func askMore(jobs []*job, quota int64) bool {
	if slices.ContainsFunc(jobs, func(j *job) bool { return j.begun && j.source.once() }) {
		return false
	}
	more := false
	for _, j := range jobs {
		if j.wanted > 0 && j.extra < quota {
			j.extra = 2 * max(j.extra, j.wanted)
			more = true
		}
	}
	return more
}
