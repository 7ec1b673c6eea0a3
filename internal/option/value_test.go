package option

import (
	"testing"
)

func TestSizeValue(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		text string
		want Size
		back string
	}{
		{"0", 0, "0"},
		{"1500000", 1500000, "1500000"},
		{"256MiB", 256 << 20, "256MiB"},
		{"256 mib", 256 << 20, "256MiB"},
		{"1.5GiB", 3 << 29, "1536MiB"},
		{"1GB", 1e9, "1000000000"},
		{"1TiB", 1 << 40, "1TiB"},
		{"2048TiB", 1 << 51, "2048TiB"},
	} {
		var v, again Size
		if err := v.Set(row.text); err != nil || v != row.want {
			t.Errorf("%q is %d, %v; want %d", row.text, v, err, row.want)
		}
		if err := again.Set(v.String()); err != nil || again != v {
			t.Errorf("%q prints as %q, which is %d, %v", row.text, v.String(), again, err)
		}
		if v.String() != row.back {
			t.Errorf("%q prints as %q, want %q", row.text, v.String(), row.back)
		}
	}
	for _, text := range []string{"", "x", "-1", "1 parsec", "99999999999TiB"} {
		var v Size
		if err := v.Set(text); err == nil {
			t.Errorf("%q is taken for %d", text, v)
		}
	}
}

func TestNumberValue(t *testing.T) {
	t.Parallel()
	n, most := 7, int64(0)
	for _, row := range []struct {
		v    Value
		text string
		want string // the error; "": accepted
	}{
		{Between(&n, -1, 255), "-1", ""},
		{Between(&n, -1, 255), "255", ""},
		{Between(&n, -1, 255), "256", "want a whole number from -1 to 255"},
		{Between(&n, -1, 255), "99999999999999999999", "want a whole number from -1 to 255"},
		{AtLeast(&n, 1), "0", "want a whole number of 1 or more"},
		{AtLeast(&n, 1), "0x8", "want a whole number of 1 or more"},
		{AtLeast(&n, 1), "-99999999999999999999", "want a whole number of 1 or more"},
		{AtLeast(&n, 1), "99999999999999999999", "the number is too large"},
		{Count(&most, 3), "9223372036854775807", ""},
	} {
		before, got := row.v.String(), ""
		if err := row.v.Set(row.text); err != nil {
			got = err.Error()
		}
		if got != row.want {
			t.Errorf("%q: %q, want %q", row.text, got, row.want)
		}
		if set := row.v.String(); row.want == "" && set != row.text || row.want != "" && set != before {
			t.Errorf("%q: the value is %s, was %s", row.text, set, before)
		}
	}
}
