package pickle

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/python"
)

// one is the pickle of what b pushes.
func one(b []byte) []byte { return append(append(Begin(nil), b...), Stop) }

// Python loads what was written, and nothing is left over.
func TestLoads(t *testing.T) {
	t.Parallel()
	var records [][]byte
	var want []string
	add := func(b []byte, repr string) {
		records, want = append(records, one(b)), append(want, repr)
	}
	for shift := range 64 {
		p := int64(1) << shift
		for _, n := range []int64{p - 1, p, p + 1, -p, -p - 1, -p + 1} {
			add(AppendInt(nil, n), fmt.Sprint(n))
			add(AppendUint(nil, uint64(n)), fmt.Sprint(uint64(n)))
		}
	}
	for x, repr := range map[float64]string{
		0: "0.0", math.Copysign(0, -1): "-0.0", 1.5: "1.5", math.MaxFloat64: "1.7976931348623157e+308",
		math.SmallestNonzeroFloat64: "5e-324", math.Inf(1): "inf", math.Inf(-1): "-inf", math.NaN(): "nan",
	} {
		add(AppendFloat(nil, x), repr)
	}
	for _, n := range []int{0, 1, 255, 256, 65_536} {
		text, data := strings.Repeat("ä", n/2)+strings.Repeat("x", n%2), strings.Repeat("y", n)
		add(appendText(nil, text), "'"+text+"'")
		add(append(AppendTextHead(nil, int64(len(text))), text...), "'"+text+"'")
		add(append(AppendBytesHead(nil, int64(n)), data...), "b'"+data+"'")
	}
	add([]byte{None}, "None")
	add(AppendBool(nil, true), "True")
	add(AppendBool(nil, false), "False")
	add([]byte{EmptyList}, "[]")
	add([]byte{EmptyList, Mark, Appends}, "[]")
	add([]byte{EmptyList, Mark, None, opTrue, Appends}, "[None, True]")
	add([]byte{EmptyList, None, opAppend}, "[None]")
	add([]byte{EmptyDict}, "{}")
	add([]byte{EmptyDict, Mark, SetItems}, "{}")
	add([]byte{EmptyDict, Mark, None, opTrue, opTrue, emptyTuple, SetItems}, "{None: True, True: ()}")
	add([]byte{EmptyDict, None, opTrue, setItem}, "{None: True}")
	add([]byte{emptyTuple, binPut, 3, EmptyList, Mark, binGet, 3, longBinPut, 4, 1, 0, 0, longBinGet, 4, 1, 0, 0, Appends}, "[(), ()]")
	add(append([]byte{global}, "collections\nOrderedDict\n)R"...), "OrderedDict()")
	add(append(appendText(appendText(nil, "collections"), "OrderedDict"), stackGlobal, emptyTuple, reduce, memoize), "OrderedDict()")
	add(append([]byte{frame, 1, 0, 0, 0, 0, 0, 0, 0}, None), "None")

	py := python.Start(t, `
import io, pickle
def reply(request):
    f = io.BytesIO(request)
    text = repr(pickle.load(f))
    assert not f.read()
    return text`)
	for i := range want {
		var got string
		if py.Ask(records[i], &got); got != want[i] {
			t.Errorf("%.100x: loaded as %.100s, want %.100s", records[i], got, want[i])
		}
	}
}

// The opcodes have the names and the arguments that pickletools gives them.
func TestOpcodes(t *testing.T) {
	t.Parallel()
	ops := map[string]byte{
		"PROTO": proto, "FRAME": frame, "STOP": Stop, "MARK": Mark, "NONE": None, "NEWTRUE": opTrue, "NEWFALSE": opFalse,
		"BININT": binInt, "BININT1": binInt1, "BININT2": binInt2, "LONG1": long1, "BINFLOAT": binFloat,
		"SHORT_BINUNICODE": shortBinUnicode, "BINUNICODE": binUnicode, "BINUNICODE8": binUnicode8,
		"SHORT_BINBYTES": shortBinBytes, "BINBYTES": binBytes, "BINBYTES8": binBytes8,
		"EMPTY_LIST": EmptyList, "APPEND": opAppend, "APPENDS": Appends, "EMPTY_DICT": EmptyDict, "SETITEM": setItem,
		"SETITEMS": SetItems, "EMPTY_TUPLE": emptyTuple, "GLOBAL": global, "STACK_GLOBAL": stackGlobal, "REDUCE": reduce,
		"MEMOIZE": memoize, "BINPUT": binPut, "LONG_BINPUT": longBinPut, "BINGET": binGet, "LONG_BINGET": longBinGet,
	}
	var all []struct {
		Name  string
		Code  byte
		Proto int
	}
	python.Start(t, `
import pickletools
def reply(_):
    return [{"Name": op.name, "Code": ord(op.code), "Proto": op.proto} for op in pickletools.opcodes]`).Ask(nil, &all)
	got := map[string]bool{}
	for _, op := range all {
		want, ok := ops[op.Name]
		got[op.Name] = true
		if ok && (op.Code != want || op.Proto > 4) {
			t.Errorf("%s is 0x%02x, protocol %d; here it is 0x%02x", op.Name, op.Code, op.Proto, want)
		}
	}
	for name := range ops {
		if !got[name] {
			t.Errorf("Python has no opcode %s", name)
		}
	}
}

// Heads grow where their argument does.
func TestHeads(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		got  []byte
		want string
	}{
		{"text 255", AppendTextHead(nil, 255), "\x8c\xff"},
		{"text 256", AppendTextHead(nil, 256), "X\x00\x01\x00\x00"},
		{"text 4 GiB - 1", AppendTextHead(nil, 1<<32-1), "X\xff\xff\xff\xff"},
		{"text 4 GiB", AppendTextHead(nil, 1<<32), "\x8d\x00\x00\x00\x00\x01\x00\x00\x00"},
		{"bytes 255", AppendBytesHead(nil, 255), "C\xff"},
		{"bytes 256", AppendBytesHead(nil, 256), "B\x00\x01\x00\x00"},
		{"bytes 4 GiB", AppendBytesHead(nil, 1<<32), "\x8e\x00\x00\x00\x00\x01\x00\x00\x00"},
		{"uint", AppendUint(nil, math.MaxUint64), "\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\x00"},
	} {
		if string(row.got) != row.want {
			t.Errorf("%s: %q, want %q", row.name, row.got, row.want)
		}
	}
}

// It is not parallel: allocations are counted.
func TestWriteAllocs(t *testing.T) {
	b := make([]byte, 0, 100)
	if n := testing.AllocsPerRun(100, func() { AppendFloat(AppendInt(appendText(Begin(b), "cls"), -7), 0.5) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func Example() {
	b := Begin(nil)
	b = append(b, EmptyDict, Mark)
	b = appendText(b, "cls")
	b = AppendInt(b, 7)
	b = append(b, SetItems, Stop)
	fmt.Printf("%q\n", b)
	// Output: "\x80\x04}(\x8c\x03clsK\au."
}
