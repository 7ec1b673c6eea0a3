package check

import (
	"context"
	"sync"

	"golang.org/x/sync/errgroup"
)

// run looks at all parts, so many at once, and merges what was found in their order: a
// report does not tell how many workers made it. No other file of the package has
// goroutines.
func (c *checker) run(ctx context.Context) error {
	total := int64(0)
	for _, p := range c.parts {
		total += p.Size
	}
	c.opts.Progress.Start("check", total)
	c.keys = make([]partKeys, len(c.parts))

	var g errgroup.Group
	g.SetLimit(c.opts.Workers)
	var mu sync.Mutex
	waiting := make(map[int]*part) // for the parts before them
	next := 0
	for i := range c.parts {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			p := c.newPart(i)
			p.look(ctx)
			mu.Lock()
			defer mu.Unlock()
			waiting[i] = p
			for ; waiting[next] != nil; next++ {
				c.merge(waiting[next])
				delete(waiting, next)
			}
			return nil
		})
	}
	g.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	return c.finish(ctx)
}
