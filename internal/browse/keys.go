package browse

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/ffconvert/ffconvert/dataset/lookup"
	"github.com/ffconvert/ffconvert/internal/place"
)

// errList is the error for samples that a list of keys cannot select.
var errList = place.New(place.Refused, "a list of keys cannot choose these samples")

var errNoKeys = fmt.Errorf("%w: samples of this dataset have no keys", errList)

// keys writes the keys of the samples that q finds, in the format of --keys, and returns their number. It writes
// nothing unless the list selects exactly these samples when the command reads the dataset, or the shard of the query.
func (s *searcher) keys(ctx context.Context, q Query, w io.Writer) (int64, error) {
	f, err := s.filter(q)
	if err != nil {
		return 0, err
	}
	switch keyed, err := s.keyed(); {
	case err != nil:
		return 0, err
	case !keyed:
		return 0, errNoKeys
	}
	l := s.newList(f, listedAtOnce)
	if err := l.choose(ctx); err != nil {
		return 0, err
	}
	if l.n == 0 {
		return 0, fmt.Errorf("%w: there are none", errList)
	}
	if err := l.checkOthers(ctx); err != nil {
		return 0, err
	}
	return l.n, l.write(ctx, w)
}

// listedAtOnce is how many keys are in memory while searching for other samples with the same keys: some 100 MB.
const listedAtOnce = 4 << 20

// A keyList is a list of keys under construction.
type keyList struct {
	*searcher
	f      *filter
	n      int64 // chosen samples
	chosen bitset
	most   int // listedAtOnce

	held map[uint64]int64 // hash of a key → number of the chosen sample
	next int64            // the first chosen sample that was not in held yet
}

func (s *searcher) newList(f *filter, most int) *keyList {
	return &keyList{searcher: s, f: f, chosen: make(bitset, (s.d.Len()+63)/64), most: most, held: make(map[uint64]int64), next: f.first}
}

type bitset []uint64

func (b bitset) set(n int64)      { b[n/64] |= 1 << (n % 64) }
func (b bitset) has(n int64) bool { return b[n/64]>>(n%64)&1 == 1 }

// choose marks the samples that the filter finds.
func (l *keyList) choose(ctx context.Context) error {
	var p hits
	var bad error
	err := l.walk(ctx, l.f, 0, &p, func(r *lookup.Row) bool {
		if r != nil {
			l.chosen.set(r.Number)
			l.n++
			l.hold(r)
			bad = badKey(r)
		}
		return bad == nil && p.Problem == nil
	})
	return cmp.Or(err, bad, p.Problem)
}

// hold adds the key of a chosen sample to held; it returns false if held is full.
func (l *keyList) hold(r *lookup.Row) (more bool) {
	if len(l.held) < l.most {
		l.held[xxhash.Sum64String(r.Key)] = r.Number
		l.next = r.Number + 1
	}
	return len(l.held) < l.most
}

// badKey returns an error if the key cannot be a line of a list.
func badKey(r *lookup.Row) error {
	what := ""
	switch {
	case r.Key == "":
		what = "has no key"
	case strings.Contains(r.Key, "\n"):
		what = "has a line break in its key"
	case strings.HasSuffix(r.Key, "\r"):
		what = "has a carriage return at the end of its key"
	default:
		return nil
	}
	return fmt.Errorf("%w: sample %d %s", errList, r.Number, what)
}

// checkOthers returns an error if a sample that was not chosen has the key of a chosen one.
func (l *keyList) checkOthers(ctx context.Context) error {
	if l.n == l.f.end-l.f.first {
		return nil
	}
	for len(l.held) > 0 {
		err := l.each(ctx, l.f.first, func(r *lookup.Row) (bool, error) {
			if l.chosen.has(r.Number) {
				return true, nil
			}
			n, ok := l.held[xxhash.Sum64String(r.Key)]
			if !ok {
				return true, nil
			}
			same, err := l.d.Fork().Row(n, true)
			if err == nil && same.Key == r.Key {
				err = fmt.Errorf("%w: sample %d has the same key as sample %d, and the query does not find it", errList, r.Number, n)
			}
			return true, err
		})
		full := len(l.held) == l.most
		clear(l.held)
		if err == nil && full {
			err = l.each(ctx, l.next, func(r *lookup.Row) (bool, error) { return !l.chosen.has(r.Number) || l.hold(r), nil })
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *keyList) write(ctx context.Context, w io.Writer) error {
	out := bufio.NewWriterSize(w, 64<<10)
	begun := false
	err := l.each(ctx, l.f.first, func(r *lookup.Row) (bool, error) {
		if !l.chosen.has(r.Number) {
			return true, nil
		}
		if !begun && strings.HasPrefix(r.Key, "\ufeff") {
			out.WriteByte('\n') // otherwise a reader would skip the byte order mark of this key as one of the file
		}
		begun = true
		out.WriteString(r.Key)
		return true, out.WriteByte('\n') // returns the error of any write
	})
	return cmp.Or(err, out.Flush())
}

// each calls use with the samples to examine, from sample from on, until use returns false.
func (l *keyList) each(ctx context.Context, from int64, use func(r *lookup.Row) (bool, error)) error {
	for r, err := range l.d.Fork().WalkFrom(ctx, from) {
		if err != nil {
			return err
		}
		if r.Number == l.f.end {
			return nil
		}
		if more, err := use(r); err != nil || !more {
			return err
		}
	}
	return nil
}
