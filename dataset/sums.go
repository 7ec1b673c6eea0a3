package dataset

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"

	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/text"
	"github.com/ffconvert/ffconvert/record"
)

// A manifest has the SHA-256 of every file that it names, and a root over them, or none of these: a conversion computes
// them if it is asked to, or goes on with one that did. The root is the SHA-256 of what
//
//	sha256sum PART_*.ffr index/PART_*.arrow meta.json
//
// prints in the directory of the dataset. It does not depend on when and where a dataset was made: the same plan and
// input give the same root.

// ErrNoSums says that a manifest has no SHA-256 of its files.
var ErrNoSums = place.New(place.Refused, "its manifest has no SHA-256 of its files")

// Checker returns a writer for all bytes of a shard; end returns how they differ from the entry.
func (s *ManifestShard) Checker() (w io.Writer, end func() error) {
	scan := record.NewScanner("", s.Bytes, record.Options{MaxSample: math.MaxInt64})
	var first error
	scan.Problem = func(e *record.FormatError) {
		switch {
		case first != nil:
		case e.Sample >= 0:
			first = fmt.Errorf("sample %d: %w", e.Sample, e.Err)
		default:
			first = e.Err
		}
	}
	return scan, func() error {
		got, err := scan.Close()
		if err == nil && got != (record.FileInfo{Samples: s.Samples, Size: s.Bytes, HeaderCRC: s.HeaderCRC}) {
			err = errors.New("it is another shard")
		}
		return cmp.Or(first, err)
	}
}

// Checker is that of a file other than a shard.
func (s FileSum) Checker() (w io.Writer, end func() error) {
	sum := crc32.NewIEEE()
	return sum, func() error {
		if got := sum.Sum32(); got != s.CRC {
			return fmt.Errorf("its checksum is %08x, %08x by the manifest", got, s.CRC)
		}
		return nil
	}
}

// Files returns the names of the shards and of their indexes.
func (m *Manifest) Files() (names []string) {
	for i := range m.Shards {
		names = append(names, m.Shards[i].Name, IndexName(m.Shards[i].Name))
	}
	return names
}

// WriteSums writes a line for each file that the manifest names, as sha256sum prints it: shards, indexes, meta.json. A
// manifest without sums is [ErrNoSums].
func (m *Manifest) WriteSums(w io.Writer) error {
	if m.Root == "" {
		return ErrNoSums
	}
	for name, sum := range m.fileSums {
		if _, err := fmt.Fprintf(w, "%s  %s\n", *sum, name); err != nil {
			return err
		}
	}
	return nil
}

// fileSums yields the name and the SHA-256 of each file: shards, indexes, meta.json.
func (m *Manifest) fileSums(yield func(name string, sum *string) bool) {
	for i := range m.Shards {
		if !yield(m.Shards[i].Name, &m.Shards[i].SHA256) {
			return
		}
	}
	for i := range m.Shards {
		if !yield(IndexName(m.Shards[i].Name), &m.Shards[i].Index.SHA256) {
			return
		}
	}
	yield(MetaName, &m.Meta.SHA256)
}

// root returns the root of the sums, "" if one of them is not known.
func (m *Manifest) root() string {
	h := sha256.New()
	for name, sum := range m.fileSums {
		if *sum == "" {
			return ""
		}
		fmt.Fprintf(h, "%s  %s\n", *sum, name)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// setRoot sets the root. If a sum is not known it removes the others.
func (m *Manifest) setRoot() {
	if m.Root = m.root(); m.Root != "" {
		return
	}
	for _, sum := range m.fileSums {
		*sum = ""
	}
}

// checkRoot returns an error unless the root is that of the sums, and all are there or none.
func (m *Manifest) checkRoot() error {
	some := false
	for name, sum := range m.fileSums {
		if some = some || *sum != ""; *sum != "" && !sumForm().MatchString(*sum) {
			return fmt.Errorf("the sum of %s is not a SHA-256 of 64 hexadecimal digits", name)
		}
	}
	switch root := m.root(); {
	case some && root == "":
		return errors.New("it has a SHA-256 of some of its files")
	case m.Root != root:
		return errors.New("its root_sha256 is not that of its files")
	}
	return nil
}

var sumForm = text.Pattern(`^[0-9a-f]{64}$`)

// with returns the entry with the SHA-256 of another one, where it has none.
func (s ManifestShard) with(o ManifestShard) ManifestShard {
	s.SHA256, s.Index = cmp.Or(s.SHA256, o.SHA256), s.Index.with(o.Index)
	return s
}

func (s FileSum) with(o FileSum) FileSum {
	s.SHA256 = cmp.Or(s.SHA256, o.SHA256)
	return s
}

// is reports whether two entries are of the same shard. A SHA-256 is compared if both have it.
func (s ManifestShard) is(o ManifestShard) bool { return s.with(o) == o.with(s) }

// is compares two sums of a file, and their SHA-256 if both have it.
func (s FileSum) is(o FileSum) bool { return s.with(o) == o.with(s) }

// summed reports whether the SHA-256 of all files are wanted: the plan was begun with them, or a shard has one.
func (j *Journal) summed() bool {
	for _, f := range j.Was {
		if f.SHA256 != "" {
			return true
		}
	}
	return j.head.Sums
}

// Learn enters the sums of shards that the journal has without. It ignores a shard of the name that is another one.
func (j *Journal) Learn(shards []ManifestShard) {
	for _, s := range shards {
		for _, lines := range []map[string]Finished{j.Was, j.Done} {
			if f, ok := lines[s.Name]; ok && f.is(s) {
				f.ManifestShard = f.with(s)
				lines[s.Name] = f
			}
		}
	}
}
