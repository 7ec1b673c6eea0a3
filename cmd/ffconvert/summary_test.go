package main

import (
	"testing"

	"github.com/ffconvert/ffconvert/aio"
)

func TestSummary(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		s    summary
		want string
	}{
		{"plain", summary{Out: "out", Samples: 1, Bytes: 2e6, Shards: 1, Seconds: 2, MBPerS: 1},
			"out: 1 sample, 2.0 MB in 1 shard, 2.0 s, 1 MB/s, not verified"},
		{"verified", summary{Out: "out", Samples: 1234, Bytes: 2e6, Shards: 3, Seconds: 2, MBPerS: 1, proof: proof{Verified: true, Backend: "aio", From: aio.Device}},
			"out: 1,234 samples, 2.0 MB in 3 shards, 2.0 s, 1 MB/s, verified by aio from the device"},
		{"not the device", summary{Out: "out", Bytes: 2e6, Shards: 3, proof: proof{Verified: true, Backend: "pread", From: "tmpfs", Fallback: "the file does not support O_DIRECT"}},
			"out: 0 samples, 2.0 MB in 3 shards, 0.0 s, 0 MB/s, verified by pread as tmpfs serves it, the device is not proven (the file does not support O_DIRECT)"},
		{"resumed", summary{Out: "out", Samples: 9, Bytes: 9, Shards: 3, Kept: 2, Seconds: 1.25, proof: proof{Verified: true, Backend: "aio"}},
			"out: 9 samples, 9 B in 3 shards (2 finished before), 1.2 s, verified by aio"},
		{"complete already", summary{Out: "out", Samples: 9, Bytes: 9, Shards: 3, Kept: 3, proof: proof{Verified: true, From: aio.Device}},
			"out: 9 samples, 9 B in 3 shards, complete already, verified"},
		{"by tasks", summary{Out: "out", Samples: 9, Bytes: 9, Shards: 3, Kept: 3, proof: proof{Verified: true}, state: "complete"},
			"out: 9 samples, 9 B in 3 shards, complete, verified"},
		{"with losses", summary{Out: "o", Samples: 9, Bytes: 9, Shards: 1, LeftOut: 2, FieldsLeft: 5,
			Skipped: map[string]int64{"symbolic link": 1, "directory": 1000}, Waived: map[string]int64{"missing end of archive": 1}},
			"o: 9 samples, 9 B in 1 shard, 0.0 s, 0 MB/s, not verified; left out 2 samples without a field; 5 fields not selected; skipped 1,001 entries (1,000 directory, 1 symbolic link); accepted 1 entry (1 missing end of archive)"},
	} {
		if got := row.s.String(); got != row.want {
			t.Errorf("%s:\ngot  %s\nwant %s", row.name, got, row.want)
		}
	}
}
