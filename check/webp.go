package check

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"golang.org/x/image/riff"
)

var (
	errAnimation = fmt.Errorf("%w: the WebP is an animation", errUnchecked)
	errNotKey    = errors.New("its VP8 frame is not a key frame, which a still image is")
)

// webpFrame looks at what the decoder does not: the length of the file, the animation flag (it calls every
// animation malformed) and, in a lossy image, the type of the frame. data begins with RIFF????WEBP.
//
//	VP8X  flags (1): 0x02 = animation, …   RFC 9649, section 2.7.1
//	VP8   frame tag (3): bit 0 = not a key frame, …   RFC 6386, section 9.1
//
// Other defects of the chunks are left to the decoder.
func webpFrame(data []byte) error {
	if int64(len(data)) < 8+int64(binary.LittleEndian.Uint32(data[4:])) {
		return io.ErrUnexpectedEOF
	}
	_, chunks, err := riff.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	for {
		id, _, chunk, err := chunks.Next()
		if err != nil {
			return nil
		}
		var first [1]byte
		_, _ = io.ReadFull(chunk, first[:]) // 0 if the chunk is empty
		switch {
		case string(id[:]) == "VP8X" && first[0]&0x02 != 0:
			return errAnimation
		case string(id[:]) == "VP8 " && first[0]&0x01 != 0:
			return errNotKey
		}
	}
}
