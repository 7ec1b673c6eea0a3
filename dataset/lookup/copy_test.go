package lookup

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ffconvert/ffconvert/dataset"
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
		sound, err := d.Record(row)
		if err != nil {
			t.Fatal(err)
		}
		var copied bytes.Buffer
		records := d.Records()
		defer records.Close()
		if err := records.Copy(&copied, row); err != nil || !bytes.Equal(copied.Bytes(), sound) {
			t.Fatalf("sample %d: %v, %d bytes of %d", n, err, copied.Len(), len(sound))
		}
		if n%10 != 3 {
			continue
		}
		flip(t, row.Shard, row.At.Off+2)
		copied.Reset()
		err = records.Copy(&copied, row)
		read, same := d.Record(row)
		if !errors.Is(err, record.ErrChecksum) || err.Error() != same.Error() || copied.Len() != len(sound) || !bytes.Equal(read, copied.Bytes()) {
			t.Errorf("a damaged sample: %v; Record says %v; %d and %d bytes of %d", err, same, copied.Len(), len(read), len(sound))
		}
		flip(t, row.Shard, row.At.Off+2)
	}
}

// The table of keys is made beforehand, once, with progress; without a place for it searches go on.
func TestPrepare(t *testing.T) {
	t.Parallel()
	d := opened(t, made(t, "msgpack", 300, 2))
	calls, last := 0, int64(0)
	tell := func(done, total int64) {
		calls++
		if last = done; total != 300 {
			t.Errorf("of %d samples", total)
		}
	}
	if err := d.Prepare(t.Context(), tell); err != nil || last != 300 {
		t.Fatalf("made: %v, %d samples told", err, last)
	}
	if _, err := os.Stat(filepath.Join(d.Dir, dataset.KeysName)); err != nil {
		t.Error(err)
	}
	calls = 0
	if err := d.Fork().Prepare(t.Context(), tell); err != nil || calls > 0 {
		t.Errorf("again: %v, %d calls", err, calls)
	}
	checkKeys(t, d, 300)
	one := opened(t, d.Files()[1].Path)
	if err := one.Prepare(t.Context(), nil); err != nil {
		t.Errorf("a single shard: %v", err)
	}
}
