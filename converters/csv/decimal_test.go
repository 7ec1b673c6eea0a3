package csv

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

// heavy reports whether the rows of the fault table run at their full size.
func heavy() bool { return os.Getenv("FFCONVERT_FAULTS") != "" }

// parsed is what the fast path makes of a number, or the slow one where it does not take it.
func parsed(t testing.TB, s string, k kind) (bits uint64, fast, ok bool) {
	t.Helper()
	b := append([]byte(s), make([]byte, pad)...)
	p := allPowers()
	end := 0
	switch k {
	case int64s:
		bits, end = whole(b, 0)
	case float64s:
		bits, end = p.decimal(b, 0)
		sameShape(t, p, b)
	default:
		var short uint32
		if bits, end = p.decimal(b, 0); end == len(s) {
			if short, ok = narrow(bits); !ok {
				end = 0
			}
			bits = uint64(short)
		}
	}
	slow, ok := p.number(b[:len(s)], k)
	fast = end > 0 && end == len(s)
	if fast && (!ok || slow != bits) {
		t.Errorf("%q as %v: %x on the fast path, %x, %t on the slow one", s, k, bits, slow, ok)
	}
	if k == int64s {
		return slow, fast, ok
	}
	switch _, isFloat32 := p.number(b[:len(s)], float32s); {
	case skipDecimal(b, 0) == len(s) && len(s) > 0:
		if !isFloat32 {
			t.Errorf("%q is taken by the check, and is no float32", s)
		}
	case isFloat32 && len(s) <= 38 && plainDecimal.MatchString(s) && !strings.ContainsAny(s, "eE"):
		t.Errorf("%q is a number that the check does not take", s)
	}
	return slow, fast, ok
}

