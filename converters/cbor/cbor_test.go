package cbor

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/convertertest"
)

const pictureSize = 30_000

// pictures are items of a key, a text, and a byte string. What is before a byte string
// is as long as the smallest read: Index can read all of that and nothing else.
func pictures(messagePack bool, first, n int) (b []byte) {
	before, behind := "\xa3\x67__key__\x66%06d\x64meta\x79", "\x63jpg\x5a"
	if messagePack {
		before, behind = "\x83\xa7__key__\xa6%06d\xa4meta\xda", "\xa3jpg\xc6"
	}
	for i := first; i < first+n; i++ {
		item := fmt.Appendf(nil, before, i)
		fill := smallRead - len(item) - 2 - len(behind) - 4
		item = binary.BigEndian.AppendUint16(item, uint16(fill))
		item = append(item, strings.Repeat("m", fill)+behind...)
		item = binary.BigEndian.AppendUint32(item, pictureSize)
		b = append(b, item...)
		b = append(b, bytes.Repeat([]byte{byte(i)}, pictureSize)...)
	}
	return b
}

// mixed are items of all kinds, some of them alike.
func mixed(messagePack bool) (b []byte) {
	for _, row := range kinds {
		item := row.cbor
		if messagePack {
			item = row.pack
		}
		if strings.Contains(row.want, "nan") {
			continue // the suite would not find it equal to itself
		}
		b = append(b, item...)
		if len(item)%3 == 0 {
			b = append(b, item...)
		}
	}
	return b
}

func TestSource(t *testing.T) {
	t.Parallel()
	for _, pack := range []bool{false, true} {
		for name, opts := range map[string]Options{
			"fields":            {MessagePack: pack},
			"fields, all read":  {MessagePack: pack, Load: func(string) bool { return true }},
			"items":             {MessagePack: pack, Items: true},
			"items, these read": {MessagePack: pack, Items: true, Load: func(field string) bool { return field == itemField }},
		} {
			kinds, last := mixed(pack), lastItem(pack)
			var inside []int64 // all bytes of the last item
			for i := 1; i < len(last); i++ {
				inside = append(inside, int64(len(kinds)+i))
			}
			for kind, parts := range map[string]struct {
				data [][]byte
				cuts []int64
			}{
				"pictures": {[][]byte{pictures(pack, 0, 5), pictures(pack, 5, 1)}, []int64{1, int64(smallRead) - 1, int64(smallRead), int64(smallRead) + 1, pictureSize}},
				"mixed":    {[][]byte{cat(kinds, last), kinds, pictures(pack, 3, 3)}, inside},
			} {
				t.Run(fmt.Sprintf("%s, %s, MessagePack %t", kind, name, pack), func(t *testing.T) {
					t.Parallel()
					convertertest.Test(t, func(t *testing.T) convertertest.Fixture {
						var paths []string
						for i, data := range parts.data {
							path := filepath.Join(t.TempDir(), fmt.Sprintf("part-%d.cbor", i))
							if err := os.WriteFile(path, data, 0o600); err != nil {
								t.Fatal(err)
							}
							paths = append(paths, path)
						}
						src, use := counted(openFiles(t, opts, paths...))
						t.Cleanup(func() {
							if opened, closed := use.Opened.Load(), use.Closed.Load(); opened != closed {
								t.Errorf("%d files opened, %d closed", opened, closed)
							}
						})
						f := convertertest.Fixture{
							Source: src, Files: paths, Cuts: parts.cuts,
							Reopen: func(t *testing.T) converters.Source { return openFiles(t, opts, paths...) },
						}
						if kind == "pictures" && name == "fields" {
							f.BytesRead = use.Read.Load // else heads are payload too, or all is read
						}
						return f
					})
				})
			}
		}
	}
}

// lastItem has 12 bytes, and is complete with none less: {"x": [1, 2, "abc"]}.
func lastItem(messagePack bool) []byte {
	if messagePack {
		return []byte("\x81\xa1x\x93\xcc\x01\xcc\x02\xa3abc")
	}
	return []byte("\xa1\x61x\x83\x18\x01\x18\x02\x63abc")
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	if d := Open(nil, Options{}).Describe(); d.Encoding != "raw" {
		t.Errorf("%+v", d)
	}
}

// Samples come from past the page cache as they come from it: large ones, and small ones.
func TestCold(t *testing.T) {
	t.Parallel()
	small := bytes.Repeat(mixed(false), 1_000_000/len(mixed(false)))
	convertertest.Cold(t, func(t *testing.T, paths ...string) converters.Source { return openFiles(t, Options{}, paths...) }, pictures(false, 0, 130), small)
}
