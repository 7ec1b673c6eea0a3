// Package view converts a sample to what a page shows of it, and large pictures to small ones.
//
//	for _, f := range view.Fields(sample) { … }
//	small, contentType, err := thumbs.Make(ctx, func() ([]byte, error) { return field, nil })
//
// A sample may hold anything, of any size. The result is limited in bytes, nodes and rows, and nothing large is copied
// to find it. The type of a field is recognised by its content, never by its name. Control characters, and characters
// that change the direction of writing, are escaped as in Go. html/template must escape markup.
package view

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/jsonvalue"
	"github.com/ffconvert/ffconvert/internal/picture"
	"github.com/ffconvert/ffconvert/internal/text"
)

// A Kind is how a field is shown.
type Kind string

// The kinds.
const (
	KindImage   Kind = "image"
	kindAudio   Kind = "audio"
	kindVideo   Kind = "video"
	kindText    Kind = "text"
	kindJSON    Kind = "json"    // Text is indented
	kindTree    Kind = "tree"    // a nested value
	kindNumbers Kind = "numbers" // Table and Shape
	kindValue   Kind = "value"   // one number, bool or null
	kindHex     Kind = "hex"     // bytes of any other content
)

// A Field is the view of a field of a sample.
type Field struct {
	Name          string // with unprintable characters escaped, at most 256 characters
	Kind          Kind
	Type          string // "JPEG", "UTF-8 text", "int"
	Size          int64  // of bytes and text; 0 for other values
	Width, Height int    // of a picture
	Text          string
	Cut           bool // Text, Table, Tree or Hex are incomplete
	Tree          *node
	Table         [][]string
	Shape         string // of numbers: "3 × 224 × 224"
	Hex           []HexLine
	Media         string // content type, if a page may display the field in the browser; else ""
	Problem       string // why a picture is not shown
}

// bounds limit the view of a sample. A value of 0 means the default given below.
type bounds struct {
	Fields  int // 256
	Text    int // bytes of the text of a field, 64 KiB
	All     int // bytes of all texts, 512 KiB
	Nodes   int // of all trees, 5,000
	Rows    int // of a table, 32
	Columns int // of a table, 16
	Hex     int // bytes shown in digits, of a field, 1 KiB
}

func (l bounds) withDefaults() bounds {
	return bounds{cmp.Or(l.Fields, 256), cmp.Or(l.Text, 64<<10), cmp.Or(l.All, 512<<10), cmp.Or(l.Nodes, 5000),
		cmp.Or(l.Rows, 32), cmp.Or(l.Columns, 16), cmp.Or(l.Hex, 1<<10)}
}

const (
	maxName = 256  // characters of a name
	maxLeaf = 1024 // bytes of a text in a tree
)

// Fields returns the views of the fields of a sample, in order: view i is of s.Fields[i]. Fields after the 256th are
// omitted.
func Fields(s *converters.Sample) []Field { return fieldsOf(s, bounds{}) }

func fieldsOf(s *converters.Sample, limits bounds) []Field {
	v := &viewer{limits: limits.withDefaults()}
	v.bytes, v.nodes = v.limits.All, v.limits.Nodes
	fields := make([]Field, min(len(s.Fields), v.limits.Fields))
	for i := range fields {
		fields[i] = v.field(&s.Fields[i])
	}
	return fields
}

// A viewer tracks the remaining budget of a sample.
type viewer struct {
	limits bounds
	bytes  int // remaining bytes of text
	nodes  int // remaining nodes of trees
}

func (v *viewer) field(of *converters.Field) Field {
	f := Field{Name: shownName(of.Name), Size: of.Value.Len()}
	switch value := &of.Value; value.Kind() {
	case converters.KindInt:
		f.Kind, f.Type, f.Text = kindValue, "int", strconv.FormatInt(value.Int(), 10)
	case converters.KindFloat:
		f.Kind, f.Type, f.Text = kindValue, "float", string(jsonvalue.AppendFloat(nil, value.Float()))
	case converters.KindText:
		f.Type = "UTF-8 text"
		v.text(&f, value.Data())
	case converters.KindNested:
		v.nested(&f, value.Nested())
	default:
		if f.Type = "bytes"; value.Unread() {
			f.Kind, f.Text = kindValue, "not read"
		} else {
			v.data(&f, value.Data())
		}
	}
	return f
}

// data shows bytes according to their content.
func (v *viewer) data(f *Field, data []byte) {
	if m := mediaOf(data); m.kind != kindHex {
		f.Kind, f.Type, f.Media = m.kind, m.name, m.contentType
		if m.kind == KindImage {
			head, err := picture.ReadFirst(data, picture.DefaultMaxPixels)
			if f.Width, f.Height = head.Width, head.Height; err != nil {
				f.Problem = text.Line(err.Error())
				if !errors.Is(err, picture.ErrUnchecked) || errors.Is(err, picture.ErrPixels) {
					f.Media = "" // browsers may know more formats than the decoder, but have no limit
				}
			}
		}
		return
	}
	if v.array(f, data) {
		return
	}
	if isText(data[:min(len(data), v.limits.Text)], len(data) > v.limits.Text) {
		f.Type = "UTF-8 text"
		v.text(f, data)
		return
	}
	f.Kind, f.Hex = kindHex, Hex(data, v.limits.Hex)
	f.Cut = len(data) > v.limits.Hex
}

// shownName returns a name of a field, a key or a class for a page.
func shownName(name string) string {
	begin, cut := prefix([]byte(name[:min(len(name), 4*maxName)]), 4*maxName)
	shown := text.Line(string(begin))
	if runes := []rune(shown); len(runes) > maxName {
		shown, cut = string(runes[:maxName]), true
	}
	if cut || len(name) > 4*maxName {
		shown += "…"
	}
	return shown
}

// prefix returns at most n bytes of text, in whole characters, and whether text remains.
func prefix(b []byte, n int) ([]byte, bool) {
	if len(b) <= n {
		return b, false
	}
	b = b[:n]
	for k := 1; k < utf8.UTFMax && k <= len(b); k++ {
		if tail := b[len(b)-k:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				b = b[:len(b)-k]
			}
			break
		}
	}
	return b, true
}

// join formats a shape.
func join(shape []int) string {
	var b strings.Builder
	for i, n := range shape {
		if i > 0 {
			b.WriteString(" × ")
		}
		fmt.Fprint(&b, n)
	}
	return b.String()
}
