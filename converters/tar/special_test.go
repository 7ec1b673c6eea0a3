package tar

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/test/python"
)

// A special is a tar of one strange member between a.jpg and b.jpg.
type special struct {
	name string
	make []byte
	want string // the line of the index between those of a and b; "" with err: refused
	err  error
}

func specials() []special {
	const field = "x.jpg"
	link := func(typ byte, name string) []byte { return set(block(typ, name, 0), 157, "a.jpg") }
	sized := func(typ byte) []byte { return append(block(typ, "x", 3), pad([]byte("abc"))...) }
	size := func(f string) []byte {
		return append(set(block(typeRegular, field, 0), 124, f), pad([]byte("abc"))...)
	}
	binarySize := func(head byte, tail ...byte) []byte {
		f := make([]byte, 12)
		f[0] = head
		copy(f[12-len(tail):], tail)
		return size(string(f))
	}
	malformed, unsupported, truncated, limit := converters.ErrMalformed, converters.ErrUnsupported, converters.ErrTruncated, converters.ErrLimit
	return []special{
		// Kinds.
		{"directory", block(typeDirectory, "x/", 0), "directory: x/", nil},
		{"directory without slash", block(typeDirectory, "x", 0), "directory: x", nil},
		{"directory of V7", block(0, "x/", 0), "directory: x/", nil},
		{"dump directory", entry(typeDumpDir, "x/", []byte("Ya\x00\x00")), "directory: x/", nil},
		{"symbolic link", link(typeSymlink, "x"), "symbolic link: x", nil},
		{"symbolic link with a field's name", link(typeSymlink, field), "symbolic link: x.jpg", nil},
		{"hard link", link(typeHardLink, "x"), "hard link: x", nil},
		{"hard link of metadata", link(typeHardLink, "__x__"), "hard link: __x__", nil},
		{"hard link with a field's name", link(typeHardLink, field), "", unsupported},
		{"character device", block(typeChar, "x", 0), "character device: x", nil},
		{"block device", block(typeBlock, "x", 0), "block device: x", nil},
		{"fifo", block(typeFIFO, "x.jpg", 0), "fifo: x.jpg", nil},
		{"volume label", block(typeVolume, "x", 0), "volume label: x", nil},
		{"regular of V7", append(block(0, field, 3), pad([]byte("abc"))...), "x jpg=3", nil},
		{"contiguous", append(block('7', field, 3), pad([]byte("abc"))...), "x jpg=3", nil},
		{"name without key", regular("README", "x"), "name without key: README", nil},
		{"metadata name", regular("__x__/a.jpg", "x"), "metadata name: __x__/a.jpg", nil},
		{"bad sample", regular("x.__bad__", "x"), "sample marked __bad__: x", nil},
		{"bad sample by upper case", regular("x.__BAD__", "x"), "sample marked __bad__: x", nil},
		{"sample that is not bad", regular("x.__bad__", ""), "x __bad__=0", nil},
		{"multi-volume", block(typeMulti, field, 0), "", unsupported},
		{"unknown type", block('Z', field, 0), "", unsupported},
		{"unknown type with payload", sized('Z'), "", unsupported},
		{"Solaris PAX", paxType('X', "path=x.jpg"), "", unsupported},
		{"old long name", sized('N'), "", unsupported},
		{"access control list", sized('A'), "", unsupported},
		// Sizes where there should be none.
		{"directory with a size", sized(typeDirectory), "", malformed},
		{"hard link with a size", sized(typeHardLink), "", malformed},
		{"symbolic link with a size", sized(typeSymlink), "", malformed},
		{"character device with a size", sized(typeChar), "", malformed},
		{"block device with a size", sized(typeBlock), "", malformed},
		{"fifo with a size", sized(typeFIFO), "", malformed},
		{"volume label with a size", sized(typeVolume), "", malformed},
		{"link with a PAX size", cat(pax("size=3"), block(typeSymlink, "x", 0), pad([]byte("abc"))), "", malformed},
		// Sparse files.
		{"sparse of old GNU", sized(typeSparse), "", unsupported},
		{"sparse of PAX 0.0", cat(pax("GNU.sparse.size=9", "GNU.sparse.numblocks=1", "GNU.sparse.offset=0", "GNU.sparse.numbytes=3"), sized(typeRegular)), "", unsupported},
		{"sparse of PAX 0.1", cat(pax("GNU.sparse.map=0,3", "GNU.sparse.name=x.jpg"), sized(typeRegular)), "", unsupported},
		{"sparse of PAX 1.0", cat(pax("GNU.sparse.major=1", "GNU.sparse.minor=0", "GNU.sparse.realsize=9"), sized(typeRegular)), "", unsupported},
		{"sparse of star", cat(pax("SCHILY.realsize=9"), sized(typeRegular)), "", unsupported},
		{"sparse of Solaris", cat(pax("SUN.holesdata= 0 3"), sized(typeRegular)), "", unsupported},
		{"sparse by a global header", cat(paxType(typePAXGlobal, "GNU.sparse.major=1"), sized(typeRegular)), "", unsupported},
		// Sizes.
		{"size in octal, ended by a space", size("00000000003 "), "x jpg=3", nil},
		{"size in octal, of twelve digits", size("000000000003"), "x jpg=3", nil},
		{"size in octal, after spaces", size("          3\x00"), "x jpg=3", nil},
		{"size of NULs", set(block(typeRegular, field, 0), 124, strings.Repeat("\x00", 12)), "x jpg=0", nil},
		{"size in binary", binarySize(0x80, 3), "x jpg=3", nil},
		{"size in binary, 2⁶³−1", binarySize(0x80, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), "", truncated},
		{"size in binary, 2⁶³", binarySize(0x80, 0x80, 0, 0, 0, 0, 0, 0, 0), "", malformed},
		{"size in binary, 2⁸⁷", binarySize(0x80, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), "", malformed},
		{"size in binary, negative", binarySize(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfd), "", malformed},
		{"size in binary, another mark", binarySize(0xc0, 3), "", malformed},
		{"size of spaces", size(strings.Repeat(" ", 12)), "", malformed},
		{"size with a minus", size("-0000000003\x00"), "", malformed},
		{"size with a plus", size("+0000000003\x00"), "", malformed},
		{"size with a prefix", size("0o000000003\x00"), "", malformed},
		{"size with an underscore", size("0000000_003\x00"), "", malformed},
		{"size with a nine", size("00000000009\x00"), "", malformed},
		{"size in two words", size("0000000 003\x00"), "", malformed},
		{"size with bytes behind NUL", size("00000003\x00abc"), "", malformed},
		{"size after NUL", size("\x0000000003\x00\x00\x00"), "", malformed},
		{"size far too large", size("77777777777\x00"), "", truncated},
		// Other numbers.
		{"time before 1970", set(block(typeRegular, field, 0), 136, strings.Repeat("\xff", 12)), "x jpg=0", nil},
		{"user in binary", set(block(typeRegular, field, 0), 108, "\x80\x00\x00\x00\x7f\xff\xff\xff"), "x jpg=0", nil},
		{"mode not a number", set(block(typeRegular, field, 0), 100, "rw-r--r-"), "", malformed},
		{"device not a number", set(block(typeRegular, field, 0), 329, "no"), "", malformed},
		{"signed checksum", signedSum(), "ä jpg=0", nil},
		// PAX.
		{"PAX path", cat(pax("path=dir/x.png"), sized(typeRegular)), "dir/x png=3", nil},
		{"PAX size", cat(pax("size=3"), block(typeRegular, field, 0), pad([]byte("abc"))), "x jpg=3", nil},
		{"PAX size over a header's", cat(pax("size=3"), block(typeRegular, field, 99), pad([]byte("abc"))), "x jpg=3", nil},
		{"PAX that changes nothing", cat(pax("mtime=1.5", "comment=a=b", "SCHILY.xattr.user.x=\n\x00", "uid=7"), block(typeRegular, field, 0)), "x jpg=0", nil},
		{"PAX names in UTF-8", cat(pax("hdrcharset=ISO-IR 10646 2000 UTF-8", "path=ü.jpg"), block(typeRegular, field, 0)), "ü jpg=0", nil},
		{"PAX names in another character set", cat(pax("hdrcharset=ISO-IR 8859 1 1998"), block(typeRegular, field, 0)), "", unsupported},
		{"PAX global header", cat(paxType(typePAXGlobal, "comment=0123"), block(typeRegular, field, 0)), "x jpg=0", nil},
		{"PAX global path", cat(paxType(typePAXGlobal, "path=y.jpg"), block(typeRegular, field, 0)), "", unsupported},
		{"PAX global size", cat(paxType(typePAXGlobal, "size=0"), block(typeRegular, field, 0)), "", unsupported},
		{"PAX global header after a member's", cat(pax("path=y.jpg"), paxType(typePAXGlobal, "comment=x"), block(typeRegular, field, 0)), "", malformed},
		{"PAX negative size", cat(pax("size=-3"), sized(typeRegular)), "", malformed},
		{"PAX size with a plus", cat(pax("size=+3"), sized(typeRegular)), "", malformed},
		{"PAX size with an underscore", cat(pax("size=0_3"), sized(typeRegular)), "", malformed},
		{"PAX size with a space", cat(pax("size= 3"), sized(typeRegular)), "", malformed},
		{"PAX size, empty", cat(pax("size="), sized(typeRegular)), "", malformed},
		{"PAX size, 2⁶⁴+3", cat(pax("size=18446744073709551619"), sized(typeRegular)), "", malformed},
		{"PAX size far too large", cat(pax("size=999999999999999999"), sized(typeRegular)), "", truncated},
		{"PAX size twice", cat(pax("size=3", "size=4"), sized(typeRegular)), "", malformed},
		{"PAX path, empty", cat(pax("path="), sized(typeRegular)), "", malformed},
		{"PAX path with NUL", cat(pax("path=x.jpg\x00.png"), sized(typeRegular)), "", malformed},
		{"PAX path of a directory", cat(pax("path=x.jpg/"), sized(typeRegular)), "", malformed},
		{"PAX record too short", cat(entry(typePAX, "p", []byte("5 path=x\n")), sized(typeRegular)), "", malformed},
		{"PAX record too long", cat(entry(typePAX, "p", []byte("99 path=x\n")), sized(typeRegular)), "", malformed},
		{"PAX record into the padding", cat(set(entry(typePAX, "p", []byte("12 path=x.j\n")), 124, "00000000010\x00"), sized(typeRegular)), "", malformed},
		{"PAX record without key", cat(entry(typePAX, "p", []byte("5 =x\n")), sized(typeRegular)), "", malformed},
		{"PAX record without number", cat(entry(typePAX, "p", []byte(" path=x\n")), sized(typeRegular)), "", malformed},
		{"PAX record ended by NULs", cat(entry(typePAX, "p", []byte("10 path=x\n\x00\x00")), sized(typeRegular)), "", malformed},
		{"PAX header twice", cat(pax("path=x.jpg"), pax("size=3"), sized(typeRegular)), "", malformed},
		{"PAX header of 1 MiB and a byte", entry(typePAX, "p", make([]byte, 1<<20+1)), "", limit},
		{"PAX header that claims 8 EiB", set(block(typePAX, "p", 0), 124, "\x80\x00\x00\x00\x7f\xff\xff\xff\xff\xff\xff\xff"), "", limit},
		{"PAX header cut", block(typePAX, "p", 1<<20), "", truncated},
		{"PAX header, then the end", cat(pax("path=x.jpg"), make([]byte, 1024)), "", malformed},
		{"global header, then the end", cat(paxType(typePAXGlobal, "comment=x"), make([]byte, 1024)), "", malformed},
		// GNU long names.
		{"long name", cat(long(typeLongName, strings.Repeat("d/", 80)+"x.png"), sized(typeRegular)), strings.Repeat("d/", 80) + "x png=3", nil},
		{"long link", cat(long(typeLongLink, strings.Repeat("d/", 80)), block(typeSymlink, "x", 0)), "symbolic link: x", nil},
		{"long name and long link", cat(long(typeLongLink, "y"), long(typeLongName, "y"), block(typeSymlink, "x", 0)), "symbolic link: y", nil},
		{"long name twice", cat(long(typeLongName, "y.a"), long(typeLongName, "y.b"), sized(typeRegular)), "", malformed},
		{"long name, empty", cat(long(typeLongName, ""), sized(typeRegular)), "", malformed},
		{"long name with NUL inside", cat(long(typeLongName, "x.a\x00.b"), sized(typeRegular)), "", malformed},
		{"long name and equal PAX path", cat(long(typeLongName, "y.a"), pax("path=y.a"), sized(typeRegular)), "y a=3", nil},
		{"long name and another PAX path", cat(pax("path=y.b"), long(typeLongName, "y.a"), sized(typeRegular)), "", malformed},
		{"long name of a directory", cat(long(typeLongName, "y.a/"), sized(typeRegular)), "", malformed},
		// Names.
		{"prefix", set(block(typeRegular, field, 0), 345, "dir/ectory"), "dir/ectory/x jpg=0", nil},
		{"prefix in V7", set(set(block(typeRegular, field, 0), 257, strings.Repeat("\x00", 8)), 345, "dir"), "", unsupported},
		{"times in the place of the prefix", set(set(block(typeRegular, field, 0), 257, "ustar  \x00"), 345, "13727411200\x00"), "", unsupported},
		{"name of 100 bytes", block(typeRegular, strings.Repeat("x", 96)+".jpg", 0), strings.Repeat("x", 96) + " jpg=0", nil},
		{"name without name", block(typeRegular, "", 0), "", malformed},
		{"name that is not UTF-8", block(typeRegular, "\xff.jpg", 0), "", unsupported},
		{"suffix that is not UTF-8", block(typeRegular, "x.\xff", 0), "", unsupported},
		{"name that is not UTF-8, without key", block(typeRegular, "\xff", 0), "name without key: \xff", nil},
		{"file with a directory's name", block(typeRegular, "x.jpg/", 0), "", malformed},
		{"link with a directory's name", cat(pax("path=x/"), block(typeSymlink, "x", 0)), "", malformed},
		{"root of V7", block(0, "/", 0), "", malformed},
		{"root", block(typeDirectory, "/", 0), "directory: /", nil},
		{"directory of V7 with a size", sizedDir(), "", malformed},
		{"name that climbs", block(typeRegular, "../../etc/x.jpg", 0), "../../etc/x jpg=0", nil},
		{"name from the root", block(typeRegular, "/etc/x.jpg", 0), "/etc/x jpg=0", nil},
		{"name with a newline", block(typeRegular, "x\ny.jpg", 0), "x\ny jpg=0", nil},
		{"field __key__", block(typeRegular, "x.__key__", 0), "", unsupported},
		{"field __KEY__, which is __key__ in lower case", block(typeRegular, "x.__KEY__", 0), "", unsupported},
		{"field __url__", block(typeRegular, "x.__url__", 0), "", unsupported},
	}
}

