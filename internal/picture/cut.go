package picture

import (
	"bytes"
	"encoding/binary"
)

var (
	pngHead = []byte("\x89PNG\r\n\x1a\n")
	pngEnd  = []byte("\x00\x00\x00\x00IEND\xaeB`\x82")
	jpegEnd = []byte{0xff, 0xd9}
)

// ofJPEG looks for the end behind the head: a picture in the head, a thumbnail, has an end of its own. In coded data FF is
// followed by 00 or by a restart marker, so FF D9 there is the end. Cameras put more behind it.
func ofJPEG(data []byte) string {
	ends := bytes.HasSuffix(data, jpegEnd)
	at := jpegScan(data, ends)
	switch {
	case at < 0:
		return "cut: it has no picture data"
	case ends, bytes.LastIndex(data[at:], jpegEnd) >= 0:
		return ""
	}
	return "cut: it has no end (FF D9)"
}

// jpegScan returns where the segment of the first SOS ends, -1: there is none. If tables is set, the first segment behind those
// that may hold a thumbnail is enough.
func jpegScan(data []byte, tables bool) int {
	const sos, temporary, restart, eoi, app0, com = 0xda, 0x01, 0xd0, 0xd9, 0xe0, 0xfe
	for at := 2; ; {
		next := bytes.IndexByte(data[at:], 0xff) // decoders pass over what is between segments
		if next < 0 {
			return -1
		}
		for at += next; at < len(data) && data[at] == 0xff; at++ { // any number of them may be before a marker
		}
		if at >= len(data) {
			return -1
		}
		marker := data[at]
		at++
		if marker <= temporary || marker >= restart && marker < eoi {
			continue // no segment
		}
		if marker == eoi || len(data)-at < 2 {
			return -1
		}
		end := at + int(binary.BigEndian.Uint16(data[at:]))
		if end > len(data) || end < at+2 {
			return -1
		}
		if at = end; marker == sos || tables && (marker < app0 || marker > com) {
			return at
		}
	}
}

func ofPNG(data []byte) string {
	if bytes.HasSuffix(data, pngEnd) || bytes.LastIndex(data, pngEnd) > 0 {
		return ""
	}
	return "cut: it has no end (IEND)"
}

// ofGIF follows the lengths of blocks. What is no block is passed over, as decoders do.
func ofGIF(data []byte) string {
	const cut = "cut: it has no end (3B)"
	palette := func(flags byte) int {
		if flags&0x80 == 0 {
			return 0
		}
		return 3 << (flags&7 + 1)
	}
	if len(data) < 13 {
		return cut
	}
	for at := 13 + palette(data[10]); at < len(data); {
		kind := data[at]
		switch at++; kind {
		case ';':
			return ""
		case '!':
			at++ // its label
		case ',':
			if len(data)-at < 9 {
				return cut
			}
			at += 9 + palette(data[at+8]) + 1
		default:
			continue
		}
		for at < len(data) && data[at] != 0 {
			at += 1 + int(data[at])
		}
		at++ // the empty block that ends the others
	}
	return cut
}

func ofWebP(data []byte) string {
	if size := int64(binary.LittleEndian.Uint32(data[4:])); size > int64(len(data)-8) {
		return "cut: it is shorter than it says"
	}
	return ""
}
