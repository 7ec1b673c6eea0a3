package dataset

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/checksum"
	"github.com/ffconvert/ffconvert/internal/files"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// An index file holds the parts that one task has indexed, for the process that plans the dataset.
// Its lines are as in a plan: a CRC-32, a space and JSON.
//
//	head              what index it is of
//	part              a part: its state when found, its account, and how its places are packed
//	places            as many lines as its samples need, see shard/plan/pack.go; none where it has no samples
//	part …
//
// Every line is checked before it is used. Damaged lines, files made from other sources or options, and parts that have
// changed are ignored, and those parts indexed again: an index file saves time and never changes a plan.

const indexedVersion = 2

type indexedHead struct {
	Version int    `json:"ffconvert_indexed"`
	Asked   string `json:"asked"` // see requestDigest
	Shown   string `json:"shown"` // see contentDigest
	Parts   int    `json:"parts"` // of this file
}

type indexedPart struct {
	Number   int       `json:"part"`   // of the dataset's
	Stored   int64     `json:"stored"` // bytes that it was found with
	Mark     files.Pin `json:"mark"`   // that it was found with
	Off      int64     `json:"off"`    // of the first sample
	Unit     int64     `json:"unit"`
	Index    plan.Part `json:"index"`
	Modified int64     `json:"modified,omitempty"` // see Part.Modified
}

// of reports whether a part is unchanged since a task indexed it as p.
func (p *indexedPart) of(part *converters.Part) bool {
	mark := part.Copy.Mark
	_, other := p.Mark.Differs(mark)
	return p.Mark != "" && mark != "" && !other && part.Size == p.Stored
}

type indexedPlaces struct {
	Packed []byte `json:"places"`
}

var errIndexedLine = errors.New("a line differs from its CRC")

// writeIndexed writes an index file of some parts.
func writeIndexed(w io.Writer, head indexedHead, found []converters.Part, index map[int]plan.PartIndex) error {
	var line []byte
	put := func(v any) error {
		text, err := checksum.Marshal(v)
		if err != nil {
			return err
		}
		if line = checksum.AppendLine(line[:0], text); len(line) >= checksum.MaxLine {
			return fmt.Errorf("%w: a line of more than %d bytes", errIndexedLong, checksum.MaxLine)
		}
		_, err = w.Write(line)
		return err
	}
	head.Version, head.Parts = indexedVersion, len(index)
	if err := put(head); err != nil {
		return err
	}
	var packed []byte
	for _, number := range slices.Sorted(maps.Keys(index)) {
		p, off := index[number], int64(0)
		unit := p.Unit()
		if p.N > 0 {
			off, _ = p.At(0)
		}
		if err := put(indexedPart{number, found[number].Size, found[number].Copy.Mark, off, unit, p.Part, p.Modified}); err != nil {
			return err
		}
		for first := 0; first < p.N; first += plan.PackedPlaces {
			packed = p.Pack(packed[:0], first, min(p.N, first+plan.PackedPlaces), unit)
			if err := put(indexedPlaces{packed}); err != nil {
				return err
			}
		}
	}
	return nil
}

var errIndexedLong = errors.New("index file")

// An indexedReader reads an index file.
type indexedReader struct {
	in      *bufio.Scanner
	request string
	found   []converters.Part
}

func newIndexedReader(r io.Reader, request string, found []converters.Part) *indexedReader {
	in := bufio.NewScanner(r)
	in.Buffer(nil, checksum.MaxLine)
	return &indexedReader{in, request, found}
}

// errForeign is of an index file of other sources, or made with other options.
var errForeign = errors.New("it is of other sources or options")

// read calls take with each unchanged part. An error describes the damage behind the last of
// these; of the device it is [plan.ErrUnreadable].
func (r *indexedReader) read(take func(number int, content string, idx plan.PartIndex)) error {
	var head indexedHead
	if err := r.next(&head); err != nil {
		return err
	}
	switch {
	case head.Version != indexedVersion:
		return fmt.Errorf("it is of version %d, this program reads %d", head.Version, indexedVersion)
	case head.Asked != r.request:
		return errForeign
	}
	for range head.Parts {
		var p indexedPart
		if err := r.next(&p); err != nil {
			return err
		}
		idx, err := r.part(&p)
		if err != nil {
			return err
		}
		if p.of(&r.found[p.Number]) {
			take(p.Number, head.Shown, *idx)
		}
	}
	return nil
}

// part reads the places of a part.
func (r *indexedReader) part(p *indexedPart) (*plan.PartIndex, error) {
	if p.Number < 0 || p.Number >= len(r.found) || p.Index.Name != r.found[p.Number].Name {
		return nil, fmt.Errorf("part %d is not %q", p.Number, p.Index.Name)
	}
	if err := p.Index.Check(); err != nil {
		return nil, err
	}
	idx := &plan.PartIndex{Part: p.Index}
	idx.Modified = p.Modified
	off := p.Off
	for int64(idx.N) < p.Index.Account.Samples {
		var line indexedPlaces
		err := r.next(&line)
		if err == nil && len(line.Packed) == 0 {
			err = plan.ErrPlaces
		}
		if err == nil {
			off, err = idx.Unpack(line.Packed, off, p.Unit)
		}
		if err != nil {
			return nil, err
		}
	}
	idx.Trim()
	if left := int64(idx.N) - idx.Written(0, idx.N); left != p.Index.Account.SamplesLeftOut {
		return nil, fmt.Errorf("part %q leaves %d samples out, its account %d", p.Index.Name, left, p.Index.Account.SamplesLeftOut)
	}
	return idx, nil
}

// next reads a line.
func (r *indexedReader) next(v any) error {
	if !r.in.Scan() {
		if err := r.in.Err(); err != nil && !errors.Is(err, bufio.ErrTooLong) {
			return fmt.Errorf("%w: %w", plan.ErrUnreadable, err)
		}
		return cmp.Or(r.in.Err(), io.ErrUnexpectedEOF)
	}
	text, ok := checksum.CheckLine(r.in.Bytes())
	if !ok {
		return errIndexedLine
	}
	return checksum.Decode(text, v)
}
