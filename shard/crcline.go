package shard

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
)

// maxLine bounds one line of a plan file or journal. A shuffled shard of ten million
// samples takes about 400 MB.
const maxLine = 1 << 30

// appendLine appends a line: the CRC-32 of a text, and the text.
func appendLine(b, text []byte) []byte {
	return append(append(fmt.Appendf(b, "%08x ", crc32.ChecksumIEEE(text)), text...), '\n')
}

// checkLine returns the text of a line whose CRC is right.
func checkLine(line []byte) (text []byte, ok bool) {
	sum, text, ok := bytes.Cut(line, []byte{' '})
	return text, ok && string(sum) == fmt.Sprintf("%08x", crc32.ChecksumIEEE(text))
}

// marshalLine is json.Marshal, but leaves <, > and & in names as they are.
func marshalLine(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return canonical(bytes.TrimSuffix(b.Bytes(), []byte{'\n'})), err
}

// canonical makes JSON what it is after it was read and written again: encoding/json writes a byte
// that is not UTF-8 as \ufffd, and U+FFFD itself as it is.
func canonical(text []byte) []byte {
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

// decodeStrictly reads the JSON of a line, which may have no member that v does not have.
func decodeStrictly(text []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	return dec.Decode(v)
}
