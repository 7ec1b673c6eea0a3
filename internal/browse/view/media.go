package view

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
)

// A medium is a format that browsers display and that cannot contain scripts.
type medium struct {
	kind        Kind
	name        string
	contentType string
}

// Media returns the content type for serving data, and whether a page may display it. The first bytes decide, never a
// name: HTML, SVG, XML, PDF and all formats that are not listed are downloads, application/octet-stream.
func Media(data []byte) (contentType string, inline bool) {
	m := mediaOf(data)
	return m.contentType, m.kind != kindHex
}

// magics are formats identified by a few bytes at a fixed place. '?' matches any byte.
var magics = []struct {
	magic string
	medium
}{
	{"\xff\xd8\xff", medium{KindImage, "JPEG", "image/jpeg"}},
	{"\x89PNG\r\n\x1a\n", medium{KindImage, "PNG", "image/png"}},
	{"GIF87a", medium{KindImage, "GIF", "image/gif"}},
	{"GIF89a", medium{KindImage, "GIF", "image/gif"}},
	{"RIFF????WEBP", medium{KindImage, "WebP", "image/webp"}},
	{"RIFF????WAVE", medium{kindAudio, "WAV", "audio/wav"}},
	{"fLaC", medium{kindAudio, "FLAC", "audio/flac"}},
	{"ID3", medium{kindAudio, "MP3", "audio/mpeg"}},
	{"????ftypM4A ", medium{kindAudio, "M4A", "audio/mp4"}},
	{"????ftypM4B ", medium{kindAudio, "M4A", "audio/mp4"}},
}

// brands are MP4 brands of video (ISO/IEC 14496-12, "ftyp").
const brands = "isom,iso2,iso3,iso4,iso5,iso6,mp41,mp42,avc1,dash,M4V ,MSNV"

// codecs are Ogg codecs by the first packet of the first stream (RFC 5334).
var codecs = []struct {
	magic string
	medium
}{
	{"\x01vorbis", medium{kindAudio, "Ogg Vorbis", "audio/ogg"}},
	{"OpusHead", medium{kindAudio, "Opus", "audio/ogg"}},
	{"\x7fFLAC", medium{kindAudio, "Ogg FLAC", "audio/ogg"}},
	{"\x80theora", medium{kindVideo, "Ogg Theora", "video/ogg"}},
}

func mediaOf(data []byte) medium {
	for i := range magics {
		if matches(data, magics[i].magic) {
			return magics[i].medium
		}
	}
	switch {
	case matches(data, "????ftyp") && len(data) >= 12 && slices.Contains(strings.Split(brands, ","), string(data[8:12])):
		return medium{kindVideo, "MP4", "video/mp4"}
	case matches(data, "\x1a\x45\xdf\xa3") && bytes.Contains(data[:min(len(data), 64)], []byte("\x42\x82\x84webm")):
		// EBML whose head has the document type, an element 4282 of a few bytes. Not all browsers display other Matroska files.
		return medium{kindVideo, "WebM", "video/webm"}
	case isMP3(data):
		return medium{kindAudio, "MP3", "audio/mpeg"}
	}
	// An Ogg page: "OggS", version 1, flags 1, position 8, serial 4, number 4, CRC 4, segments 1, their lengths, packets.
	if len(data) > 27 && matches(data, "OggS") {
		packet := data[min(len(data), 27+int(data[26])):]
		for _, c := range codecs {
			if matches(packet, c.magic) {
				return c.medium
			}
		}
	}
	return medium{kindHex, "bytes", "application/octet-stream"}
}

func matches(data []byte, magic string) bool {
	if len(data) < len(magic) {
		return false
	}
	for i := range len(magic) {
		if magic[i] != '?' && data[i] != magic[i] {
			return false
		}
	}
	return true
}

// isMP3 reports whether data begins with two consecutive frames of MPEG audio, layer III: the eleven bits that begin a
// frame also occur elsewhere.
func isMP3(data []byte) bool {
	n := frameSize(data)
	return n > 0 && n < len(data) && frameSize(data[n:]) > 0
}

// frameSize returns the length of the frame at the start of data, 0 if there is none: 11 bits of 1, version 2 bits,
// layer 2, CRC 1, bitrate 4, rate 2, padding 1, and 8 others.
func frameSize(data []byte) int {
	if len(data) < 4 {
		return 0
	}
	h := binary.BigEndian.Uint32(data)
	version, layer, bitrate, rate := h>>19&3, h>>17&3, h>>12&15, h>>10&3
	if h>>21 != 0x7ff || version == 1 || layer != 1 || bitrate == 0 || bitrate == 15 || rate == 3 {
		return 0
	}
	hertz := [...]int{44100, 48000, 32000}[rate]
	if version == 3 { // MPEG 1
		kilobits := [...]int{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320}[bitrate]
		return 144_000*kilobits/hertz + int(h>>9&1)
	}
	kilobits := [...]int{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160}[bitrate]
	if hertz /= 2; version == 0 { // MPEG 2.5
		hertz /= 2
	}
	return 72_000*kilobits/hertz + int(h>>9&1)
}
