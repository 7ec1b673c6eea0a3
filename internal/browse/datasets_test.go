package browse_test

import (
	"archive/tar"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

// work is where all datasets of the tests are; TestMain removes it.
var work string

// A set is a dataset that is made once, for the first test that wants it. Tests do not change it.
type set struct {
	once sync.Once
	dir  string
	make func(t testing.TB, dir string)
}

// of returns the directory of a dataset.
func (s *set) of(t testing.TB) string {
	t.Helper()
	s.once.Do(func() {
		dir, err := os.MkdirTemp(work, "set-*")
		if err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(dir, "out")
		s.make(t, out)
		s.dir = out
	})
	if s.dir == "" {
		t.Fatal("the test that made the dataset has failed")
	}
	return s.dir
}

// convert runs the program, whose last argument is the output.
func convert(t testing.TB, args ...string) { convertIn(t, "", args...) }

// convertIn is convert in a directory, "" for this one.
func convertIn(t testing.TB, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command(need.Program(t), append(args, "--quiet")...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
}

func put(t testing.TB, name string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// landscapes are pictures of five classes, of which night is rare, and fog is empty.
var landscapes = &set{make: func(t testing.TB, out string) {
	source, n := out+"-source", 0
	classes := []string{"fog"}
	for i, count := range []int{40, 24, 30, 1, 17} {
		s := scenes[i]
		classes = append(classes, s.name)
		for range count {
			data, suffix := encoded(t, s.draw(n, 96+4*(n%5), 72), n)
			put(t, filepath.Join(source, s.name, fmt.Sprintf("%s-%03d%s", s.name, n, suffix)), data)
			n++
		}
	}
	put(t, out+"-classes", []byte(strings.Join(classes, "\n")+"\n"))
	convert(t, "folder", "--shards", "3", "--classes", out+"-classes", source, out)
}}

// A member is one of a tar.
type member struct {
	name string
	data []byte
}

func writeTar(t testing.TB, name string, members []member) {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, m := range members {
		if err := w.WriteHeader(&tar.Header{Name: m.name, Size: int64(len(m.data)), Mode: 0o644, Format: tar.FormatPAX}); err != nil {
			t.Fatal(err)
		}
		w.Write(m.data)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	put(t, name, b.Bytes())
}

// captioned is how many samples captions has: sample i has the key of captionKey(i), class i%4, and, but for each fifth, a caption.
const captioned = 120

func captionKey(i int) string { return fmt.Sprintf("%s/%04d", []string{"train", "val"}[i/90], i) }

// captions are pictures with a text, a class, and JSON, of four tars, in four shards.
var captions = &set{make: func(t testing.TB, out string) {
	for part := range 4 {
		var members []member
		for i := part * captioned / 4; i < (part+1)*captioned/4; i++ {
			members = append(members, captionMembers(t, i, 96, 64)...)
		}
		writeTar(t, fmt.Sprintf("%s-source/part-%d.tar", out, part), members)
	}
	convert(t, "tar", "--decode", "--shards", "4", out+"-source/part-{0..3}.tar", out)
}}

func captionMembers(t testing.TB, i, width, height int) []member {
	s := scenes[i%len(scenes)]
	picture, suffix := encoded(t, s.draw(i, width, height), 8*i)
	info, err := json.Marshal(map[string]any{"id": i, "tags": []string{s.name, "drawn"}, "camera": map[string]any{"lens": "50 mm", "stops": []float64{1.8, 2.8}}, "hdr": i%2 == 0, "note": nil})
	if err != nil {
		t.Fatal(err)
	}
	key := captionKey(i)
	members := []member{{key + suffix, picture}, {key + ".cls", fmt.Append(nil, i%4)}, {key + ".json", info}}
	if i%5 != 4 {
		text := fmt.Sprintf("Picture %d shows the %s.%s", i, s.name, strings.Repeat(" It is calm.", i%7*i))
		members = append(members, member{key + ".txt", []byte(text)})
	}
	return members
}

// changed is captions but for three samples that are gone, two that are new, and one that has another caption.
var changed = &set{make: func(t testing.TB, out string) {
	var members []member
	for i := range captioned + 2 {
		switch i {
		case 3, 50, 51:
		case 7:
			m := captionMembers(t, i, 96, 64)
			members = append(members, append(m[:len(m)-1], member{captionKey(i) + ".txt", []byte("Another caption.")})...)
		case captioned, captioned + 1:
			members = append(members, member{fmt.Sprintf("val/new-%d.txt", i), []byte("new")})
		default:
			members = append(members, captionMembers(t, i, 96, 64)...)
		}
	}
	writeTar(t, out+"-source/all.tar", members)
	convert(t, "tar", "--decode", out+"-source/all.tar", out)
}}

// damagedSample is the number of the sample of damaged that has a flipped byte.
const damagedSample = 42

// damaged is captions with one flipped byte in a record.
var damaged = &set{make: func(t testing.TB, out string) {
	copyTree(t, captions.of(t), out)
	list, err := exec.Command(need.Program(t), "ls", "--format", "json", out).Output()
	if err != nil {
		t.Fatal(err)
	}
	var row struct {
		Shard  string
		Offset int64
		Size   int64
	}
	if err := json.Unmarshal([]byte(strings.Split(string(list), "\n")[damagedSample]), &row); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(out, row.Shard), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := make([]byte, 1)
	at := row.Offset + row.Size/2
	if _, err := f.ReadAt(b, at); err != nil {
		t.Fatal(err)
	}
	b[0] ^= 4
	if _, err := f.WriteAt(b, at); err != nil {
		t.Fatal(err)
	}
}}

func copyTree(t testing.TB, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// foreign are the shards of captions as another program would leave them: no manifest, no index.
var foreign = &set{make: func(t testing.TB, out string) {
	shards, err := filepath.Glob(filepath.Join(captions.of(t), "*.ffr"))
	if err != nil || len(shards) != 4 {
		t.Fatal(shards, err)
	}
	for _, name := range shards {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(out, filepath.Base(name)), data)
	}
}}

// media are samples of one field each: sound, two films, text, JSON, arrays, a document.
var media = &set{make: func(t testing.TB, out string) {
	source := out + "-source"
	for _, name := range []string{"clip.mp4", "clip.webm"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(source, "film-"+strings.TrimPrefix(filepath.Ext(name), ".")+filepath.Ext(name)), data)
	}
	put(t, filepath.Join(source, "tone.wav"), tone())
	put(t, filepath.Join(source, "poem.txt"), []byte("Über allen Gipfeln\nIst Ruh,\nIn allen Wipfeln\nSpürest du\n"))
	put(t, filepath.Join(source, "boxes.json"), []byte(`{"boxes":[[1,2,3,4],[5,6,7,8]],"label":"a \"b\"","deep":{"er":{"est":[true,null,1.5e9]}}}`))
	ints := make([]byte, 0, 6*8*4)
	for i := range 48 {
		ints = binary.LittleEndian.AppendUint32(ints, uint32(i*i-100))
	}
	put(t, filepath.Join(source, "array-ints.npy"), npy("<i4", "(6, 8)", ints))
	floats := make([]byte, 0, 1000*8)
	for i := range 1000 {
		floats = binary.LittleEndian.AppendUint64(floats, math.Float64bits(math.Sqrt(float64(i))))
	}
	put(t, filepath.Join(source, "array-floats.npy"), npy("<f8", "(1000,)", floats))
	put(t, filepath.Join(source, "paper.pdf"), []byte("%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<< >>\nendobj\n"))
	put(t, filepath.Join(source, "blob.bin"), bytes.Repeat([]byte{0, 1, 2, 250, 251, 252}, 400))
	convert(t, "folder", "--flat", source, out)
}}

// tone is a second of 440 Hz, as WAV.
func tone() []byte {
	const rate = 8000
	b := append([]byte("RIFF"), binary.LittleEndian.AppendUint32(nil, 36+rate)...)
	b = append(b, "WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00"...)
	b = binary.LittleEndian.AppendUint32(b, rate)
	b = binary.LittleEndian.AppendUint32(b, rate)
	b = append(b, "\x01\x00\x08\x00data"...)
	b = binary.LittleEndian.AppendUint32(b, rate)
	for i := range rate {
		b = append(b, byte(128+100*math.Sin(2*math.Pi*440*float64(i)/rate)))
	}
	return b
}

// npy is an array as numpy.save writes it.
func npy(kind, shape string, data []byte) []byte {
	head := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", kind, shape)
	head += strings.Repeat(" ", 63-(10+len(head))%64) + "\n"
	b := append([]byte("\x93NUMPY\x01\x00"), byte(len(head)), byte(len(head)>>8))
	return append(append(b, head...), data...)
}

// lines are texts and nested values, as JSON Lines.
var lines = &set{make: func(t testing.TB, out string) {
	var b bytes.Buffer
	for i := range 40 {
		fmt.Fprintf(&b, `{"__key__":"doc-%02d","text":"Document %d. %s","score":%d.25,"meta":{"lang":"de","links":[{"url":"https://example.org/%d"},null,true]}}`+"\n",
			i, i, strings.Repeat("Lorem ipsum dolor sit amet. ", i), i, i)
	}
	put(t, out+"-source/docs.jsonl", b.Bytes())
	convert(t, "jsonl", out+"-source/docs.jsonl", out)
}}

// table are rows of numbers and words.
var table = &set{make: func(t testing.TB, out string) {
	var b bytes.Buffer
	io.WriteString(&b, "x,y,name\n")
	for i := range 60 {
		fmt.Fprintf(&b, "%d,%g,row %d\n", i, float64(i)/8, i)
	}
	put(t, out+"-source/part-0.csv", b.Bytes())
	convert(t, "csv", "--header", out+"-source/part-0.csv", out)
}}

// scrolled is how many samples crowd has.
const scrolled = 10_000

// crowd are very many small pictures.
var crowd = &set{make: func(t testing.TB, out string) {
	var pictures [50][]byte
	for i := range pictures {
		pictures[i], _ = encoded(t, scenes[i%len(scenes)].draw(i, 48, 32), 0)
	}
	var members []member
	for i := range scrolled {
		members = append(members, member{fmt.Sprintf("%05d.jpg", i), pictures[i%len(pictures)]})
	}
	writeTar(t, out+"-source/crowd.tar", members)
	convert(t, "tar", out+"-source/crowd.tar", out)
}}
