package check

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/csv"
	"github.com/ffconvert/ffconvert/converters/tar"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/findings"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A check finds an error exactly where a conversion is refused.
func TestAsConversions(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		make func(rng *rand.Rand, i int) file
		open func(parts []converters.Part, all bool) (converters.Source, error)
	}{
		{"tar", randomTar, func(parts []converters.Part, all bool) (converters.Source, error) {
			if all {
				return tar.Open(parts, waived), nil
			}
			return tar.Open(parts, tar.Options{}), nil
		}},
		{"csv", randomCSV, func(parts []converters.Part, _ bool) (converters.Source, error) {
			return csv.Open(parts, csv.Options{DType: "float64"})
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			cases := 150
			if os.Getenv("FFCONVERT_FAULTS") != "" {
				cases = 5000
			}
			rng := rand.New(rand.NewPCG(3, 4))
			refused := 0
			for range cases {
				var files []file
				for i := range 1 + rng.IntN(3) {
					files = append(files, row.make(rng, i))
				}
				rec := encode.Options{}
				if rng.IntN(4) == 0 {
					rec.Fields, rec.Missing = "x", []string{encode.MissingError, encode.MissingSkip}[rng.IntN(2)]
				}
				parts := partsOf(t, files...)
				want := converts(t, parts, rec, row.open)
				var got error
				if src, err := row.open(parts, true); err != nil {
					got = err
				} else {
					report, err := Source(t.Context(), src, Options{Encode: rec})
					if err != nil {
						t.Fatal(err)
					}
					if report.Count(findings.Error) > 0 {
						got = fmt.Errorf("%v", lines(t, report))
					}
				}
				if (want == nil) != (got == nil) {
					t.Fatalf("a conversion: %v\na check: %v\nof %q", want, got, files)
				}
				if want != nil {
					refused++
				}
				for _, p := range parts {
					must(os.Remove(p.Path))
				}
			}
			t.Logf("check %s cases=%d refused=%d undetected=0", row.name, cases, refused)
			if refused == 0 || refused == cases {
				t.Error("there is nothing to tell apart")
			}
		})
	}
}

// converts returns what a conversion is refused with before it writes.
func converts(t *testing.T, parts []converters.Part, rec encode.Options, open func([]converters.Part, bool) (converters.Source, error)) error {
	src, err := open(parts, false)
	if err != nil {
		return err
	}
	if d, ok := src.(converters.Describer); ok {
		rec.Encoding = d.Describe().Encoding
	}
	spec, err := encode.Parse(rec)
	if err != nil {
		t.Fatal(err)
	}
	index, err := plan.Index(t.Context(), src, plan.IndexOptions{Encodings: plan.OneEncoding(spec), Workers: 2})
	if err != nil {
		return err
	}
	_, err = plan.New(index, plan.Options{Recipe: plan.Recipe{Encode: spec.Options()}})
	return err
}

// randomTar is a small tar, sound more often than not.
func randomTar(rng *rand.Rand, i int) file {
	var members []string
	for k := range rng.IntN(4) {
		key := fmt.Sprint(i, "/", k)
		if rng.IntN(12) == 0 {
			key = fmt.Sprint(i, "/0")
		}
		for _, suffix := range []string{"x", "y"} {
			if rng.IntN(8) > 0 {
				members = append(members, key+"."+suffix+"="+key)
			}
		}
		if rng.IntN(8) == 0 {
			members = append(members, []string{"README=r", "d/", "l.x->k", "k.x="}[rng.IntN(4)])
		}
	}
	f := tarOf(fmt.Sprintf("%d.tar", i), members...)
	switch rng.IntN(10) {
	case 0:
		f = f.cut(rng.IntN(len(f.data)))
	case 1:
		f = f.cut(-512 * rng.IntN(3))
	case 2:
		f = file{f.name, slices.Clone(f.data)}
		f.data[rng.IntN(len(f.data))] ^= 1 << rng.IntN(8)
	case 3:
		f = f.and(tarOf("", "z.x=1", "z.y=2"))
	}
	return f
}

func randomCSV(rng *rand.Rand, i int) file {
	var data []byte
	for range rng.IntN(5) {
		data = append(data, []string{"1,2\n", "3,4\r\n", "\n", "5,nan\n", "\"6\",7\n"}[rng.IntN(5)]...)
	}
	if len(data) > 0 && rng.IntN(3) == 0 {
		data[rng.IntN(len(data))] = "x,\n\"1\x00"[rng.IntN(6)]
	}
	return file{fmt.Sprintf("part-%d", i), data}
}
