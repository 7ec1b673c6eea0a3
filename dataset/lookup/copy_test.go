package lookup

import (
	"bytes"
	"errors"
	"testing"

	"github.com/ffconvert/ffconvert/record"
)

// A record is copied whole, also if it is damaged, which is told after its last byte.
func TestCopy(t *testing.T) {
	t.Parallel()
	d := opened(t, made(t, "msgpack", 50, 2))
	for n := range int64(50) {
		row, err := d.Row(n, true)
		if err != nil {
			t.Fatal(err)
		}
		sound, err := d.Record(t.Context(), row)
		if err != nil {
			t.Fatal(err)
		}
		var copied bytes.Buffer
		records := d.Records()
		defer records.Close()
		if err := records.Copy(t.Context(), &copied, row); err != nil || !bytes.Equal(copied.Bytes(), sound) {
			t.Fatalf("sample %d: %v, %d bytes of %d", n, err, copied.Len(), len(sound))
		}
		if n%10 != 3 {
			continue
		}
		flip(t, row.Shard, row.At.Off+2)
		copied.Reset()
		err = records.Copy(t.Context(), &copied, row)
		read, same := d.Record(t.Context(), row)
		if !errors.Is(err, record.ErrChecksum) || err.Error() != same.Error() || copied.Len() != len(sound) || !bytes.Equal(read, copied.Bytes()) {
			t.Errorf("a damaged sample: %v; Record says %v; %d and %d bytes of %d", err, same, copied.Len(), len(read), len(sound))
		}
		flip(t, row.Shard, row.At.Off+2)
	}
}
