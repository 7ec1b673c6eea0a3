package pickle

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"testing"
)

// What this package appends is read back.
func TestData(t *testing.T) {
	t.Parallel()
	big := bytes.Repeat([]byte("x"), 300)
	b := append(Begin(nil), EmptyDict, Mark)
	want := []any{BeginDict}
	for _, n := range []int64{0, 255, 256, 65_535, 65_536, -1, math.MinInt32, math.MaxInt32, math.MinInt64, math.MaxInt64} {
		b, want = AppendInt(b, n), append(want, n)
	}
	b, want = AppendUint(b, math.MaxUint64), append(want, uint64(math.MaxUint64))
	b, want = AppendFloat(b, -1.5), append(want, -1.5)
	b, want = AppendBool(AppendBool(append(b, None), true), false), append(want, nil, true, false)
	b, want = appendText(appendText(b, "ä"), big), append(want, "ä", string(big))
	b, want = append(AppendBytesHead(b, 300), big...), append(want, big)
	b, want = append(AppendBytesHead(b, 0), EmptyList, Mark, Appends, SetItems, Stop), append(want, []byte{}, BeginList, EndList, EndDict, End)
	d, err := NewData(b)
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range want {
		if got, err := d.Value(); err != nil || !reflect.DeepEqual(got, w) {
			t.Fatalf("value %d: %v, %v; want %v", i, got, err, w)
		}
	}
}

// A tuple is read at the length that it has, and at no other.
func TestDataTuple(t *testing.T) {
	t.Parallel()
	for n := range 6 {
		b := BeginTuple(Begin(nil), n)
		for i := range n {
			b = AppendInt(b, int64(i))
		}
		b = append(EndTuple(b, n), Stop)
		for as := range 6 {
			d, err := NewData(b)
			if err == nil {
				err = d.BeginTuple(as)
			}
			for i := 0; i < as && err == nil; i++ {
				_, err = d.Value()
			}
			if err == nil {
				err = d.EndTuple(as)
			}
			if ok := err == nil; ok != (n == as) || !ok && !errors.Is(err, ErrData) {
				t.Errorf("a tuple of %d as one of %d: %v", n, as, err)
			}
		}
	}
}

func TestDataRefuses(t *testing.T) {
	t.Parallel()
	for _, b := range []string{
		"", "\x80", "\x80\x03", "\x80\x04", "\x80\x04.x", "\x80\x04J\x00", "\x80\x04G1234567", "\x80\x04\x8c\x02a", "\x80\x04\x8c\x01\xff",
		"\x80\x04\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\x01", "\x80\x04\x8a\x01\x05", "\x80\x04\x8a\xff", "\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\xff",
		"\x80\x04]", "\x80\x04]e", "\x80\x04\x94", "\x80\x04cos\nsystem\n", "\x80\x04R",
	} {
		d, err := NewData([]byte(b))
		if err == nil {
			_, err = d.Value()
		}
		if !errors.Is(err, ErrData) {
			t.Errorf("%q: %v", b, err)
		}
	}
}
