//go:build bench && linux

package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	arrowcsv "github.com/apache/arrow/go/v15/arrow/csv"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/csv"
)

// TestS5 converts CSV of two floats a row, and sets reading it beside Arrow's reader.
func TestS5(t *testing.T) {
	measure(t, "S5", func(record func(figure)) {
		set := setOf(t, pairs)
		bytes := sizeOf(t, filesUnder(t, set))
		kept := filepath.Join(work, "pairs-out")
		convert("csv", "--no-verify")(t, set, kept)
		outBytes := sizeOf(t, filesUnder(t, kept))
		// The least that a conversion can be: look at every line, write what comes of it.
		countAndCopy := func(t *testing.T, set, out string) process {
			return execute(t, "sh", "-c", `wc -l "$1"/* > "$3.lines" && cp -r --reflink=never "$3" "$2" && find "$2" -exec sync {} +`, "sh", set, out, kept)
		}
		warmed := func(t *testing.T, set, out string) process {
			warm(t, filesUnder(t, kept))
			return countAndCopy(t, set, out)
		}
		all := compete(t, warm, set, rounds, onTwoCores("csv", "--no-verify"), onTwoCores("csv"), warmed, reads(oursReads), reads(arrowReads), touches, sums)
		settle(t, kept)
		whole, verified, copying, ours, arrows := all[0].seconds(), all[1].seconds(), all[2].seconds(), all[3].seconds(), all[4].seconds()
		what := fmt.Sprintf("CSV of %d rows of two floats, two cores", pairRows())
		record(figure{work: what + ", `--no-verify`", value: whole.under(float64(bytes)), unit: rate, target: atLeast(350e6), ours: seconds.all(whole)})
		record(figure{work: "its reader on one core", against: "Arrow's CSV reader, times as long", value: arrows.over(ours), unit: ratio, target: atLeast(5),
			ours: pace(bytes, ours), theirs: pace(bytes, arrows)})
		record(figure{work: what + ", `--no-verify`", against: "`wc -l`, then `cp -r` and `sync` of the output, " + size(outBytes), value: whole.over(copying), unit: ratio,
			ours: seconds.all(whole), theirs: seconds.all(copying)})
		record(figure{work: what + ", with verification", value: verified.under(float64(bytes)), unit: rate, ours: seconds.all(verified)})
		meanwhile(record, all[5], all[6])

		set = setOf(t, shortPairs)
		bytes = sizeOf(t, filesUnder(t, set))
		short := compete(t, warm, set, rounds, onTwoCores("csv", "--no-verify"))[0].seconds()
		record(figure{work: fmt.Sprintf("CSV of %d rows of two short floats, %d bytes a row, two cores, `--no-verify`", pairRows(), bytes/pairRows()),
			value: short.under(float64(pairRows())), unit: millions("rows"), target: atLeast(25e6), ours: pace(bytes, short)})
	})
}

// reads is a contender that reads all parts of a set, one after another, in this process.
func reads(read func(path string) error) contender {
	return func(t *testing.T, set, _ string) process {
		paths := filesUnder(t, set)
		return timed(func() {
			for _, path := range paths {
				if err := read(path); err != nil {
					t.Fatalf("%s: %v", path, err)
				}
			}
		})
	}
}

// arrowReads reads rows of two floats with Arrow's CSV reader, and keeps nothing.
func arrowReads(path string) error {
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Float64}, {Name: "y", Type: arrow.PrimitiveTypes.Float64}}, nil)
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	r := arrowcsv.NewReader(f, schema, arrowcsv.WithChunk(8192))
	defer r.Release()
	for r.Next() {
	}
	if err := r.Err(); !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// oursReads reads the same with ours.
func oursReads(path string) error {
	st, err := os.Stat(path)
	if err != nil {
		return err
	}
	src, err := csv.Open([]converters.Part{{Name: path, Path: path, Size: st.Size()}}, csv.Options{})
	if err != nil {
		return err
	}
	for _, err := range src.Read(context.Background(), converters.Run{Count: pairRows() / 8}) {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestS6 converts CBOR: byte strings of 100 KB, and maps of some forty bytes.
func TestS6(t *testing.T) {
	measure(t, "S6", func(record func(figure)) {
		beside(t, record, setOf(t, strings100), durableCopy, "cbor",
			figure{work: fmt.Sprintf("%d CBOR byte strings of 100 KB", stringCount()), against: copied, target: atMost(1)})

		g := growth{"item", smallItemCounts, smallItemsOf, warm, durableCopy, []grown{
			{how: ", `--no-verify`", convert: convert("cbor", "--no-verify"), wall: atMost(0.15e-6)},
			{how: ", with verification", convert: convert("cbor")},
		}}
		g.grow(t, record, figure{work: "CBOR maps of 35 bytes", against: copied})
	})
}
