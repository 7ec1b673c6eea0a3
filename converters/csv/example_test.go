package csv_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/csv"
)

func Example() {
	dir, err := os.MkdirTemp("", "csv")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "part-0")
	if err := os.WriteFile(path, []byte("x,y,note\n1.5,2,a\n-1,1e3,\"b, c\"\n"), 0o600); err != nil {
		log.Fatal(err)
	}
	st, err := os.Stat(path)
	if err != nil {
		log.Fatal(err)
	}
	part := converters.Part{Name: "part-0", Path: path, Size: st.Size(), ModTime: st.ModTime()}
	src, err := csv.Open([]converters.Part{part}, csv.Options{Header: true, Columns: []string{"x", "y"}})
	if err != nil {
		log.Fatal(err)
	}

	// Where the rows are; every value is checked.
	run := converters.Run{}
	for span, err := range src.Index(context.Background(), 0) {
		if err != nil {
			log.Fatal(err)
		}
		if span.Shape == nil {
			fmt.Println(span.Skip)
			continue
		}
		if run.Count == 0 {
			run.Off = span.Off
		}
		run.Count++
	}

	// Their numbers.
	for sample, err := range src.Read(context.Background(), run) {
		if err != nil {
			log.Fatal(err)
		}
		row := sample.Fields[0].Value.Data()
		for i := 0; i < len(row); i += 8 {
			fmt.Print(math.Float64frombits(binary.LittleEndian.Uint64(row[i:])), " ")
		}
		fmt.Println(sample.Fields[0].Name)
	}
	// Output:
	// header line
	// 1.5 2 row
	// -1 1000 row
}

func ExampleNaming_Arrange() {
	naming := csv.Naming{Prefix: "part-", SuffixLength: -1}
	fmt.Println(naming.Arrange([]string{"_SUCCESS", "part-2.csv", "part-10.csv", "part-0.csv", "part-1.csv"}))
	// Output: [] part-3: file does not exist: the parts go up to part-10.csv (option part-name-prefix, option part-name-suffix-length)
}
