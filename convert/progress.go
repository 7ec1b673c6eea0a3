package convert

import (
	"sync"

	"github.com/ffconvert/ffconvert/input"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// Staging returns a function for input.Options.Progress. It starts the phase with the first staged
// byte, since most inputs need no staging. The total is 0 if a size is unknown.
func Staging(p plan.Progress, found []input.Name) func(string, int64) {
	if p == nil {
		return nil
	}
	total := int64(0)
	for _, n := range found {
		total += n.Size
		if n.Size < 0 {
			total = 0
			break
		}
	}
	var begin sync.Once
	return func(_ string, n int64) {
		begin.Do(func() { p.Start("stage", total) })
		p.Add(0, n)
	}
}

func (o *Options) staging(found []input.Name) func(string, int64) { return Staging(o.Progress, found) }

// fetching returns a function that counts the bytes fetched while shards are written.
func (o *Options) fetching() func(string, int64) {
	switch p := o.Progress.(type) {
	case nil:
		return nil
	case interface{ Fetched(bytes int64) }:
		return func(_ string, n int64) { p.Fetched(n) }
	}
	return func(_ string, n int64) { o.Progress.Add(0, n) }
}
