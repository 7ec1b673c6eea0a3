package pickle

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
)

const od = "\x8c\x0bcollections\x8c\x0bOrderedDict\x93\x94" // the class, as number 0

// nested is n dicts in each other.
func nested(n int) string {
	return "\x80\x04" + strings.Repeat("}\x8c\x01d", n-1) + "}" + strings.Repeat("s", n-1) + "."
}

func TestDecodeDict(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, pickle, want string }{
		{"empty dict", "\x80\x02}.", "{}"},
		{"empty ordered dict", "\x80\x04" + od + ")R.", "{}"},
		{"protocol 2", "\x80\x02ccollections\nOrderedDict\nq\x00)Rq\x01(X\x01\x00\x00\x00aq\x02K\x00X\x01\x00\x00\x00bq\x03h\x00)Rq\x04u.", "{a:0 b:{}}"},
		{"protocol 4", "\x80\x04\x95\x0d\x00\x00\x00\x00\x00\x00\x00}\x94\x8c\x01a\x94}\x94h\x01K\x07ss.", "{a:{a:7}}"},
		{"long memo", "\x80\x02}r\x00\x00\x00\x00X\x01\x00\x00\x00ar\x01\x00\x00\x00}j\x01\x00\x00\x00K\x01ss.", "{a:{a:1}}"},
		{"numbers", "\x80\x02}(X\x01\x00\x00\x00aM\xff\xffX\x01\x00\x00\x00bJ\xff\xff\xff\xffX\x01\x00\x00\x00c\x8a\x05\x00\x00\x00\x00\x01X\x01\x00\x00\x00d\x8a\x00X\x01\x00\x00\x00e\x8a\x01\xffu.",
			"{a:65535 b:-1 c:4294967296 d:0 e:-1}"},
		{"the last number", "\x80\x02}X\x01\x00\x00\x00a\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7fs.", "{a:9223372036854775807}"},
		{"wide text", "\x80\x04}\x8d\x02\x00\x00\x00\x00\x00\x00\x00\xc3\xa9K\x01s.", "{é:1}"},
		{"two batches", "\x80\x02}(X\x01\x00\x00\x00aK\x00u(X\x01\x00\x00\x00bK\x01u.", "{a:0 b:1}"},
		{"no order", "\x80\x02}(X\x01\x00\x00\x00bK\x00X\x01\x00\x00\x00aK\x01u.", "{b:0 a:1}"},
		{"as deep as allowed", nested(maxDepth), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d, err := DecodeDict(c.pickle)
			if err != nil {
				t.Fatal(err)
			}
			if got := line(d); c.want != "" && got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			again, err := DecodeDict(string(AppendDict(nil, d)))
			if err != nil || line(again) != line(d) {
				t.Errorf("written and read again: %v", err)
			}
			// Cut anywhere it is refused.
			for i := 0; i < len(c.pickle); i += 1 + len(c.pickle)/500 {
				if _, err := DecodeDict(c.pickle[:i]); err == nil {
					t.Errorf("accepted when cut at %d", i)
				}
			}
		})
	}
}

// line is a dict on one line.
func line(d *Dict) string {
	var b strings.Builder
	b.WriteByte('{')
	for i, it := range d.Items {
		if i > 0 {
			b.WriteByte(' ')
		}
		if it.Dict != nil {
			fmt.Fprintf(&b, "%s:%s", it.Key, line(it.Dict))
		} else {
			fmt.Fprintf(&b, "%s:%d", it.Key, it.Int)
		}
	}
	b.WriteByte('}')
	return b.String()
}

