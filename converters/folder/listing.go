package folder

import (
	"slices"
	"sort"
	"time"

	"github.com/ffconvert/ffconvert/converters"
)

// A listing is all that is known of the files of one part, in the order of its samples.
// A folder may have many files, so it is packed: no pointer, no string for any of them.
type listing struct {
	names packed // and, at file.dir, the directories
	files []entry
	other *other // what most parts have nothing of; nil: this one has not
}

// other is the rest of a listing.
type other struct {
	first []uint32 // of each sample its first file, where Group is set; a file is a sample otherwise
	skips []skip
	again []uint32 // samples whose key came before, ascending
}

// rare returns the rest of a listing, to read.
func (l *listing) rare() other {
	if l.other == nil {
		return other{}
	}
	return *l.other
}

// more returns the rest of a listing, to add to.
func (l *listing) more() *other {
	if l.other == nil {
		l.other = new(other)
	}
	return l.other
}

// clipped returns names in memory that is not much larger.
func clipped(names packed) packed {
	if cap(names)-len(names) > len(names)/16 {
		return slices.Clone(names[:len(names):len(names)])
	}
	return names
}

// An entry is one file.
type entry struct {
	end   int64  // bytes of all files up to this one
	mtime int64  // nanoseconds since 1970
	dir   uint32 // in names: the path of its directory, NUL, where that really is, or nothing if that follows from the path, NUL
	name  uint32 // in names
}

// A skip is an entry that is passed over. Its kind says why.
type skip struct {
	before    uint32 // the file that it precedes
	dir, name uint32
}

func (l *listing) samples() int {
	if first := l.rare().first; first != nil {
		return len(first)
	}
	return len(l.files)
}

// extent returns the files of a sample.
func (l *listing) extent(sample int) (from, to int) {
	first := l.rare().first
	switch {
	case first == nil:
		return sample, sample + 1
	case sample == len(first)-1:
		return int(first[sample]), len(l.files)
	}
	return int(first[sample]), int(first[sample+1])
}

// off returns how many bytes the files before a file have.
func (l *listing) off(file int) int64 {
	if file == 0 {
		return 0
	}
	return l.files[file-1].end
}

// size returns the size of a file in bytes.
func (l *listing) size(file int) int64 { return l.files[file].end - l.off(file) }

// bytes returns the size of all files of a sample.
func (l *listing) bytes(sample int) int64 {
	from, to := l.extent(sample)
	return l.off(to) - l.off(from)
}

// newest returns the last time that one of the files was modified.
func (l *listing) newest(from, to int) time.Time {
	t := l.files[from].mtime
	for _, f := range l.files[from+1 : to] {
		t = max(t, f.mtime)
	}
	return time.Unix(0, t)
}

// cameBack reports whether the key of a sample came before.
func (l *listing) cameBack(sample int) bool {
	again := l.rare().again
	i := sort.Search(len(again), func(i int) bool { return int(again[i]) >= sample })
	return i < len(again) && int(again[i]) == sample
}

// path returns the path of an entry below the root.
func (l *listing) path(dir, name uint32) string {
	return string(l.names.text(dir)) + string(l.names.name(name))
}

// fields fills in the sample of the files, each of them sized. class is the number of its
// class, where it has one.
func (l *listing) fields(s *converters.Sample, o *Options, names *sampleNames, from, to int, class int64) error {
	s.Off, s.Fields = l.off(from), s.Fields[:0]
	for i := from; i < to; i++ {
		dir, base := l.names.text(l.files[i].dir), l.names.name(l.files[i].name)
		end, suffix := o.split(dir, base)
		if i == from {
			names.key = append(append(names.key[:0], dir...), base[:end]...)
			s.Key = string(names.key)
		}
		name, err := names.fields.Of(suffix)
		if err != nil {
			return err
		}
		s.Fields = append(s.Fields, converters.Field{Name: name, Value: converters.Opaque(l.size(i))})
	}
	if class >= 0 {
		s.Fields = append(s.Fields, converters.Field{Name: fieldClass, Value: converters.Int(class)})
	}
	return nil
}
