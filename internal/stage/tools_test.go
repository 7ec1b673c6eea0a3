package stage

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

func fixHeaderCRC(blockHeader []byte) {
	n := (int(blockHeader[0])+1)*4 - 4
	binary.LittleEndian.PutUint32(blockHeader[n:], crc32.ChecksumIEEE(blockHeader[:n]))
}

// mixed is data that compresses in part.
func mixed(n int) []byte {
	rng := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, n)
	for i := 0; i < n; {
		run := min(n-i, 1+rng.IntN(3000))
		v := byte(rng.Uint32())
		for j := range run {
			if b[i+j] = v; rng.IntN(4) == 0 {
				b[i+j] = byte(rng.Uint32())
			}
		}
		i += run
	}
	return b
}

// TestTools reads what the real tools write.
func TestTools(t *testing.T) {
	t.Parallel()
	need.Time(t, "archives of all tools and levels")
	big := mixed(400 << 10)
	for _, tt := range []struct {
		name, compression string
		data              []byte
		command           []string
	}{
		{"gzip", "gzip", big, []string{"gzip", "-c"}},
		{"gzip fast", "gzip", big, []string{"gzip", "-1"}},
		{"gzip empty", "gzip", nil, []string{"gzip"}},
		{"zstd", "zstd", big, []string{"zstd", "-c"}},
		{"zstd 19", "zstd", big, []string{"zstd", "-19", "-c"}},
		{"zstd long", "zstd", big, []string{"zstd", "--long=27", "-c"}},
		{"zstd ultra", "zstd", big[:100<<10], []string{"zstd", "--ultra", "-22", "-c"}},
		{"zstd without checksum", "zstd", big, []string{"zstd", "--no-check", "-c"}},
		{"zstd empty", "zstd", nil, []string{"zstd", "-c"}},
		{"bzip2", "bzip2", big, []string{"bzip2", "-c"}},
		{"bzip2 fast", "bzip2", big, []string{"bzip2", "-1"}},
		{"bzip2 empty", "bzip2", nil, []string{"bzip2"}},
		{"xz", "xz", big, []string{"xz", "-c"}},
		{"xz fast", "xz", big, []string{"xz", "-0"}},
		{"xz best", "xz", big, []string{"xz", "-9"}},
		{"xz blocks", "xz", big, []string{"xz", "-1", "--block-size=100KiB", "-T2"}},
		{"xz small blocks", "xz", big[:100<<10], []string{"xz", "-1", "--block-size=1000", "-T2"}},
		{"xz crc32", "xz", big, []string{"xz", "-1", "--check=crc32"}},
		{"xz sha256", "xz", big, []string{"xz", "-1", "--check=sha256"}},
		{"xz unchecked", "xz", big, []string{"xz", "-1", "--check=none"}},
		{"xz empty", "xz", nil, []string{"xz"}},
		{"xz of machine code", "xz", big, []string{"xz", "-1", "--x86", "--lzma2=preset=1"}},
		{"xz of differences", "xz", big, []string{"xz", "-1", "--delta=dist=4", "--lzma2=preset=1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			data := command(t, tt.data, tt.command[0], tt.command[1:]...)
			c, got, err := decodeAll(data)
			if c != tt.compression || err != nil || !bytes.Equal(got, tt.data) {
				t.Fatalf("%s: %d bytes, %v; want %d", c, len(got), err, len(tt.data))
			}
		})
	}
}
