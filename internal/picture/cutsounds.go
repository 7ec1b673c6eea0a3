package picture

import (
	"bytes"
	"encoding/binary"
)

// unknownSize is the least size of a chunk data that a program gave which wrote a stream, and did not know it: ffmpeg writes
// FFFFFFFF, sox 7FFFFFFF less the size of the head.
const unknownSize = 0x7fff0000

// ofWAV follows chunks up to data. What is behind that may be cut: players do not read it. A byte that makes a size even
// may be missing.
func ofWAV(data []byte) string {
	var order binary.ByteOrder = binary.LittleEndian
	if data[3] == 'X' {
		order = binary.BigEndian
	}
	for at := int64(12); at+8 <= int64(len(data)); {
		name, size := string(data[at:at+4]), int64(order.Uint32(data[at+4:]))
		at += 8
		left := int64(len(data)) - at
		if name == "data" {
			if size <= left || size >= unknownSize && left > 0 {
				return ofRF64(data, left, size)
			}
			return "cut: its sound is shorter than it says"
		}
		if at += size + size&1; size > left {
			break
		}
	}
	return "cut: it has no sound"
}

// ofRF64 compares the sound, of which there are left bytes, with the 64-bit size in the chunk ds64, which comes first, where
// the one at the sound is FFFFFFFF.
func ofRF64(data []byte, left, size int64) string {
	if has(data, 0, "RF64") && has(data, 12, "ds64") && len(data) >= 36 && size == 1<<32-1 && binary.LittleEndian.Uint64(data[28:]) > uint64(left) {
		return "cut: its sound is shorter than it says"
	}
	return ""
}

// ofMP4 follows the outermost boxes. Zeros, or fewer bytes than the head of a box has, may be behind the last one.
func ofMP4(data []byte) string {
	film := false
	for rest := data; len(rest) > 0; {
		if len(rest) < 8 || len(bytes.Trim(rest[:8], "\x00")) == 0 {
			if len(rest) == len(data) {
				return "it does not begin as MP4"
			}
			break
		}
		size, name := uint64(binary.BigEndian.Uint32(rest)), rest[4:8]
		if !isBoxName(name) {
			if len(rest) == len(data) {
				return "it does not begin as MP4"
			}
			break
		}
		least := uint64(8)
		switch size {
		case 0:
			size = uint64(len(rest))
		case 1:
			if least = 16; len(rest) < 16 {
				return "cut: a box is shorter than it says"
			}
			size = binary.BigEndian.Uint64(rest[8:])
		}
		if size > uint64(len(rest)) || size < least {
			return "cut: a box is shorter than it says"
		}
		film = film || string(name) == "moov" || string(name) == "moof"
		rest = rest[size:]
	}
	if !film {
		return "cut: it has no index (moov)"
	}
	return ""
}

func isBoxName(name []byte) bool {
	for _, c := range name {
		if c < ' ' || c > '~' && c != 0xa9 {
			return false
		}
	}
	return true
}

// ofJSON compares the last byte with the first one, blanks aside.
func ofJSON(data []byte) string {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	data = bytes.Trim(data, " \t\r\n")
	if len(data) == 0 {
		return "empty"
	}
	last := data[len(data)-1]
	switch first := data[0]; {
	case first == '{' && last != '}', first == '[' && last != ']', first == '"' && (last != '"' || len(data) == 1):
		return "cut: it does not end as it begins"
	}
	return ""
}
