package aio

import "os"

const (
	// After manyHits cached requests of a file in a row, or manyMisses uncached ones, only every
	// askEvery-th request asks the kernel, and the others assume the same answer: asking takes half as long as
	// reading a small sample. A wrong "no" costs one more read of the device, of many in flight. A wrong
	// "yes" costs more: the kernel reads ahead, and the request is submitted after all others.
	manyHits   = 1024
	manyMisses = 64
	askEvery   = 16
)

// UsePageCache makes ReadBatch read cached data from the page cache, through buffered: the same file, open
// without O_DIRECT. The caller must keep buffered open as long as f, and must call UsePageCache before the
// first ReadBatch of f. Sweep never reads from the page cache.
func (f *File) UsePageCache(buffered *os.File) {
	f.buffered = &File{path: f.path, os: buffered, fd: int(buffered.Fd())}
}

// fromCache reads the requests of b.order that the page cache has. b.order keeps the others, and any for which the page
// cache gave an error or too few bytes: the backend reads these, and finds the error if it persists.
func (b *batch) fromCache() {
	if b.opts.Backend == AIO {
		return
	}
	rest := b.order[:0]
	var file *File
	var answers int64
	for _, k := range b.order {
		q := &b.reqs[k]
		if q.File != file {
			if file != nil {
				file.answers.Store(answers)
			}
			file, answers = q.File, q.File.answers.Load()
		}
		if file.buffered == nil || b.ctx.Err() != nil || !b.inCache(q, &answers) {
			rest = append(rest, k)
			continue
		}
		if n, err := b.cacheRead(file.buffered, q.Buf, q.Off); err != nil || n < len(q.Buf) {
			answers = 0
			rest = append(rest, k)
			continue
		}
		b.stats.Bytes += int64(len(q.Buf))
		b.stats.Cached += int64(len(q.Buf))
	}
	if file != nil {
		file.answers.Store(answers)
	}
	b.order = rest
}

// inCache reports whether the page cache probably has the bytes of q. answers counts consecutive equal answers
// of the kernel: positive for "yes", negative for "no".
func (b *batch) inCache(q *Request, answers *int64) bool {
	n := *answers
	asked := n > -manyMisses && n < manyHits || n%askEvery == 0
	if asked && b.cacheHas(q.File.buffered.os, q.Off, int64(len(q.Buf))) || !asked && n > 0 {
		*answers = max(n, 0) + 1
		return true
	}
	*answers = min(n, 0) - 1
	return false
}