// hostile are pickles that must be refused, with a word of the reason.
func hostile() []struct{ name, pickle, why string } {
	return []struct{ name, pickle, why string }{
		{"nothing", "", "wanted"},
		{"no protocol", "}.", "protocol"},
		{"protocol 1", "\x80\x01}.", "protocol"},
		{"protocol 6", "\x80\x06}.", "protocol"},
		{"os.system", "\x80\x02cos\nsystem\nX\x04\x00\x00\x00true\x85R.", `"system" from "os"`},
		{"posix.system, protocol 4", "\x80\x04\x8c\x05posix\x8c\x06system\x93\x8c\x04true\x85R.", `"system" from "posix"`},
		{"builtins.eval", "\x80\x02c__builtin__\neval\n.", `"eval"`},
		{"another class", "\x80\x02ccollections\ndefaultdict\n)R.", "defaultdict"},
		{"name with a dot", "\x80\x04\x8c\x0bcollections\x8c\x0fOrderedDict.pop\x93.", "imports"},
		{"class with arguments", "\x80\x04" + od + "]\x85R.", "opcode"},
		{"class called with a dict", "\x80\x04" + od + "}R.", "no value of its kind"},
		{"class twice", "\x80\x04" + od + "h\x00)R.", "too many"},
		{"class as a value", "\x80\x04}\x8c\x01a" + od + "s.", "neither"},
		{"tuple as a value", "\x80\x04}\x8c\x01a)s.", "neither"},
		{"str as a value", "\x80\x04}\x8c\x01a\x8c\x01bs.", "neither"},
		{"None as a value", "\x80\x04}\x8c\x01aNs.", "opcode"},
		{"True as a value", "\x80\x04}\x8c\x01a\x88s.", "opcode"},
		{"float as a value", "\x80\x04}\x8c\x01aG\x00\x00\x00\x00\x00\x00\x00\x00s.", "opcode"},
		{"bytes as a key", "\x80\x04}C\x01aK\x00s.", "opcode"},
		{"int as a key", "\x80\x04}K\x00K\x00s.", "not a str"},
		{"BUILD", "\x80\x04" + od + ")R}b.", "opcode 0x62"},
		{"NEWOBJ", "\x80\x04" + od + ")\x81.", "opcode 0x81"},
		{"INST", "\x80\x02(icollections\nOrderedDict\n.", "opcode 0x69"},
		{"OBJ", "\x80\x02(" + od + "o.", "opcode 0x6f"},
		{"EXT1", "\x80\x02\x82\x01.", "opcode 0x82"},
		{"PERSID", "\x80\x02Pid\n.", "opcode 0x50"},
		{"BINPERSID", "\x80\x02}Q.", "opcode 0x51"},
		{"NEXT_BUFFER", "\x80\x05\x97.", "opcode 0x97"},
		{"DUP", "\x80\x02}2.", "opcode 0x32"},
		{"POP", "\x80\x02}}0.", "opcode 0x30"},
		{"LIST", "\x80\x02].", "opcode 0x5d"},
		{"dict in itself", "\x80\x04}\x94\x8c\x01ah\x00s.", "two places"},
		{"dict in two places", "\x80\x04}\x8c\x01a}\x94s\x8c\x01bh\x00s.", "two places"},
		{"memo before it is made", "\x80\x04h\x00.", "remembered"},
		{"memo out of order", "\x80\x02}q\x01.", "next"},
		{"huge memo number", "\x80\x02}r\xff\xff\xff\xff.", "next"},
		{"memo of nothing", "\x80\x04\x94}.", "remember"},
		{"memo of a mark", "\x80\x04(\x94}.", "too many"},
		{"mark from the memo", "\x80\x04(\x94h\x00.", "two places"},
		{"str of 4 GiB", "\x80\x02}X\xff\xff\xff\xffa", "names have at most"},
		{"str of 8 EiB", "\x80\x04}\x8d\xff\xff\xff\xff\xff\xff\xff\x7fa", "names have at most"},
		{"str of 16 EiB", "\x80\x04}\x8d\xff\xff\xff\xff\xff\xff\xff\xffa", "names have at most"},
		{"str longer than a name", "\x80\x02}X\x01\x04\x00\x00" + strings.Repeat("a", 1025) + "K\x00s.", "names have at most"},
		{"str past the end", "\x80\x02}X\x00\x04\x00\x00a", "are left"},
		{"frame past the end", "\x80\x04\x95\x03\x00\x00\x00\x00\x00\x00\x00}.", "frame"},
		{"huge frame", "\x80\x04\x95\xff\xff\xff\xff\xff\xff\xff\xff}.", "frame"},
		{"int of 9 bytes", "\x80\x02}X\x01\x00\x00\x00a\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\x00s.", "9 bytes"},
		{"int of 4 GiB", "\x80\x02}X\x01\x00\x00\x00a\x8b\xff\xff\xff\xffs.", "opcode 0x8b"},
		{"key without a value", "\x80\x02}(X\x01\x00\x00\x00au.", "without a value"},
		{"items without a dict", "\x80\x02(X\x01\x00\x00\x00aK\x00u.", "without a dict"},
		{"items in an int", "\x80\x02K\x00(X\x01\x00\x00\x00aK\x00u.", "without a dict"},
		{"items without a mark", "\x80\x02}X\x01\x00\x00\x00aK\x00u.", "without a mark"},
		{"item on an empty stack", "\x80\x02s.", "without a dict"},
		{"item of a mark", "\x80\x02}(K\x00s.", "not a str"},
		{"key twice", "\x80\x02}(X\x01\x00\x00\x00aK\x00X\x01\x00\x00\x00aK\x01u.", `"a" twice`},
		{"key twice, apart", "\x80\x02}(X\x01\x00\x00\x00aK\x00X\x01\x00\x00\x00bK\x00X\x01\x00\x00\x00aK\x01u.", `"a" twice`},
		{"key twice, further down", "\x80\x02}X\x01\x00\x00\x00d}(X\x01\x00\x00\x00aK\x00X\x01\x00\x00\x00aK\x01us.", `"a" twice`},
		{"not UTF-8", "\x80\x02}X\x01\x00\x00\x00\xffK\x00s.", "UTF-8"},
		{"surrogate", "\x80\x02}X\x03\x00\x00\x00\xed\xa0\x80K\x00s.", "UTF-8"},
		{"one level too deep", nested(maxDepth + 1), "in each other"},
		{"a million levels", nested(1e6), "in each other"},
		{"a million marks", "\x80\x02}" + strings.Repeat("(", 1e6) + ".", "under way"},
		{"a million texts", "\x80\x04}" + strings.Repeat("\x8c\x00", 1e6) + ".", "under way"},
		{"no end", "\x80\x02}", "left"},
		{"an int", "\x80\x02K\x01.", "no value of its kind"},
		{"nothing at the end", "\x80\x02.", "no value of its kind"},
		{"two values", "\x80\x02}}.", "too many"},
		{"a byte after the end", "\x80\x02}.\x00", "follow"},
		{"a second pickle", "\x80\x02}.\x80\x02}.", "follow"},
		{"import without an end", "\x80\x02ccollections\nOrderedDict", "does not end"},
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range hostile() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d, err := DecodeDict(c.pickle)
			if err == nil {
				t.Fatalf("accepted: %d items", len(d.Items))
			}
			if !strings.Contains(err.Error(), c.why) {
				t.Errorf("%v: want a word of %q", err, c.why)
			}
			if len(err.Error()) > 300 || strings.ContainsAny(err.Error(), "\n\x00") {
				t.Errorf("not one line: %q", err)
			}
		})
	}
}

