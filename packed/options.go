package packed

import (
	"math"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/record"
)

// DefaultMaxFile is the default of WriteOptions.MaxFile, in bytes. Writers and readers hold a whole file in memory.
const DefaultMaxFile = 1 << 30

// WriteOptions control Write. The zero value is valid.
type WriteOptions struct {
	// Overwrite allows Write to replace an existing file, after the new one has been verified.
	Overwrite bool

	// FollowOutside follows symbolic links that are absolute or lead out of the folder. Without
	// it they are an error. Links within the folder are always followed.
	FollowOutside bool

	// MaxFile is the largest allowed file in bytes. 0 means DefaultMaxFile.
	MaxFile int64

	// MaxFiles limits the number of files and, separately, of directories. 0 means
	// record.MaxSamples - 1, the number of files that fit into one shard, which is also the most.
	MaxFiles int64

	AIO      aio.Options // for re-reading the finished file
	Progress Progress    // may be nil
}

func (o WriteOptions) maxFile() int64 {
	if o.MaxFile > 0 {
		return min(o.MaxFile, math.MaxInt-1)
	}
	return DefaultMaxFile
}

func (o WriteOptions) maxFiles() int64 {
	if o.MaxFiles > 0 {
		return min(o.MaxFiles, mostFiles)
	}
	return mostFiles
}

// mostFiles is the number of files that fit into one shard; one sample has the names.
const mostFiles = record.MaxSamples - 1

// ExtractOptions control Extract. The zero value is valid.
type ExtractOptions struct {
	AIO      aio.Options // for re-reading the files; Depth is the queue depth of all workers together
	Progress Progress    // may be nil
}

// A Progress receives the progress of Write and Extract. Its methods are not called concurrently.
type Progress interface {
	// Start begins a phase, "pack", "verify" or "unpack", and gives its size in bytes.
	Start(phase string, bytes int64)
	// Add reports that more files and bytes of the phase are done. In the phase "verify" of
	// Write, the sample with the names counts as a file.
	Add(files, bytes int64)
}

type silent struct{}

func (silent) Start(string, int64) {}

func (silent) Add(int64, int64) {}
