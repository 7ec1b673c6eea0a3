package tar

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ffconvert/ffconvert/converters"
)

// Names are keys: what they would be as paths does not matter, and nothing is done to
// them.
func TestSecurityNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("k", 64<<10)
	for name, want := range map[string]string{
		"../../etc/x.jpg":             "../../etc/x jpg=1",
		"/etc/cron.d/x.jpg":           "/etc/cron.d/x jpg=1",
		"windows\\system32\\x.jpg":    `windows\system32\x jpg=1`,
		"C:/x.jpg":                    "C:/x jpg=1",
		"dev/null.jpg":                "dev/null jpg=1",
		"CON.jpg":                     "CON jpg=1",
		"\x1b]0;owned\a\x1b[2J.jpg":   "\x1b]0;owned\a\x1b[2J jpg=1",
		"a\nffconvert: out: sound.x":  "a\nffconvert: out: sound x=1",
		"PART_00000.ffr":              "PART_00000 ffr=1",
		"%s%n%d.jpg":                  "%s%n%d jpg=1",
		"$(touch x)`touch y`;.jpg":    "$(touch x)`touch y`; jpg=1",
		"-rf.jpg":                     "-rf jpg=1",
		long + ".jpg":                 long + " jpg=1",
		"x." + strings.ToUpper(long):  "x " + long + "=1",
		"\u202egnp.exe.jpg":           "\u202egnp exe.jpg=1",
		"manifest.json/../../../x.js": "manifest.json/../../../x js=1",
	} {
		got, err := listed(t, memory(Options{}, archive(pax("path="+name), regular("x", "1"))))
		if err != nil || len(got) != 1 || got[0] != want {
			t.Errorf("%.80q: %.80q, %v", name, got, err)
		}
	}
	for _, name := range []string{"a\x00b.jpg", "\xff.jpg", "x.__key__"} {
		got, err := listed(t, memory(Options{}, archive(pax("path="+name), regular("x", "1"))))
		if err == nil || strings.ContainsAny(err.Error(), "\x00\n\x1b") || !utf8.ValidString(err.Error()) {
			t.Errorf("%q: %q, %v", name, got, err)
		}
	}
}

// No length in a tar decides an allocation before it is checked against the part and a
// limit. It is not parallel: memory is counted.
func TestSecurityLengths(t *testing.T) {
	sized := func(typ byte, size string) []byte { return set(block(typ, "x.jpg", 0), 124, size) }
	binary := func(bytes ...byte) string { return "\x80" + strings.Repeat("\x00", 11-len(bytes)) + string(bytes) }
	for _, typ := range []byte{typeRegular, 0, '7', typePAX, typePAXGlobal, typeLongName, typeLongLink} {
		for _, size := range []string{
			"77777777777\x00", "00100000000\x00", "00004000001\x00", // 8 GiB, 16 MiB, 1 MiB and a byte
			binary(0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), binary(0x40, 0, 0, 0, 0, 0, 0, 0), binary(1, 0, 0, 0, 0, 0),
			binary(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), "\xff" + strings.Repeat("\xff", 11), "-0000000001\x00",
		} {
			for _, opts := range []Options{{}, {AllowMissingTrailer: true, Load: func(string) bool { return true }}} {
				data := archive(sized(typ, size), regular("b.jpg", "1"))
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				got, err := listed(t, memory(opts, data))
				runtime.ReadMemStats(&after)
				if took := after.TotalAlloc - before.TotalAlloc; err == nil || took > 1<<20 {
					t.Errorf("type %q, size %q: %d bytes allocated; %q, %v", typ, size, took, got, err)
				}
			}
		}
	}
	for _, record := range []string{"99999999999999999999 path=x\n", "9223372036854775807 path=x\n", "-1 path=x\n", "0 path=x\n", "18446744073709551615 size=1\n"} {
		if got, err := listed(t, memory(Options{}, archive(entry(typePAX, "p", []byte(record)), regular("a.jpg", "1")))); !errors.Is(err, converters.ErrMalformed) {
			t.Errorf("record %q: %q, %v", record, got, err)
		}
	}
	for _, size := range []string{"9223372036854775807", "99999999999999999999", "-1", "1e3", "0x10"} {
		if got, err := listed(t, memory(Options{}, archive(pax("size="+size), regular("a.jpg", "1")))); err == nil {
			t.Errorf("PAX size %s: %q", size, got)
		}
	}
}

// A sample of very many members costs memory in proportion to its headers, and is bounded
// by the limit of a sample.
func TestSecurityMembers(t *testing.T) {
	t.Parallel()
	var all [][]byte
	for i := range 3000 {
		all = append(all, regular(fmt.Sprintf("a.%d", i), ""))
	}
	if _, err := listed(t, memory(Options{MaxSample: 1 << 20}, archive(all...))); !errors.Is(err, converters.ErrLimit) {
		t.Errorf("3,000 empty members in a sample of 1 MiB: %v", err)
	}
}
