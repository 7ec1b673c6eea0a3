package decode_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/decode"
)

// Records of rows have no key, and those of other programs any order and any head.
func TestDescribe(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		record string
		key    string
		fields []decode.FieldSize
	}{
		{"\x81\xa1a\x01", "", []decode.FieldSize{{"a", 1}}},
		{"\xdf\x00\x00\x00\x02\xa7__key__\xd9\x01k\xda\x00\x01a\x92\x81\xc0\x90\xc7\x01\x05x", "k", []decode.FieldSize{{"a", 8}}},
		{"\xa1\x61a\x01", "", []decode.FieldSize{{"a", 1}}},
		{"\xbb\x00\x00\x00\x00\x00\x00\x00\x02\x67__key__\x78\x01k\x61a\x9f\xc2\x41x\xff", "k", []decode.FieldSize{{"a", 5}}},
		{"\xb8\x01\x67__key__\x61k", "k", nil},
	} {
		key, fields, ok := decode.Describe([]byte(row.record))
		if !ok || key != row.key || !slices.Equal(fields, row.fields) {
			t.Errorf("decode.Describe(%q) = %q, %v, %v", row.record, key, fields, ok)
		}
		for n := range len(row.record) {
			if key, fields, ok := decode.Describe([]byte(row.record[:n])); ok {
				t.Errorf("decode.Describe(%q) = %q, %v", row.record[:n], key, fields)
			}
		}
		if _, _, ok := decode.Describe([]byte(row.record + "x")); ok {
			t.Errorf("%q and a byte more is described", row.record)
		}
	}
}

func TestDescribeRefuses(t *testing.T) {
	t.Parallel()
	for _, record := range []string{"", "\xc0", "\x80", "\xa0", "\x81\xa7__key__\x01", "\xdf\xff\xff\xff\xff", "\x82\xa7__key__\xa1k\xa1a", "JPEG",
		"\xa1\x67__key__\x01", "\xa1\x01\x01", "\x81\x01\x01", "\xbf\x61a\x01\xff", "\xbb\xff\xff\xff\xff\xff\xff\xff\xff", "\xa1\x61a" + strings.Repeat("\x81", 100_000),
		"\x81\xa1a" + strings.Repeat("\x91", 1_000_000), "\x81\xa1a\xdd\xff\xff\xff\xff"} {
		if key, fields, ok := decode.Describe([]byte(record)); ok {
			t.Errorf("decode.Describe(%.100q) = %q, %v", record, key, fields)
		}
	}
}
