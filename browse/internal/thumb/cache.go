package thumb

import (
	"container/list"
	"sync"
)

// entrySize is what an entry takes beside its bytes: its place in a map and a list.
const entrySize = 256

// A cache keeps the thumbnails used last, up to a number of bytes.
type cache struct {
	mu    sync.Mutex
	order list.List // of *entry, the one used last in front
	byID  map[string]*list.Element
	most  int64
	held  int64
}

type entry struct {
	id string
	small
	size int64
}

func newCache(most int64) *cache { return &cache{byID: make(map[string]*list.Element), most: most} }

func (c *cache) get(id string) (small, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, ok := c.byID[id]
	if !ok {
		return small{}, false
	}
	c.order.MoveToFront(at)
	return at.Value.(*entry).small, true
}

func (c *cache) put(id string, s small) {
	e := &entry{id, s, int64(len(id) + len(s.data) + entrySize)}
	if s.err != nil {
		e.size += int64(len(s.err.Error()))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if at, ok := c.byID[id]; ok {
		c.remove(at)
	}
	c.byID[id] = c.order.PushFront(e)
	c.held += e.size
	for c.held > c.most {
		c.remove(c.order.Back())
	}
}

func (c *cache) remove(at *list.Element) {
	e := c.order.Remove(at).(*entry)
	delete(c.byID, e.id)
	c.held -= e.size
}
