package dataset

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"

	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/verify"
)

// A manifest has the SHA-256 of every file that it names, and a root over them, or none of these. The root is the
// SHA-256 of what
//
//	sha256sum PART_*.ffr index/PART_*.arrow meta.json
//
// prints in the directory of the dataset. It does not depend on when and where a dataset was made: the same plan and
// input give the same root.

// ErrNoSums says that a manifest has no SHA-256 of its files: the shards were written with NoVerify, or by an earlier
// version of the program.
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
	if m.Root.IsZero() {
		return ErrNoSums
	}
	return m.writeSums(w)
}

func (m *Manifest) writeSums(w io.Writer) error {
	var err error
	line := func(sum verify.SHA256, name string) {
		if err == nil {
			_, err = fmt.Fprintf(w, "%s  %s\n", sum, name)
		}
	}
	for i := range m.Shards {
		line(m.Shards[i].SHA256, m.Shards[i].Name)
	}
	for i := range m.Shards {
		line(m.Shards[i].Index.SHA256, IndexName(m.Shards[i].Name))
	}
	line(m.Meta.SHA256, MetaName)
	return err
}

// root returns the root of the sums, zero if one of them is not known.
func (m *Manifest) root() (root verify.SHA256) {
	for i := range m.Shards {
		if m.Shards[i].SHA256.IsZero() || m.Shards[i].Index.SHA256.IsZero() {
			return root
		}
	}
	if m.Meta.SHA256.IsZero() {
		return root
	}
	h := sha256.New()
	m.writeSums(h) // a hash does not fail
	h.Sum(root[:0])
	return root
}

// setRoot sets the root. If a sum is not known it removes the others.
func (m *Manifest) setRoot() {
	if m.Root = m.root(); !m.Root.IsZero() {
		return
	}
	m.Meta.SHA256 = verify.SHA256{}
	for i := range m.Shards {
		m.Shards[i] = m.Shards[i].withoutSums()
	}
}

// checkRoot returns an error unless the root is that of the sums, and all are there or none.
func (m *Manifest) checkRoot() error {
	some := !m.Meta.SHA256.IsZero()
	for i := range m.Shards {
		some = some || m.Shards[i] != m.Shards[i].withoutSums()
	}
	switch root := m.root(); {
	case some && root.IsZero():
		return errors.New("it has a SHA-256 of some of its files")
	case m.Root != root:
		return errors.New("its root_sha256 is not that of its files")
	}
	return nil
}

func (s ManifestShard) withoutSums() ManifestShard {
	s.SHA256, s.Index.SHA256 = verify.SHA256{}, verify.SHA256{}
	return s
}

// is reports whether two entries are of the same shard. A SHA-256 is compared if both have it.
func (s ManifestShard) is(o ManifestShard) bool {
	return s.withoutSums() == o.withoutSums() && agree(s.SHA256, o.SHA256) && agree(s.Index.SHA256, o.Index.SHA256)
}

// is compares two sums of a file, and their SHA-256 if both have it.
func (s FileSum) is(o FileSum) bool {
	return s.Bytes == o.Bytes && s.CRC == o.CRC && agree(s.SHA256, o.SHA256)
}

func agree(a, b verify.SHA256) bool { return a == b || a.IsZero() || b.IsZero() }

// learn takes sums from another entry of the same shard.
func (s *ManifestShard) learn(o ManifestShard) {
	if !s.is(o) {
		return
	}
	if s.SHA256.IsZero() {
		s.SHA256 = o.SHA256
	}
	if s.Index.SHA256.IsZero() {
		s.Index.SHA256 = o.Index.SHA256
	}
}

// learn takes the sums of shards from a manifest of the same plan, for shards that the journal has without.
func (j *Journal) learn(m *Manifest) {
	if m == nil || m.Root.IsZero() || m.PlanDigest != j.head.Plan {
		return
	}
	for _, s := range m.Shards {
		for _, lines := range []map[string]Finished{j.Was, j.Done} {
			if f, ok := lines[s.Name]; ok {
				f.learn(s)
				lines[s.Name] = f
			}
		}
	}
}
