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

	"github.com/ffconvert/ffconvert/internal/checksum"
)

// A planRow is a row of the table: the offset of the line of a part or shard, and the sum of the sizes of all parts or
// shards up to and including it. Rows have equal widths, so that each can be read alone:
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

// planText checks the CRC of a line of a plan and returns its text.
func planText(line []byte) ([]byte, error) {
	text, ok := checksum.CheckLine(line)
	if ok {
		return text, nil
	}
	if err := planVersionOf(line); err != nil { // plans of version 1 had no CRCs
		return nil, err
	}
	return nil, errors.New("a line differs from its CRC")
}

// planVersionOf returns ErrVersion for the head of another version. It ignores other errors.
func planVersionOf(text []byte) error {
	var v struct {
		Version int `json:"ffconvert_plan"`
	}
	if json.Unmarshal(text, &v) == nil && v.Version > 0 && (v.Version < FormatVersion || v.Version > choiceVersion) {
		return fmt.Errorf("%w: it is of version %d, this program reads %d to %d", ErrVersion, v.Version, FormatVersion, choiceVersion)
	}
	return nil
}

// decodePlan decodes the JSON of a line. For the head of another version it returns [ErrVersion].
func decodePlan(text []byte, v any) error {
	if _, head := v.(*planHead); head {
		if err := planVersionOf(text); err != nil {
			return err
		}
	}
	return checksum.Decode(text, v)
}

// A planWriter writes the lines of a plan file. finish returns the first error.
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

// row adds a table row for the next line, of a part or shard with that many bytes. first marks the first part or shard.
func (w *planWriter) row(first bool, bytes int64) {
	if n := len(w.rows); !first {
		bytes += w.rows[n-1].sum
	}
	w.rows = append(w.rows, planRow{w.off, bytes})
}

func (w *planWriter) json(v any) {
	text, err := checksum.Marshal(v)
	if err != nil && w.err == nil {
		w.err = err
	}
	w.text(text)
}

// KeptName returns the name of a part as a plan stores it: valid UTF-8, as JSON requires.
func KeptName(name string) string { return strings.ToValidUTF8(name, "\ufffd") }

func (w *planWriter) text(text []byte) {
	w.line = checksum.AppendLine(w.line[:0], text)
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
