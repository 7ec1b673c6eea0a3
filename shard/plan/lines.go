package plan

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"strconv"
	"strings"

	"github.com/ffconvert/ffconvert/internal/crcline"
)

// A planRow is a row of the table: the offset of the line of a part or shard, and how many
// bytes all of its kind up to it have, it included. Rows have one width, so that any can be
// read by itself:
//
//	crc 8 hex | space | offset 16 hex | space | sum 16 hex | newline
type planRow struct{ off, sum int64 }

const planRowSize = 8 + 1 + 16 + 1 + 16 + 1

func (r planRow) text() []byte { return fmt.Appendf(nil, "%016x %016x", uint64(r.off), uint64(r.sum)) }

// parsePlanRow reads a row without its newline.
func parsePlanRow(line []byte) (planRow, error) {
	text, err := planText(line)
	if err != nil {
		return planRow{}, err
	}
	off, sum, _ := strings.Cut(string(text), " ")
	r := planRow{}
	for _, field := range []struct {
		text string
		to   *int64
	}{{off, &r.off}, {sum, &r.sum}} {
		n, err := strconv.ParseUint(field.text, 16, 63)
		if err != nil || len(field.text) != 16 {
			return planRow{}, fmt.Errorf("its table has a row %q", text)
		}
		*field.to = int64(n)
	}
	return r, nil
}

// planText returns the text of a line of a plan.
func planText(line []byte) ([]byte, error) {
	text, ok := crcline.Check(line)
	if ok {
		return text, nil
	}
	if err := planVersionOf(line); err != nil { // lines had no CRC at first
		return nil, err
	}
	return nil, errors.New("a line differs from its CRC")
}

// planVersionOf refuses the head of another version; anything else is left to others.
func planVersionOf(text []byte) error {
	var v struct {
		Version int `json:"ffconvert_plan"`
	}
	if json.Unmarshal(text, &v) == nil && v.Version > 0 && (v.Version < FormatVersion || v.Version > choiceVersion) {
		return fmt.Errorf("%w: it is of version %d, this program reads %d to %d", ErrVersion, v.Version, FormatVersion, choiceVersion)
	}
	return nil
}

// decodePlan reads the JSON of a line. The head of another version is [ErrVersion].
func decodePlan(text []byte, v any) error {
	if _, head := v.(*planHead); head {
		if err := planVersionOf(text); err != nil {
			return err
		}
	}
	return crcline.Decode(text, v)
}

// A planWriter writes the lines of a plan file. Its errors come at the end.
type planWriter struct {
	out  *bufio.Writer
	sum  hash.Hash
	off  int64
	rows []planRow
	line []byte
	err  error
}

func newPlanWriter(w io.Writer) *planWriter {
	return &planWriter{out: bufio.NewWriterSize(w, 1<<16), sum: sha256.New()}
}

// row enters the next line, which stands for a part or shard of that size; first marks the first of its kind.
func (w *planWriter) row(first bool, bytes int64) {
	if n := len(w.rows); !first {
		bytes += w.rows[n-1].sum
	}
	w.rows = append(w.rows, planRow{w.off, bytes})
}

func (w *planWriter) json(v any) {
	text, err := crcline.Marshal(v)
	if err != nil && w.err == nil {
		w.err = err
	}
	w.text(text)
}

// KeptName is the name of a part as a plan keeps it: JSON has no bytes that are not UTF-8.
func KeptName(name string) string { return strings.ToValidUTF8(name, "\ufffd") }

func (w *planWriter) text(text []byte) {
	w.line = crcline.Append(w.line[:0], text)
	w.sum.Write(w.line)
	w.off += int64(len(w.line))
	if _, err := w.out.Write(w.line); err != nil && w.err == nil {
		w.err = err
	}
}

// finish writes the table and the foot.
func (w *planWriter) finish() (digest string, err error) {
	table := w.off
	for _, r := range w.rows {
		w.text(r.text())
	}
	digest = hex.EncodeToString(w.sum.Sum(nil))
	w.json(planFoot{table, digest})
	if err := w.out.Flush(); w.err == nil {
		w.err = err
	}
	return digest, w.err
}
