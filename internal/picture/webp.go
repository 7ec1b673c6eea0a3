package picture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"golang.org/x/image/riff"
)

var (
	errAnimation = fmt.Errorf("%w: the WebP is an animation", ErrUnchecked)
	errNotKey    = errors.New("its VP8 frame is not a key frame, which a still image is")
)

// webpFrame looks at what the decoder does not: the length of the file, the animation flag (it calls every
// animation malformed) and, in a lossy image, the type of the frame. It returns the size of the image, which may be larger than
// the canvas that the decoder's config tells; 0 where the decoder will refuse the image. data begins with RIFF????WEBP.
//
//	VP8X  flags (1): 0x02 = animation, …                       RFC 9649, section 2.7.1
//	VP8   frame tag (3): bit 0 = not a key frame, …;
//	      start code (3), width (2), height (2): 14 bits each  RFC 6386, section 9.1
//	VP8L  0x2f, width − 1 (14 bits), height − 1 (14 bits), …   RFC 9649, section 3.4
//
// Other defects of the chunks are left to the decoder.
func webpFrame(data []byte) (width, height int, err error) {
	if int64(len(data)) < 8+int64(binary.LittleEndian.Uint32(data[4:])) {
		return 0, 0, io.ErrUnexpectedEOF
	}
	_, chunks, err := riff.NewReader(bytes.NewReader(data))
	if err != nil {
		return 0, 0, nil
	}
	for {
		id, _, chunk, err := chunks.Next()
		if err != nil {
			return width, height, nil
		}
		var head [10]byte // 0 where the chunk is shorter
		_, _ = io.ReadFull(chunk, head[:])
		w, h := 0, 0
		switch string(id[:]) {
		case "VP8X":
			if head[0]&0x02 != 0 {
				return 0, 0, errAnimation
			}
		case "VP8 ":
			if head[0]&0x01 != 0 {
				return 0, 0, errNotKey
			}
			w, h = int(binary.LittleEndian.Uint16(head[6:])&0x3fff), int(binary.LittleEndian.Uint16(head[8:])&0x3fff)
		case "VP8L":
			bits := int(binary.LittleEndian.Uint32(head[1:]))
			w, h = bits&0x3fff+1, bits>>14&0x3fff+1
		}
		width, height = max(width, w), max(height, h)
	}
}
