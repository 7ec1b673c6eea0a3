package crcline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
)

// maxLine bounds one line of a plan file or journal. A shuffled shard of ten million
// samples takes about 400 MB.
const Max = 1 << 30

// Append appends a line: the CRC-32 of a text, and the text.
func Append(b, text []byte) []byte {
	return append(append(fmt.Appendf(b, "%08x ", crc32.ChecksumIEEE(text)), text...), '\n')
}

// Check returns the text of a line whose CRC is right.
func Check(line []byte) (text []byte, ok bool) {
	sum, text, ok := bytes.Cut(line, []byte{' '})
	return text, ok && string(sum) == fmt.Sprintf("%08x", crc32.ChecksumIEEE(text))
}

// Marshal is json.Marshal, but leaves <, > and & in names as they are.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return Canonical(bytes.TrimSuffix(b.Bytes(), []byte{'\n'})), err
}

// Canonical makes JSON what it is after it was read and written again: encoding/json writes a byte
// that is not UTF-8 as \ufffd, and U+FFFD itself as it is.
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
			n = 2 // another escape, whatever follows
		}
		b, text = append(b, text[:n]...), text[n:]
	}
	return b
}

// Decode reads the JSON of a line, which may have no member that v does not have.
func Decode(text []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	return dec.Decode(v)
}
