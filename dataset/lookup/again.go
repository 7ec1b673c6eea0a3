package lookup

import (
	"errors"

	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/record"
)

// rereads is how often bytes are read again that came over a network and are not sound. What is judged at once may have come by
// four requests, each of which may have been damaged.
const rereads = 4

// sound calls read, which reads some bytes and judges them. Where Options.Open opens what comes over a network, bytes that
// are not sound are read again, as they may be damaged on their way: then read is called with again.
func (d *Dataset) sound(read func(again bool) error) error {
	err := read(false)
	for n := 0; n < rereads && isDamage(err) && d.opts.Open != nil; n++ {
		err = read(true)
	}
	return err
}

// sample finds a sample by the header of its shard, of which known has some rows, and reads it. Without an index nothing but the
// record tells whether the header's row is sound: then both are read again.
func (d *Dataset) sample(r *Row, known *extents, find func(*Row) (record.Extent, error), read func(again bool) error) error {
	indexed := r.Placed
	locate := func(again bool) error {
		if again {
			known.at = known.at[:0]
		}
		e, err := find(r)
		if err != nil {
			return err
		}
		return d.locate(r, e)
	}
	if err := d.sound(locate); err != nil {
		return err
	}
	return d.sound(func(again bool) error {
		if again && !indexed {
			r.Placed = false
			if err := locate(again); err != nil {
				return err
			}
		}
		return read(again)
	})
}

// isDamage reports whether damaged bytes could have led to an error: a size that is too large among them.
func isDamage(err error) bool {
	return errors.Is(err, record.ErrCorrupt) || errors.Is(err, record.ErrTooLarge) || place.KindOf(err) == place.Corrupt
}
