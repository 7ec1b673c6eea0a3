package lookup

import (
	"bytes"
	"context"
	"errors"
	"testing"
)

// A reader of records reads what Record reads, in any order, and past damage of others.
func TestReadRecords(t *testing.T) {
	t.Parallel()
	d := opened(t, made(t, "msgpack", 500, 3))
	x := d.Records()
	defer x.Close()
	read := func(n int64) error {
		row, err := d.Row(n, n%2 == 0)
		if err != nil {
			t.Fatal(err)
		}
		again := *row
		want, wrong := d.Record(t.Context(), row)
		got, err := x.Read(t.Context(), &again)
		if (err == nil) != (wrong == nil) || !bytes.Equal(got, want) || *row != again {
			t.Fatalf("sample %d: %v, %v; %+v and %+v", n, err, wrong, row, again)
		}
		return err
	}
	for n := range int64(500) {
		for _, n := range []int64{n, 499 - n, n * 71 % 500} {
			if err := read(n); err != nil {
				t.Fatal(err)
			}
		}
	}
	row, err := d.Row(40, true)
	if err != nil {
		t.Fatal(err)
	}
	flip(t, row.Shard, 12+4*d.shards[0].samples+8*40+6) // where sample 40 begins: far behind the end of the file
	x = d.Records()
	defer x.Close()
	for n := range int64(60) {
		if err := read(n); (err != nil) != (n == 39 || n == 40) {
			t.Errorf("sample %d: %v", n, err)
		}
	}

	ended, end := context.WithCancel(t.Context())
	end()
	if row, err = d.Row(30, true); err != nil {
		t.Fatal(err)
	}
	flip(t, row.Shard, 12+4*30) // its CRC
	x = d.Records()
	defer x.Close()
	if err := x.Locate(ended, row); !errors.Is(err, context.Canceled) {
		t.Errorf("the index of a damaged header, compared after the end of the context: %v", err)
	}
}
