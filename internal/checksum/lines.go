package checksum

import (
	"bytes"
	"io"
	"os"
)

// WholeLines calls take with the text of each line of data, until take returns false or a line is torn: it differs from its
// CRC, or has no newline. It returns how many bytes the lines before have.
func WholeLines(data []byte, take func(text []byte) bool) (n int64) {
	for {
		line, rest, whole := bytes.Cut(data, []byte{'\n'})
		text, sound := CheckLine(line)
		if !whole || !sound || !take(text) {
			return n
		}
		n += int64(len(line)) + 1
		data = rest
	}
}

// Line returns the line of v.
func Line(v any) ([]byte, error) {
	text, err := Marshal(v)
	return AppendLine(nil, text), err
}

// PutLine appends the line of v to a file and syncs it.
func PutLine(f *os.File, v any) error {
	line, err := Line(v)
	if err == nil {
		_, err = f.Write(line)
	}
	if err == nil {
		err = f.Sync()
	}
	return err
}

// ResumeLines cuts a file behind its whole lines, to put others there. If there are none, it writes the line of head, which is
// durable with the next one, or after a sync.
func ResumeLines(f *os.File, whole int64, head any) error {
	if err := f.Truncate(whole); err != nil {
		return err
	}
	if _, err := f.Seek(whole, io.SeekStart); err != nil || whole > 0 {
		return err
	}
	line, err := Line(head)
	if err == nil {
		_, err = f.Write(line)
	}
	return err
}