// Numbers that strtod and strconv accept alike.
var (
	plainDecimal = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`)
	goHex        = regexp.MustCompile(`^[+-]?0[xX]([0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+$`)
)

// sameShape wants that what is done for the usual shape of a number at b[0], and at what
// follows it, is what is done for any.
func sameShape(t testing.TB, p *powers, b []byte) {
	t.Helper()
	bits, end := p.decimal(b, 0)
	if wantBits, want := p.decimalAny(b, 0); end != want || end > 0 && bits != wantBits {
		t.Errorf("%q is %x and ends at %d; as a number of any shape it is %x and ends at %d", b, bits, end, wantBits, want)
	}
	if end, want := skipDecimal(b, 0), skipAny(b, 0); end != want {
		t.Errorf("%q ends at %d, as a number of any shape at %d", b, end, want)
	}
}

// sameAsStrconv wants that a plain decimal becomes the floats that strconv makes of it.
func sameAsStrconv(t testing.TB, s string) (fast bool) {
	t.Helper()
	want, _ := strconv.ParseFloat(s, 64)
	got, fast, ok := parsed(t, s, float64s)
	if ok == math.IsInf(want, 0) || ok && got != math.Float64bits(want) {
		t.Errorf("%q is %x, %t; want %x", s, got, ok, math.Float64bits(want))
	}
	want, _ = strconv.ParseFloat(s, 32)
	if got, _, ok := parsed(t, s, float32s); ok == math.IsInf(want, 0) || ok && uint32(got) != math.Float32bits(float32(want)) {
		t.Errorf("%q as float32 is %x, %t; want %x", s, got, ok, math.Float32bits(float32(want)))
	}
	return fast
}

// randomDecimals yields decimals of all kinds: those that floats are printed as, digits
// at random, and those close to halfway between two floats.
func randomDecimals(rnd *rand.Rand, yield func(string) bool) {
	for {
		bits := rnd.Uint64()
		f := math.Float64frombits(bits)
		if math.IsNaN(f) || math.IsInf(f, 0) {
			continue
		}
		g := math.Float32frombits(uint32(bits) &^ (1 << 29)) // neither NaN nor infinite
		for _, s := range []string{
			strconv.FormatFloat(f, 'g', -1, 64),
			strconv.FormatFloat(f, 'e', rnd.IntN(25), 64),
			strconv.FormatFloat(rnd.Float64(), 'g', -1, 64),
			strconv.FormatFloat(rnd.NormFloat64()*100, 'f', rnd.IntN(20), 64),
			strconv.FormatFloat(float64(g), 'g', 17, 64),
			strconv.FormatInt(int64(bits), 10),
			strconv.FormatUint(bits, 10) + "e" + strconv.Itoa(rnd.IntN(700)-350),
			fmt.Sprintf("%d.%0*d", rnd.Uint32(), rnd.IntN(22), rnd.Uint64()>>rnd.IntN(64)),
			fmt.Sprintf("%de%d", uint64(1)<<53+rnd.Uint64N(1<<12), rnd.IntN(45)-22),
			fmt.Sprintf("%d.%0*d", rnd.IntN(10), 8+rnd.IntN(13), rnd.Uint64()>>rnd.IntN(64)),
			strconv.FormatFloat(-10*rnd.Float64(), 'f', 8+rnd.IntN(13), 64),
			closeToHalf(rnd, 18),
			midpoint(f, 15+rnd.IntN(8)),
			midpoint(float64(g), 60),
		} {
			if !yield(s) {
				return
			}
		}
	}
}

// midpoint returns what is halfway between a float and the next, to so many digits.
func midpoint(f float64, digits int) string {
	half := new(big.Float).SetPrec(128).SetFloat64(math.Nextafter(f, math.Inf(1)))
	half.Add(half, big.NewFloat(f))
	return half.Quo(half, big.NewFloat(2)).Text('e', digits)
}

// closeToHalf returns what is next to halfway between two floats under ten, to so many
// places behind the point.
func closeToHalf(rnd *rand.Rand, places int) string {
	f := 10 * rnd.Float64()
	half := new(big.Float).SetPrec(128).SetFloat64(math.Nextafter(f, math.Inf(1)))
	half.Add(half, big.NewFloat(f))
	return half.Quo(half, big.NewFloat(2)).Text('f', places)
}

// Every decimal becomes the nearest float, as strconv has it, bit for bit.
func TestDecimalAgainstStrconv(t *testing.T) {
	t.Parallel()
	need.Time(t, "millions of numbers")
	n := 50_000
	if heavy() {
		n = 5_000_000
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	fast, all := 0, 0
	randomDecimals(rnd, func(s string) bool {
		if sameAsStrconv(t, s) {
			fast++
		}
		all++
		return all < n && !t.Failed()
	})
	t.Logf("%d decimals, %d on the fast path", all, fast)
	if fast < all/2 {
		t.Error("the fast path takes less than half of them")
	}
}

// The usual shape of a number is told from all others, whatever stands where.
func TestDecimalShapes(t *testing.T) {
	t.Parallel()
	p := allPowers()
	rnd := rand.New(rand.NewPCG(3, 4))
	n := 100_000
	if heavy() {
		n = 20_000_000
	}
	const odd = "0123456789.-+eE,\n\r \"\x00\xff:/"
	for range n {
		b := fmt.Appendf(nil, "%d.%0*d,", rnd.IntN(10), 1+rnd.IntN(25), rnd.Uint64()>>rnd.IntN(64))
		for range rnd.IntN(3) {
			b[rnd.IntN(len(b))] = odd[rnd.IntN(len(odd))]
		}
		if rnd.IntN(4) == 0 {
			b = append([]byte{odd[rnd.IntN(len(odd))]}, b...)
		}
		if sameShape(t, p, append(b, make([]byte, pad)...)); t.Failed() {
			return
		}
	}
}

func TestDecimalEdges(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"0", "-0", "+0", "0.0", "-0e5", "0e99999", "0.000000000000000000000000", "00", "007", "1.", ".5", "-.5e1", "1e+2", "1E-2",
		"9007199254740991", "9007199254740992", "9007199254740993", "9007199254740994", "9007199254740995", "-9007199254740993",
		"9007199254740993e0", "9007199254740992.5", "9007199254740993.00000000000000000000000001", "4503599627370497.5", "4503599627370498.5",
		"1e22", "1e23", "8.5e22", "123456789e22", "1e-22", "1e-23", "5e-324", "2.5e-324", "2.4703282292062327e-324", "2.4703282292062328e-324",
		"2.2250738585072011e-308", "2.2250738585072014e-308", "1.7976931348623157e308", "1.7976931348623158e308", "1.7976931348623159e308",
		"1e308", "1e309", "-1e309", "1e400", "1e-400", "1e9999", "1e10000", "1e-10000", "1e99999999999999999999", "1e-99999999999999999999",
		"9999999999999999999", "18446744073709551615", "18446744073709551616", "99999999999999999999", "0.99999999999999999999",
		"18446744073709551616.0", "184467440737095516160", "10000000000000000000000000000000000000000000", "0000000000000000000000000001",
		"0.00000000000000000001", "0.0000000000000000000000000000000001234", "1.00000005960464477539062500", "1.000000059604644775390625000001",
		"1.000000059604644775390624", "1.00000017881393432617187500", "3.4028234663852886e38", "3.4028235677973366e38", "3.4028235677973367e38",
		"1.1754943508222875e-38", "1.1754942807573643e-38", "1.401298464324817e-45", "7.006492321624085e-46", "7.006492321624086e-46",
		"0.5", "0.25", "12.5", "-2.5e-1", "1" + strings.Repeat("0", 400), "0." + strings.Repeat("0", 400) + "1", strings.Repeat("9", 800),
	} {
		sameAsStrconv(t, s)
	}
}

// What strtod takes beside decimals, and what it does not.
func TestNumberForms(t *testing.T) {
	t.Parallel()
	const nan, minusNaN = 0x7FF8 << 48, 0xFFF8 << 48
	inf, minusInf := math.Float64bits(math.Inf(1)), math.Float64bits(math.Inf(-1))
	for s, want := range map[string]uint64{
		"inf": inf, "+INF": inf, "-Inf": minusInf, "infinity": inf, "-iNFINITY": minusInf,
		"nan": nan, "NaN": nan, "+nan": nan, "-nan": minusNaN, "nan()": nan, "-NAN(x_1)": minusNaN,
		"0x1p0": math.Float64bits(1), "0x1.8": math.Float64bits(1.5), "-0X.8P+1": math.Float64bits(-1), "0x10": math.Float64bits(16), "0x1.": math.Float64bits(1),
		"0x1p-1074": 1, "0x1p-1075": 0, "0x1.00000000000008p0": math.Float64bits(1),
		" 1.5": math.Float64bits(1.5), "\t\v\f\r\n1.5 ": math.Float64bits(1.5), " \x0b-inf\t": minusInf,
	} {
		if got, _, ok := parsed(t, s, float64s); !ok || got != want {
			t.Errorf("%q is %x, %t; want %x", s, got, ok, want)
		}
		if _, ok := allPowers().number([]byte(s), float32s); !ok {
			t.Errorf("%q is no float32", s)
		}
	}
	for _, s := range []string{
		"1e999", "-1e999", "1e309", "0x1p99999", "1e99999999999999999999", // strtod has ERANGE
		"", " ", "+", "-", ".", "e5", ".e5", "1e", "1e+", "1e1.5", "--1", "+-1", "1.2.3", "1,5", "1_000", "0x", "0x.", "0x1p", "0xg", "0x1p1.5", "0x_1p1",
		"in", "infi", "infinit", "infinity1", "nano", "nan(", "nan(-)", "nan)", "n", "i", "1 2", "1\x00", "١", "1f", "1.5d", "0b1", "true", "1e5 x", "- 1", "\xa01", "½",
	} {
		if got, _, ok := parsed(t, s, float64s); ok {
			t.Errorf("%q is %x", s, got)
		}
		if end := skipDecimal(append([]byte(s), make([]byte, pad)...), 0); end == len(s) && s != "" {
			t.Errorf("the check takes %q", s)
		}
	}
	if got, _ := allPowers().number([]byte("-nan"), float32s); got != 0xFFC00000 {
		t.Errorf("-nan as float32 is %x", got)
	}
}

func TestIntegers(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(5, 6))
	for range 20_000 {
		n := int64(rnd.Uint64()) >> rnd.IntN(64)
		if got, _, ok := parsed(t, strconv.FormatInt(n, 10), int64s); !ok || int64(got) != n {
			t.Fatalf("%d is %d, %t", n, int64(got), ok)
		}
	}
	for s, want := range map[string]int64{
		"+5": 5, "-0": 0, "007": 7, " 12 ": 12, "9223372036854775807": math.MaxInt64, "-9223372036854775808": math.MinInt64, "0000000000000000000000000000042": 42,
	} {
		if got, _, ok := parsed(t, s, int64s); !ok || int64(got) != want {
			t.Errorf("%q is %d, %t", s, int64(got), ok)
		}
	}
	for _, s := range []string{"", "+", "1.0", "1e3", "0x10", "9223372036854775808", "-9223372036854775809", "99999999999999999999", "1_0", "inf", "- 1", "1 1"} {
		if got, _, ok := parsed(t, s, int64s); ok {
			t.Errorf("%q is %d", s, int64(got))
		}
	}
}

// The words that hold digits are told from those that do not, whatever stands behind.
func TestNotDigits(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(8, 9))
	for c := range 256 {
		for at := range 8 {
			for range 20 {
				var b [8]byte
				binary.LittleEndian.PutUint64(b[:], rnd.Uint64())
				for i := range at {
					b[i] = '0' + byte(rnd.IntN(10))
				}
				b[at] = byte(c)
				first := 0
				for first < 8 && b[first]-'0' <= 9 {
					first++
				}
				if got := skipDigits(append(b[:], make([]byte, pad)...), 0); got != first {
					t.Fatalf("%q: digits end at %d, want %d", b, got, first)
				}
			}
		}
	}
}

// FuzzNumber: the fast path, the slow one and strconv agree on every text.
func FuzzNumber(f *testing.F) {
	for _, s := range []string{"0.8444218515250481", "-12.5e-3", "0x1.8p3", "nan(1)", "Infinity", "9007199254740993", "1e400", " 7 ", "1_0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, _, ok := parsed(t, s, float64s)
		parsed(t, s, float32s)
		parsed(t, s, int64s)
		trimmed := string(trim([]byte(s)))
		want, err := strconv.ParseFloat(trimmed, 64)
		if plainDecimal.MatchString(trimmed) || goHex.MatchString(trimmed) {
			if ok == math.IsInf(want, 0) || ok && got != math.Float64bits(want) {
				t.Errorf("%q is %x, %t; strconv has %x", s, got, ok, math.Float64bits(want))
			}
		} else if err == nil && !ok && !strings.Contains(trimmed, "_") {
			t.Errorf("%q is refused; strconv has %v", s, want)
		}
	})
}
