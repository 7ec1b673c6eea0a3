package cache

import (
	"fmt"
	"slices"
	"strings"
)

// A shortage is what ends where somebody lets go of enough.
type shortage struct{ need, have int64 } // bytes

func (s *shortage) Error() string {
	return fmt.Sprintf("%d bytes are needed, and %d are free", s.need, s.have)
}

// refused is the error of a shortage that nobody will end.
func (s *shortage) refused(quota int64, crowded bool) error { return &refusal{*s, quota, crowded} }

type refusal struct {
	shortage
	quota   int64
	crowded bool
}

func (r *refusal) Error() string {
	return fmt.Sprintf("%v: %d more bytes are needed, and of its %d bytes no more than %d can be had", ErrQuota, r.need, r.quota, r.have)
}

func (r *refusal) Is(target error) bool {
	return target == ErrQuota || target == ErrCrowded && r.crowded
}

// A tooLarge is what no quota of that size can take.
type tooLarge struct{ need, quota int64 } // bytes

func (t *tooLarge) Error() string {
	return fmt.Sprintf("%v: %d bytes are needed at once, and it is %d bytes", ErrQuota, t.need, t.quota)
}

func (t *tooLarge) Unwrap() error { return ErrQuota }

// room makes room for want more bytes, for least at any rate, and returns how many. It evicts
// copies that nobody uses, the one used longest ago first, and none where that would not do: the
// error is a [*shortage] then. The account and c.mu are held; entries are those of the directory.
func (c *Cache) room(entries []entry, least, want int64) (int64, error) {
	if c.quota <= 0 || want == 0 {
		return want, nil
	}
	free := c.quota
	for _, e := range entries {
		free -= e.info.Size()
	}
	if free >= want {
		return want, nil
	}
	claimed, freed, err := c.claimUnused(entries, want-free)
	defer func() {
		for _, e := range claimed {
			c.unclaim(e.name)
		}
	}()
	if err != nil {
		return 0, err
	}
	if free+freed < least {
		return 0, &shortage{least, max(free+freed, 0)}
	}
	for _, e := range claimed {
		if err := c.removeFile(e.name); err != nil {
			return 0, err
		}
	}
	return min(want, free+freed), nil
}

// claimUnused claims what nobody uses until n bytes can be had: copies, the one used longest
// ago first, and what those have left that were killed while they wrote.
func (c *Cache) claimUnused(entries []entry, n int64) (claimed []entry, freed int64, err error) {
	if c.locks == nil {
		return nil, 0, nil
	}
	unused := slices.DeleteFunc(slices.Clone(entries), func(e entry) bool {
		return c.temps[e.name] || c.users[e.name] > 0 || !trusted(e.info)
	})
	slices.SortFunc(unused, func(a, b entry) int {
		if order := a.used().Compare(b.used()); order != 0 {
			return order
		}
		return strings.Compare(a.name, b.name)
	})
	for _, e := range unused {
		if freed >= n {
			break
		}
		ok, err := c.claim(exclusive, e.name)
		if err != nil {
			return claimed, 0, err
		}
		if ok {
			claimed = append(claimed, e)
			freed += e.info.Size()
		}
	}
	return claimed, freed, nil
}

// hope tells whether somebody here will let go of what he has without getting more first. h is
// the hold that asks for more; nil where a reservation does, which has nothing, so that even
// those who wait for more will have ended their wait some time. Of other processes that must be
// asked before the room is looked for: who lets go in between was there then, or has left room.
//
// That nobody waits for ever follows: all who wait look again whenever one more begins to, here
// at once, elsewhere soon; who finds that nobody is left gets [ErrQuota] and lets go.
func (c *Cache) hope(h *Hold) bool {
	if h != nil && !h.stuck() {
		return true
	}
	for other := range c.holds {
		if other != h && !other.kept && len(other.names)+len(other.open) > 0 && (h == nil || other.active()) {
			return true
		}
	}
	return false
}
