package browse_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/picturetest"
)

// attack does everything that a page must not do, where its markup or its script is taken for the page's own.
const attack = `<script>window.owned=1;alert(1);fetch("http://leaves.example/fetch")</script><img src=x onerror="window.owned=1;alert(2)">` +
	`<img src="http://leaves.example/img.png"><svg onload="window.owned=1"></svg><iframe src="javascript:parent.owned=1"></iframe>` +
	`<base href="http://leaves.example/"><meta http-equiv="refresh" content="0;url=http://leaves.example/"><link rel="stylesheet" href="http://leaves.example/s.css">` +
	`<form action="http://leaves.example/"><button autofocus>x</button></form><style>body{display:none}</style>`

// hostileNames are names of classes, keys and fields that break out of text, attributes, URLs, scripts, JSON and terminals.
var hostileNames = []string{
	`<img src=x onerror=alert(1)>`,
	`"><svg onload=alert(2)>`,
	`' onmouseover='alert(3)' x='`,
	"new\nline\ttab\r\x1b[31mred\x07",
	"\u202egnp.exe\u2066\u200b\ufeff",
	"{{.}}{{template \"layout\"}}${alert(4)}",
	"javascript:alert(5)",
	"a&b=c#d?e%2f..%00;+",
	"</title><script>alert(6)<",
	"\u2028\u2029\u0085\u007f",
	"..",
	strings.Repeat("wide", 50),
}

// hugeText is how large the largest field of hostileFiles is in bytes: nearly as large as a record that is shown, or much larger.
func hugeText() int {
	if full() {
		return 1<<30 - 1<<20 // a sample has at most 1 GiB
	}
	return 60 << 20
}

// hostileFiles have names and classes, which are directories, and data that no page may show as what they are.
var hostileFiles = &set{make: func(t testing.TB, out string) {
	source := out + "-source"
	for i, name := range hostileNames {
		if name == ".." {
			continue
		}
		name = strings.NewReplacer("/", "∕", "\n", "↵").Replace(name) // which folder refuses
		put(t, filepath.Join(source, name, name[:min(len(name), 100)]+fmt.Sprint(i)+".txt"), []byte(attack))
	}
	svg := `<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(2)</script><image href="http://leaves.example/i.png"/><foreignObject>` + attack + `</foreignObject></svg>`
	lies := picturetest.JPEG(picturetest.Picture())
	for name, data := range map[string][]byte{
		"svg.svg":          []byte(svg),
		"svgpng.png":       []byte(svg),
		"page.html":        []byte("<!doctype html>" + attack),
		"pagejpg.jpg":      []byte("<!doctype html>" + attack),
		"pagemp4.mp4":      []byte("<!doctype html>" + attack),
		"entities.xml":     []byte(`<?xml version="1.0"?><!DOCTYPE a [<!ENTITY e SYSTEM "http://leaves.example/e">]><?xml-stylesheet href="http://leaves.example/s.xsl"?><a>&e;</a>`),
		"script.js":        []byte("alert(1)"),
		"style.css":        []byte("@import 'http://leaves.example/s.css'"),
		"paper.pdf":        []byte("%PDF-1.4\n1 0 obj<</Type/Catalog/OpenAction<</S/JavaScript/JS(app.alert(1))>>>>endobj"),
		"wide.png":         picturetest.PNGOf(100_000, 100_000),
		"cut.jpg":          lies[:len(lies)/2],
		"polyglot.gif":     append([]byte("GIF89a/*"), attack...),
		"fake.wav":         []byte("RIFF\xff\xff\xff\xffWAVE" + attack),
		"fakewebm.webm":    []byte("\x1a\x45\xdf\xa3" + attack),
		"shape.npy":        npy("<f8", "(1000000000, 1000000000)", []byte("12345678")),
		"kind.npy":         npy(`<script>alert(1)</script>`, "(2,)", []byte("12345678")),
		"deep.json":        []byte(strings.Repeat(`[`, 50_000) + strings.Repeat(`]`, 50_000)),
		"broad.json":       []byte("[" + strings.Repeat("0,", 200_000) + "0]"),
		"names.json":       mustJSON(map[string]any{hostileNames[0]: hostileNames[1], hostileNames[4]: attack, "</script>": "<!--"}),
		"empty.txt":        nil,
		"latin.txt":        []byte("caf\xe9 \xff\xfe\x00\x01"),
		"control.txt":      []byte("a\x1b[2Jb\u202ec\u2066d\x07\x08e\x7f"),
		"huge.txt":         bytes.Repeat([]byte(attack+"\n"), hugeText()/(len(attack)+1)),
		"shell.sh":         []byte("#!/bin/sh\nrm -rf /\n"),
		"pickle.pkl":       []byte("cos\nsystem\n(S'touch /tmp/owned'\ntR."),
		"manifest.webapp":  []byte(`{"start_url":"http://leaves.example/"}`),
		"frames.mhtml":     []byte("MIME-Version: 1.0\nContent-Type: multipart/related\n\n" + attack),
		"redirect.url":     []byte("[InternetShortcut]\nURL=http://leaves.example/\n"),
		"utf7.txt":         []byte("+ADw-script+AD4-alert(1)+ADw-/script+AD4-"),
		"utf16.html":       []byte("\xff\xfe<\x00s\x00c\x00r\x00i\x00p\x00t\x00>\x00a\x00l\x00e\x00r\x00t\x00(\x001\x00)\x00"),
		"sourcemap.js.map": []byte(`{"sourceRoot":"http://leaves.example/"}`),
	} {
		put(t, filepath.Join(source, "files", name), data)
	}
	convert(t, "folder", source, out)
}}

func mustJSON(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}

// hostileLines have hostile keys, names of fields, and nested values.
var hostileLines = &set{make: func(t testing.TB, out string) {
	var b bytes.Buffer
	for i, name := range hostileNames {
		b.Write(mustJSON(map[string]any{"__key__": name + fmt.Sprint(i), name: attack, "nested": map[string]any{name: []any{name, attack, map[string]any{attack: name}}}}))
		b.WriteByte('\n')
	}
	many := map[string]any{"__key__": strings.Repeat("k", 4096)}
	for i := range 300 {
		many[fmt.Sprintf("field <%03d>", i)] = attack
	}
	b.Write(mustJSON(many))
	b.WriteByte('\n')
	put(t, out+"-source/hostile.jsonl", b.Bytes())
	convert(t, "jsonl", out+"-source/hostile.jsonl", out)
}}