// What is allocated is bounded by what is read. Not parallel: it counts all allocations.
func TestDecodeMemory(t *testing.T) {
	greedy := "\x80\x04}\x8c\x00\x94" + strings.Repeat("h\x00}s", 1<<18) + "."     // 1 MiB of empty dicts
	memo := "\x80\x04}" + strings.Repeat("\x94", 1<<20) + "\x8c\x01aK\x00s."       // 1 MiB of memo
	ints := "\x80\x04}\x8c\x00\x94" + strings.Repeat("h\x00K\x00s", 1<<18) + "..." // 1.25 MiB of items
	for _, c := range append(hostile(),
		struct{ name, pickle, why string }{"empty dicts", greedy, ""},
		struct{ name, pickle, why string }{"memo", memo, ""},
		struct{ name, pickle, why string }{"items", ints, ""},
	) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		DecodeDict(c.pickle)
		runtime.ReadMemStats(&after)
		// Growing a slice allocates its length five times over; the stack has 12 MiB.
		if got, most := after.TotalAlloc-before.TotalAlloc, uint64(len(c.pickle)*80+5*maxStack*48); got > most || len(c.pickle) < 4096 && got > 64<<10 {
			t.Errorf("%s: %d bytes allocated for %d", c.name, got, len(c.pickle))
		}
	}
}

func TestDictGet(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for _, shuffled := range []bool{false, true} {
		d := &Dict{}
		for i := range 1000 {
			d.Items = append(d.Items, Item{Key: fmt.Sprintf("%04d", 2*i), Int: int64(i)})
		}
		if shuffled {
			r.Shuffle(len(d.Items), func(i, j int) { d.Items[i], d.Items[j] = d.Items[j], d.Items[i] })
		}
		d, err := DecodeDict(string(AppendDict(nil, d)))
		if err != nil {
			t.Fatal(err)
		}
		for i := range 2000 {
			it, ok := d.Get(fmt.Sprintf("%04d", i))
			if ok != (i%2 == 0) || ok && it.Int != int64(i/2) {
				t.Errorf("shuffled %t: %d: %v %t", shuffled, i, it, ok)
			}
		}
	}
}

// Names of a hundred thousand files cost an allocation each time a slice grows, no more.
func TestDecodeAllocs(t *testing.T) {
	d := &Dict{}
	for i := range 100_000 {
		d.Items = append(d.Items, Item{Key: fmt.Sprintf("%08d.jpg", i), Int: int64(i)})
	}
	s := string(AppendDict(nil, d))
	if n := testing.AllocsPerRun(3, func() {
		if _, err := DecodeDict(s); err != nil {
			t.Fatal(err)
		}
	}); n > 50 {
		t.Errorf("%.0f allocations", n)
	}
}
