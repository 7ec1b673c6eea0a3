package check_test

import (
	"context"
	"log"
	"os"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/tar"
	"github.com/ffconvert/ffconvert/internal/check"
	"github.com/ffconvert/ffconvert/internal/findings"
)

func Example() {
	const path = "../../testdata/shards-000.tar"
	st, err := os.Stat(path)
	if err != nil {
		log.Fatal(err)
	}
	src := tar.Open([]converters.Part{{Name: "shards-000.tar", Path: path, Size: st.Size()}}, tar.Options{KeepDuplicates: true})
	report, err := check.Source(context.Background(), src, check.Options{})
	if err != nil {
		log.Fatal(err)
	}
	if err := findings.Write(os.Stdout, findings.Text, report); err != nil {
		log.Fatal(err)
	}
	// Output:
	// warning: shards-000.tar: offset 15360: "000003": it has png in place of jpg; most samples, 8, have cls, jpg, json; 2 times [odd-fields]
	// warning: shards-000.tar: offset 33792: "000005": it has seg.png too; most samples, 8, have cls, jpg, json [odd-fields]
	// warning: shards-000.tar: offset 65024: "000011": it has png, seg.png in place of jpg; most samples, 8, have cls, jpg, json [odd-fields]
	// 1 file, 12 samples: 0 errors, 3 warnings, 0 notes
}
