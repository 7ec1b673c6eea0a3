package folder

import (
	"slices"
	"time"
)

// A listing describes the files of one part, in the order of its samples. A folder may have many files,
// so an entry has no pointers and no strings.
type listing struct {
	names packed // names of entries and, at entry.dir, directories
	files []entry
	other *other // nil for most parts
}

// An other has the fields of a listing that most parts do not need.
type other struct {
	first []uint32 // first file of each sample if Group is set; nil: each file is a sample
	skips []skip
	again []uint32 // samples with the key of an earlier one, ascending

	rules []uint8  // with Pairs, for each file: 0, or 1 + the index of the rule that makes it a partner
	lacks []uint32 // with Pairs, the samples without a partner, ascending
}

// rare returns other for reading; it may be empty.
func (l *listing) rare() other {
	if l.other == nil {
		return other{}
	}
	return *l.other
}

// more returns other for writing, and creates it if necessary.
func (l *listing) more() *other {
	if l.other == nil {
		l.other = new(other)
	}
	return l.other
}

// An entry is one file.
type entry struct {
	end   int64  // total size of all files up to this one, bytes
	mtime int64  // nanoseconds since 1970
	dir   uint32 // in names: path of its directory, NUL, path without symbolic links if that differs, NUL
	name  uint32 // in names
}

// A skip is a skipped entry. Its kind is the reason for skipping it.
type skip struct {
	before    uint32 // index of the next file
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

// off returns the total size of the files before a file.
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

// newest returns the latest modification time of the files.
func (l *listing) newest(from, to int) time.Time {
	t := l.files[from].mtime
	for _, f := range l.files[from+1 : to] {
		t = max(t, f.mtime)
	}
	return time.Unix(0, t)
}

// repeats reports whether an earlier sample has the same key.
func (l *listing) repeats(sample int) bool {
	_, found := slices.BinarySearch(l.rare().again, uint32(sample))
	return found
}

// lacks reports whether a sample lacks a partner of Options.Pairs.
func (l *listing) lacks(sample int) bool {
	_, found := slices.BinarySearch(l.rare().lacks, uint32(sample))
	return found
}

// path returns the path of an entry below the root.
func (l *listing) path(dir, name uint32) string {
	return string(l.names.text(dir)) + string(l.names.name(name))
}
