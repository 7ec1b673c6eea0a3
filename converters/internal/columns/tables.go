package columns

import "sync"

// mostTables limits the metadata that a Tables keeps, in bytes.
const mostTables = 32 << 20

// Tables caches the metadata of parts. The zero value is ready.
type Tables[T any] struct {
	mu    sync.Mutex
	known map[int]sized[T]
	bytes int64
}

type sized[T any] struct {
	t     T
	bytes int64
}

// Get returns the metadata of a part. If it is not cached, read returns it and its size in bytes.
func (all *Tables[T]) Get(part int, read func() (t T, bytes int64, err error)) (T, error) {
	all.mu.Lock()
	had, ok := all.known[part]
	all.mu.Unlock()
	if ok {
		return had.t, nil
	}
	t, n, err := read()
	if err != nil {
		return t, err
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	if _, ok := all.known[part]; !ok {
		if all.known == nil {
			all.known = make(map[int]sized[T])
		}
		all.known[part], all.bytes = sized[T]{t, n}, all.bytes+n
	}
	for other, has := range all.known {
		if other != part && all.bytes > mostTables {
			all.bytes -= has.bytes
			delete(all.known, other)
		}
	}
	return t, nil
}
