package terminal

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/converters"
)

func TestSummary(t *testing.T) {
	t.Parallel()
	then := time.Date(2026, 1, 2, 15, 4, 5, 0, time.Local)
	for _, row := range []struct {
		name string
		s    conversionDone
		want string
	}{
		{"plain", conversionDone{Out: "out", Samples: 1, Bytes: 2e6, Shards: 1, Seconds: 2, Written: 2e6, MBPerS: 1},
			"out: 1 sample, 2.0 MB in 1 shard, 2.0 s, 1.0 MB/s, not verified"},
		{"small", conversionDone{Out: "out", Samples: 1, Bytes: 7212, Shards: 1, Seconds: 0.1, Written: 7212, MBPerS: 0.07212},
			"out: 1 sample, 7.2 kB in 1 shard, 0.1 s, 72 kB/s, not verified"},
		{"verified", conversionDone{Out: "out", Samples: 1234, Bytes: 2e6, Shards: 3, Seconds: 2, Written: 2e6, MBPerS: 1, proof: proof{Verified: true, Reread: 3, Backend: "aio", From: aio.Device}},
			"out: 1,234 samples, 2.0 MB in 3 shards, 2.0 s, 1.0 MB/s, verified by aio from the device"},
		{"not the device", conversionDone{Out: "out", Bytes: 2e6, Shards: 3, proof: proof{Verified: true, Reread: 3, Backend: "pread", From: "tmpfs", Fallback: "the file does not support O_DIRECT"}},
			"out: 0 samples, 2.0 MB in 3 shards, 0.0 s, verified by pread as tmpfs serves it, the device is not proven (the file does not support O_DIRECT)"},
		{"resumed", conversionDone{Out: "out", Samples: 9, Bytes: 9, Shards: 3, earlier: earlier{Kept: 2, Lost: []string{"PART_00001.ffr"}}, Seconds: 1.25, proof: proof{Reread: 1, VerifiedAt: &then, Backend: "aio"}},
			"out: 9 samples, 9 B in 3 shards (2 finished before), 1.2 s, PART_00001.ffr damaged or missing since and written anew, verified by aio: 1 shard; the others when written, from 2026-01-02 15:04 on"},
		{"resumed, others never verified", conversionDone{Out: "out", Samples: 9, Bytes: 9, Shards: 3, earlier: earlier{Kept: 1, Lost: []string{"PART_00000.ffr", "PART_00001.ffr"}}, Seconds: 1.25, proof: proof{Reread: 2, Backend: "aio"}},
			"out: 9 samples, 9 B in 3 shards (1 finished before), 1.2 s, PART_00000.ffr and 1 shard more damaged or missing since and written anew, verified by aio: 2 shards; not the others"},
		{"resumed in a bucket", conversionDone{Out: "s3://b/o/", Samples: 9, Bytes: 9, Shards: 3, earlier: earlier{Kept: 2}, Seconds: 1.25, proof: proof{Reread: 1, VerifiedAt: &then, Backend: "aio", Uploaded: 1, NotRead: 2, kept: true}},
			"s3://b/o/: 9 samples, 9 B in 3 shards (2 finished before), 1.2 s, verified by aio: 1 shard; the others when written, from 2026-01-02 15:04 on, then uploaded: the service compared their checksums; 2 kept shards not read whole (--bucket verify=read reads them)"},
		{"resumed in a bucket, read back", conversionDone{Out: "s3://b/o/", Samples: 9, Bytes: 9, Shards: 3, earlier: earlier{Kept: 2}, Seconds: 1.25, proof: proof{Reread: 1, VerifiedAt: &then, Backend: "aio", Uploaded: 1, ReadBack: true, kept: true}},
			"s3://b/o/: 9 samples, 9 B in 3 shards (2 finished before), 1.2 s, verified by aio: 1 shard; the others when written, from 2026-01-02 15:04 on, then uploaded and read back, shards that were kept too"},
		{"complete already in a bucket", conversionDone{Out: "s3://b/o/", Samples: 9, Bytes: 9, Shards: 3, earlier: earlier{Kept: 3}, Since: then, Already: true, proof: proof{VerifiedAt: &then, NotRead: 3, kept: true}},
			"s3://b/o/: 9 samples, 9 B in 3 shards, complete since 2026-01-02 15:04, not re-read now: ffconvert verify s3://b/o/"},
		{"complete already in a bucket, read back", conversionDone{Out: "s3://b/o/", Samples: 9, Bytes: 9, Shards: 3, earlier: earlier{Kept: 3}, Since: then, Already: true, proof: proof{VerifiedAt: &then, ReadBack: true, kept: true}},
			"s3://b/o/: 9 samples, 9 B in 3 shards, complete since 2026-01-02 15:04, shards that were kept read back"},
		{"complete already", conversionDone{Out: "out", Samples: 9, Bytes: 9, Shards: 3, earlier: earlier{Kept: 3}, Since: then, Already: true, proof: proof{VerifiedAt: &then}},
			"out: 9 samples, 9 B in 3 shards, complete since 2026-01-02 15:04, not re-read now: ffconvert verify out"},
		{"complete already, never verified", conversionDone{Out: "out", Samples: 9, Bytes: 9, Shards: 3, earlier: earlier{Kept: 3}, Since: then, Already: true},
			"out: 9 samples, 9 B in 3 shards, complete since 2026-01-02 15:04, not verified: ffconvert verify out"},
		{"complete already, verified again", conversionDone{Out: "out", Samples: 9, Bytes: 9, Shards: 3, earlier: earlier{Kept: 3}, Since: then, Already: true, proof: proof{Verified: true, Reread: 3, Backend: "aio"}},
			"out: 9 samples, 9 B in 3 shards, complete since 2026-01-02 15:04, verified by aio"},
		{"by tasks", conversionDone{Out: "out", Samples: 9, Bytes: 9, Shards: 3, earlier: earlier{Kept: 3}, Since: then, proof: proof{VerifiedAt: &then}},
			"out: 9 samples, 9 B in 3 shards, complete now, not re-read now, verified when written, from 2026-01-02 15:04 on: ffconvert verify out"},
		{"a table", conversionDone{Out: "o", Shards: 1, Columns: []converters.ColumnType{{Name: "id", DType: "int64"}, {Name: "a\nb", DType: "str"}}},
			`o: 0 samples, 0 B in 1 shard, 0.0 s, not verified; 2 columns: id int64, "a\nb" str`},
		{"a wide table", conversionDone{Out: "o", Shards: 1, Columns: slices.Repeat([]converters.ColumnType{{Name: "x", DType: "float64"}}, 9)},
			"o: 0 samples, 0 B in 1 shard, 0.0 s, not verified; 9 columns of float64"},
		{"with losses", conversionDone{Out: "o", Samples: 9, Bytes: 9, Shards: 1, LeftOut: 2, FieldsLeft: 5,
			Skipped: map[string]int64{"symbolic link": 1, "directory": 1000}, Accepted: map[string]int64{"missing end of archive": 1}},
			"o: 9 samples, 9 B in 1 shard, 0.0 s, not verified; left out 2 samples without a field; 5 fields not selected; skipped 1,001 entries (directory: 1,000, symbolic link: 1); accepted 1 entry (missing end of archive: 1)"},
	} {
		if got := row.s.String(); got != row.want {
			t.Errorf("%s:\ngot  %s\nwant %s", row.name, got, row.want)
		}
	}
}

// A name of OUT is text on every closing line, and moves no cursor.
func TestSummariesEscape(t *testing.T) {
	t.Parallel()
	const out = "o\x1b[31m'X"
	for _, row := range []struct {
		of   fmt.Stringer
		want []string
	}{
		{conversionDone{Out: out, Shards: 1}, nil},
		{conversionDone{Out: out, earlier: earlier{Kept: 1}, Shards: 1, Already: true}, []string{`ffconvert verify $'o\033[31m\'X'`}},
		{&planDone{Out: out}, []string{`ffconvert run $'o\033[31m\'X' --task K/N, for each K from 0`}},
		{&sliceDone{Out: out}, nil},
		{&sliceDone{Out: out, Why: "it is remote"}, nil},
		{taskDone{Out: out, Shards: 1}, nil},
		{&repairDone{Out: out}, nil},
		{FolderDone{Out: out}, nil},
	} {
		text := row.of.String()
		for _, want := range append(row.want, `"o\x1b[31m'X": `) {
			if strings.ContainsRune(text, '\x1b') || !strings.Contains(text, want) {
				t.Errorf("%T: %q, want %q in it", row.of, text, want)
			}
		}
	}
}
