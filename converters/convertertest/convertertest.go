// Package convertertest is the conformance suite that every source passes.
//
//	func TestSource(t *testing.T) {
//		convertertest.Test(t, func(t *testing.T) convertertest.Fixture {
//			parts := …  // copies of a small dataset below t.TempDir
//			return convertertest.Fixture{Source: tar.Open(parts, tar.Options{}), Files: …, Reopen: …}
//		})
//	}
//
// It tests the contract of converters.Source. Properties of a format are tested in its own package.
package convertertest

import (
	"testing"

	"github.com/ffconvert/ffconvert/converters"
)

// A Fixture is one small dataset. Each test of the suite needs a new one, because tests change and
// truncate its files.
type Fixture struct {
	// Source is the open dataset. It must have at least two parts, one of them with at least
	// three samples.
	Source converters.Source

	// Files are files that the source reads. The first one must belong to the first part. Tests
	// change them.
	Files []string

	// BytesRead returns the number of bytes that the source has read so far. Index may read
	// everything but opaque payload. It is nil if the format has no opaque payload, like CSV.
	BytesRead func() int64

	// Nearby is the largest payload in bytes that Index may read because it is between two pieces
	// of metadata and one large read takes less time than two small ones. If Nearby is set, Index
	// may read three times as much as otherwise.
	Nearby int64

	// Reopen opens the dataset again with the current sizes and times of its files, as a new run
	// of the program does.
	Reopen func(t *testing.T) converters.Source

	// Cuts are sizes in bytes. If Files[0] is truncated to one of them, Index must fail. It is
	// empty if a truncated file is valid, as in a folder.
	Cuts []int64
}

// Test runs the tests of the suite that apply to the fixture. It calls newFixture once for each test, and
// once more.
func Test(t *testing.T, newFixture func(t *testing.T) Fixture) {
	declared := newFixture(t)
	_, divisible := declared.Source.(converters.Divisible)
	for _, c := range []struct {
		name    string
		applies bool
		test    func(*testing.T, Fixture)
	}{
		{"index reads no payload", declared.BytesRead != nil, testPayload},
		{"index and read agree", true, testAgree},
		{"index is repeatable", true, testRepeat},
		{"alike samples are", true, testAlike},
		{"any run is a slice of the whole", true, testRuns},
		{"a run past the end", true, testPastEnd},
		{"an empty run", true, testEmptyRun},
		{"stopped early", true, testStop},
		{"all at once", true, testConcurrent},
		{"divided", divisible, testDivided},
		{"cancelled", true, testCancelled},
		{"grown underneath", true, testGrown},
		{"touched underneath", true, testTouched},
		{"gone underneath", true, testGone},
		{"truncated", len(declared.Cuts) > 0, testTruncated},
	} {
		if !c.applies {
			continue
		}
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
