package aio_test

import (
	"testing"

	"github.com/ffconvert/ffconvert/aio"
)

func TestOrigin(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ a, b, want aio.Origin }{
		{"", "", ""},
		{"", aio.Device, aio.Device},
		{aio.Device, aio.Device, aio.Device},
		{aio.Device, "", aio.Device},
		{"tmpfs", "", "tmpfs"},
		{aio.Device, "tmpfs", "tmpfs"},
		{"tmpfs", aio.Device, "tmpfs"},
		{"nfs4", "tmpfs", "nfs4"},
	} {
		if got := row.a.And(row.b); got != row.want {
			t.Errorf("%q and %q are %q, want %q", row.a, row.b, got, row.want)
		}
	}
	for o, want := range map[aio.Origin]string{
		"":         "",
		aio.Device: "from the device",
		"fuse":     "as fuse serves it, the device is not proven",
		"unknown":  "as an unknown file system serves it, the device is not proven",
	} {
		if got := o.String(); got != want {
			t.Errorf("%q is %q", o, got)
		}
	}
}
