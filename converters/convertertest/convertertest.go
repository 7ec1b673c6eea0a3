// Package convertertest is the conformance suite that every source passes.
//
//	func TestSource(t *testing.T) {
//		convertertest.Test(t, func(t *testing.T) convertertest.Fixture {
//			parts := …  // copies of a small dataset below t.TempDir
//			return convertertest.Fixture{Source: tar.Open(parts, tar.Options{}), Files: …, Reopen: …}
//		})
//	}
//
// It knows no format. What a format promises beyond the contract of converters.Source
// is the matter of its own tests.
package convertertest

import (
	"testing"

	"github.com/ffconvert/ffconvert/converters"
)

// A Fixture is one small dataset, made anew for each test of the suite: the suite
// changes and cuts its files.
type Fixture struct {
	// Source is the dataset, opened. It has two parts or more, one of them with three
	// samples or more.
	Source converters.Source

	// Files are files that the source reads, the first one a file of its first part.
	// They belong to the test and may be changed.
	Files []string

	// BytesRead returns how many bytes the source has read of its files so far. Index
	// may read all but the opaque payload. nil: the format has none, as CSV does.
	BytesRead func() int64

	// Nearby is the size in bytes of payload that Index may read because metadata lies before
	// and behind it, where one large read costs less than two small ones. Such reads
	// may take twice as much again, and no more.
	Nearby int64

	// Reopen opens the dataset again, as a new run of the program would, with the
	// sizes and times that the files have now.
	Reopen func(t *testing.T) converters.Source

	// Cuts are sizes to which Files[0] may be cut so that it must be refused. Empty
	// where a cut file is a good file, as in a folder.
	Cuts []int64
}

// Test runs the suite. newFixture is called once for each of its tests.
func Test(t *testing.T, newFixture func(t *testing.T) Fixture) {
	for _, c := range []struct {
		name string
		test func(*testing.T, Fixture)
	}{
		{"index reads no payload", testPayload},
		{"index and read agree", testAgree},
		{"index is repeatable", testRepeat},
		{"alike samples are", testAlike},
		{"any run is a slice of the whole", testRuns},
		{"a run past the end", testPastEnd},
		{"an empty run", testEmptyRun},
		{"stopped early", testStop},
		{"all at once", testConcurrent},
		{"divided", testDivided},
		{"cancelled", testCancelled},
		{"grown underneath", testGrown},
		{"touched underneath", testTouched},
		{"gone underneath", testGone},
		{"truncated", testTruncated},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			if len(f.Source.Parts()) < 2 {
				t.Fatal("the fixture has less than two parts")
			}
			c.test(t, f)
		})
	}
}