// signedSum is a header whose checksum was made of signed bytes.
func signedSum() []byte {
	b := block(typeRegular, "ä.jpg", 0)
	n := 0
	for i, c := range b {
		if i >= 148 && i < 156 {
			c = ' '
		}
		n += int(int8(c))
	}
	copy(b[148:], octal6(n))
	return b
}

func octal6(n int) string {
	f := []byte("000000\x00 ")
	for i := 5; i >= 0; i-- {
		f[i] = byte('0' + n&7)
		n >>= 3
	}
	return string(f)
}

func sizedDir() []byte { return append(block(0, "x/", 3), pad([]byte("abc"))...) }

// E3: each is refused, or it is what it should be, and then Read has the same.
func TestSpecial(t *testing.T) {
	t.Parallel()
	cases, undetected := 0, 0
	for _, c := range specials() {
		cases++
		data := archive(regular("a.jpg", "1"), c.make, regular("b.jpg", "22"))
		got, err := listed(t, memory(Options{}, data))
		switch {
		case c.err != nil && err == nil:
			undetected++
			t.Errorf("%s: accepted: %q", c.name, got)
		case !errors.Is(err, c.err):
			t.Errorf("%s: error %v, want %v", c.name, err, c.err)
		case c.err == nil:
			want := []string{"a jpg=1", c.want, "b jpg=2"}
			slices.Sort(got) // what is skipped comes before the sample it interrupts
			slices.Sort(want)
			if !slices.Equal(got, want) {
				undetected++
				t.Errorf("%s: %q, want %q", c.name, got, want)
			}
			if _, err := contents(t, memory(Options{}, data)); err != nil {
				t.Errorf("%s: read: %v", c.name, err)
			}
		}
	}
	t.Logf("E3 cases=%d undetected=%d lost=0", cases, undetected)
}

// What is accepted of these, Python's tarfile reads the same way.
func TestSpecialAgainstPython(t *testing.T) {
	t.Parallel()
	py := python.Start(t, pythonTar)
	for _, c := range specials() {
		if c.err == nil {
			againstPython(t, py, c.name, archive(regular("a.jpg", "1"), c.make, regular("b.jpg", "22")))
		}
	}
}
