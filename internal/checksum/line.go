package checksum

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
)

// MaxLine is the longest line of a plan or a journal, in bytes. The line of a shuffled shard of ten
// million samples has about 400 MB.
const MaxLine = 1 << 30

// AppendLine appends a line with a text to b.
func AppendLine(b, text []byte) []byte {
	return append(append(fmt.Appendf(b, "%08x ", crc32.ChecksumIEEE(text)), text...), '\n')
}

// CheckLine returns the text of a line without its newline. ok is false if the CRC does not match.
func CheckLine(line []byte) (text []byte, ok bool) {
	sum, text, ok := bytes.Cut(line, []byte{' '})
	return text, ok && string(sum) == fmt.Sprintf("%08x", crc32.ChecksumIEEE(text))
}

// Marshal returns the JSON of v without escaping <, > and &.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return Canonical(bytes.TrimSuffix(b.Bytes(), []byte{'\n'})), err
}

// Canonical returns JSON as encoding/json writes it after reading it: with U+FFFD in place of the
// escape \ufffd, which encoding/json writes for bytes that are not UTF-8.
func Canonical(text []byte) []byte {
	const escaped, plain = `\ufffd`, "\ufffd"
	if !bytes.Contains(text, []byte(escaped)) {
		return text
	}
	var b []byte
	for len(text) > 0 {
		n := 1
		switch {
		case bytes.HasPrefix(text, []byte(escaped)):
			b, text = append(b, plain...), text[len(escaped):]
			continue
		case text[0] == '\\':
			n = 2 // another escape
		}
		b, text = append(b, text[:n]...), text[n:]
	}
	return b
}

// Decode decodes the text of a line into v. A member that v does not have is an error.
func Decode(text []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	return Words(dec.Decode(v))
}
