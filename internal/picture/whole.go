package picture

import (
	"bytes"
	"strings"
)

// A Kind is a format of fields that [Problem] knows. The zero value is none.
type Kind uint8

const (
	kindNone Kind = iota
	kindJPEG
	kindPNG
	kindGIF
	kindWebP
	kindMP4
	kindWAV
	kindJSON
)

// kinds has how each format is named and looked at.
var kinds = [...]struct {
	suffixes string // of names of fields, each between blanks
	problem  func([]byte) string
	other    string // the problem of a field that its name alone promises to be of this format
}{
	kindNone: {},
	kindJPEG: {" jpg jpeg jpe jfif ", ofJPEG, "it does not begin as JPEG"},
	kindPNG:  {" png apng ", ofPNG, "it does not begin as PNG"},
	kindGIF:  {" gif ", ofGIF, "it does not begin as GIF"},
	kindWebP: {" webp ", ofWebP, "it does not begin as WebP"},
	kindMP4:  {" mp4 m4v m4a mov ", ofMP4, "it does not begin as MP4"},
	kindWAV:  {" wav wave ", ofWAV, "it does not begin as WAV"},
	kindJSON: {" json jsn ", ofJSON, "it does not begin as JSON"},
}

// Named returns the format that the name of a field promises by its last suffix; zero: none.
func Named(field string) Kind {
	suffix := field[strings.LastIndexByte(field, '.')+1:]
	if len(suffix) < 3 || len(suffix) > 4 || strings.Contains(suffix, " ") {
		return kindNone
	}
	suffix = " " + strings.ToLower(suffix) + " "
	for k := range kinds {
		if strings.Contains(kinds[k].suffixes, suffix) {
			return Kind(k)
		}
	}
	return kindNone
}

// Problem returns why the bytes of a field are not whole; "": they are, or the format is not known. named is what the name
// of the field promises. It looks at their beginning, their end and the lengths on the way there, and decodes nothing: a
// byte that is changed in the middle is not seen. What each format must have:
//
//	JPEG       FF D8 FF … an SOS marker … FF D9 behind it; anything after that
//	PNG        its signature … a chunk IEND; anything after that
//	GIF        GIF87a or GIF89a, blocks up to the trailer 3B; anything after that
//	WebP       RIFF, WEBP, as many bytes as RIFF says, or more
//	MP4, MOV   boxes, each within the file, among them moov or moof
//	WAV        RIFF, RF64 or RIFX, WAVE, a chunk data that is there; a size that a stream could not know is the rest
//	JSON       { … }, [ … ], " … ", or a value of another kind
//
// A field is of the format that its first bytes show. If they show none of these, it is of the one that its name promises.
func Problem(named Kind, data []byte) string {
	switch k := shown(data); {
	case k != kindNone:
		return kinds[k].problem(data)
	case named == kindNone:
		return ""
	case len(data) == 0:
		return "empty"
	case named == kindMP4 || named == kindJSON: // they have no signature
		return kinds[named].problem(data)
	case other(data):
		return ""
	}
	return kinds[named].other
}

// shown returns the format that the first bytes show.
func shown(data []byte) Kind {
	if len(data) < 3 {
		return kindNone
	}
	switch data[0] {
	case 0xff:
		if data[1] == 0xd8 && data[2] == 0xff {
			return kindJPEG
		}
	case 0x89:
		if bytes.HasPrefix(data, pngHead) {
			return kindPNG
		}
	case 'G':
		if has(data, 0, "GIF87a") || has(data, 0, "GIF89a") {
			return kindGIF
		}
	case 'R':
		switch {
		case has(data, 0, "RIFF") && has(data, 8, "WEBP"):
			return kindWebP
		case (has(data, 0, "RIFF") || has(data, 0, "RIFX") || has(data, 0, "RF64")) && has(data, 8, "WAVE"):
			return kindWAV
		}
	}
	return kindNone
}

// others are the first bytes of other formats that files with these suffixes often have.
var others = []string{"BM", "II*\x00", "MM\x00*", "\x00\x00\x01\x00", "\xff\x0a", "\x00\x00\x00\x0cJXL ", "\x00\x00\x00\x0cjP  ", "qoif", "P5", "P6", "8BPS", "OggS", "fLaC", "ID3", "\xff\xfb"}

// other reports whether the first bytes are of a format that is not looked at: its name promises another one.
func other(data []byte) bool {
	for _, magic := range others {
		if has(data, 0, magic) {
			return true
		}
	}
	return has(data, 4, "ftyp") // AVIF, HEIC
}

// has reports whether data has a text at an offset.
func has(data []byte, at int, text string) bool {
	return len(data) >= at+len(text) && string(data[at:at+len(text)]) == text
}
