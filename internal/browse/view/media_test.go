package view

import (
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/picturetest"
)

// page is an Ogg page of one packet.
func page(packet string) string {
	return "OggS\x00\x02" + strings.Repeat("\x00", 20) + "\x01" + string(rune(len(packet))) + packet
}

// mp3 is two frames of 128 kbit/s at 44.1 kHz, 417 bytes each.
var mp3 = strings.Repeat("\xff\xfb\x90\x00"+strings.Repeat("\x00", 413), 2)

// Each row is the begin of a file. What is not on the list is for download, whatever a browser would make of it.
func TestMedia(t *testing.T) {
	t.Parallel()
	const download = "application/octet-stream"
	for _, row := range []struct{ name, data, want string }{
		{"JPEG", string(picturetest.JPEG(picturetest.Picture())), "image/jpeg"},
		{"PNG", string(picturetest.PNG(picturetest.Picture())), "image/png"},
		{"GIF", string(picturetest.GIF(1)), "image/gif"},
		{"GIF87a", "GIF87a", "image/gif"},
		{"WebP", string(picturetest.WebP()), "image/webp"},
		{"WAV", "RIFF\x24\x00\x00\x00WAVEfmt ", "audio/wav"},
		{"FLAC", "fLaC\x00\x00\x00\x22", "audio/flac"},
		{"MP3 with tags", "ID3\x04\x00", "audio/mpeg"},
		{"MP3", mp3, "audio/mpeg"},
		{"MP3 of MPEG 2", strings.Repeat("\xff\xf3\x80\x00"+strings.Repeat("\x00", 204), 2), "audio/mpeg"},
		{"Ogg Vorbis", page("\x01vorbis\x00"), "audio/ogg"},
		{"Ogg Opus", page("OpusHead\x01"), "audio/ogg"},
		{"Ogg FLAC", page("\x7fFLAC\x01"), "audio/ogg"},
		{"Ogg Theora", page("\x80theora\x03"), "video/ogg"},
		{"M4A", "\x00\x00\x00\x20ftypM4A \x00", "audio/mp4"},
		{"MP4", "\x00\x00\x00\x20ftypisom\x00", "video/mp4"},
		{"MP4, 2", "\x00\x00\x00\x18ftypmp42\x00", "video/mp4"},
		{"M4V", "\x00\x00\x00\x18ftypM4V \x00", "video/mp4"},
		{"WebM", "\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\x82\x84webm", "video/webm"},

		{"nothing", "", download},
		{"HTML", "<!DOCTYPE html><script>alert(1)</script>", download},
		{"SVG", `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`, download},
		{"XML", `<?xml version="1.0"?><?xml-stylesheet href="x.xsl"?><a/>`, download},
		{"PDF", "%PDF-1.7\n", download},
		{"script", "#!/bin/sh\n", download},
		{"JSON", "{}", download},
		{"Flash", "FWS\x09", download},
		{"BMP", "BM\x00\x00\x00\x00", download},
		{"TIFF", "II*\x00", download},
		{"AVIF", "\x00\x00\x00\x20ftypavif", download},
		{"QuickTime", "\x00\x00\x00\x14ftypqt  ", download},
		{"two brands", "\x00\x00\x00\x14ftypisom", "video/mp4"},
		{"brand that is cut", "\x00\x00\x00\x14ftypiso", download},
		{"empty brand", "\x00\x00\x00\x14ftyp\x00\x00\x00\x00", download},
		{"brand with a comma", "\x00\x00\x00\x14ftypm,is", download},
		{"Matroska", "\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\x82\x88matroska", download},
		{"webm too far", "\x1a\x45\xdf\xa3" + strings.Repeat("\x00", 64) + "\x42\x82\x84webm", download},
		{"Ogg of something", page("fishead\x00"), download},
		{"Ogg that is cut", page("OpusHead")[:27], download},
		{"Ogg that lies", "OggS\x00\x02" + strings.Repeat("\x00", 20) + "\xff", download},
		{"AVI", "RIFF\x24\x00\x00\x00AVI LIST", download},
		{"GIF of no version", "GIF89b", download},
		{"JPEG that is cut", "\xff\xd8", download},
		{"UTF-16", "\xff\xfe<\x00h\x00t\x00m\x00l\x00>\x00", download},
		{"one frame of MP3", mp3[:417], download},
		{"frame of MP3 and markup", mp3[:417] + "<html>", download},
		{"HTML after a space", " <html>", download},
		{"picture after markup", "<html>\x89PNG\r\n\x1a\n", download},
		{"zip", "PK\x03\x04", download},
		{"numbers", "\x93NUMPY\x01\x00", download},
	} {
		contentType, inline := Media([]byte(row.data))
		if contentType != row.want || inline != (row.want != download) {
			t.Errorf("%s: %s %v, want %s", row.name, contentType, inline, row.want)
		}
		for n := range min(len(row.data), 64) { // no cut is a panic, or another type than the whole or a download
			if got, _ := Media([]byte(row.data[:n])); got != row.want && got != download {
				t.Errorf("%s, %d bytes of it: %s", row.name, n, got)
			}
		}
	}
}
