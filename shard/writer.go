package shard

import (
	"context"
	"fmt"
	"os"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/direct"
	"github.com/ffconvert/ffconvert/internal/text"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A Job is a shard to write, and what it is made of.
type Job struct {
	*plan.Shard
	Plan   *plan.Plan        // of the shard; its Parts are the parts of Source
	Source converters.Source // has the samples of the shard
	Row    int               // of part 0 of Source in "sources" of the manifest
	Shape  plan.Columns      // which columns the indexes of the dataset have; not the Shape of a Span
}

// Written describes a shard that was written, and its index.
type Written struct {
	record.FileInfo
	Fields     int64             // of the source, in the records
	NotWhole   int64             // pictures, sounds and films that are empty or cut: of these fields, or inside records that are copied
	FirstNot   [mostFirst]string // describe the first three of them; "": there are fewer
	IndexBytes int64
	IndexCRC   uint32 // of all bytes of the index
}

// A Writer writes shards one after another, in memory of its own.
type Writer struct {
	readers []*reader
	blocks  *blocks
}

// NewWriter returns a Writer that reads and encodes a shard with a number of readers. specs has the encodings of the
// plan. writers is how many Writers are used at once: each has less memory if there are more.
func NewWriter(specs []*encode.Spec, readers, writers int) (*Writer, error) {
	blocks, err := newBlocks(writers)
	if err != nil {
		return nil, err
	}
	w := &Writer{blocks: blocks}
	for range readers {
		w.readers = append(w.readers, newReader(specs))
	}
	return w, nil
}

// Close frees the memory.
func (w *Writer) Close() error { return w.blocks.free() }

// Write writes a shard and its index to empty files, which the caller syncs. If the source does not give the samples
// that were indexed, the error is [converters.ErrChanged]. Several goroutines call progress, with what they have encoded.
func (w *Writer) Write(ctx context.Context, j *Job, file, index *os.File, progress func(samples, bytes int64)) (done Written, err error) {
	x, err := newIndex(index, j, w.blocks.index())
	if err != nil {
		return done, err
	}
	defer x.stream.Close()
	if done, err = w.fill(ctx, j, file, x, progress); err == nil {
		err = x.close()
	}
	done.IndexBytes, done.IndexCRC = x.stream.Sum()
	return done, err
}

// fill writes the records of a shard and its index rows.
func (w *Writer) fill(ctx context.Context, j *Job, file *os.File, index *indexFile, progress func(samples, bytes int64)) (done Written, err error) {
	out := direct.NewWriter(file, w.blocks.shard())
	defer out.Close()
	to, err := record.NewWriter(out, j.Samples)
	if err != nil {
		return done, err
	}
	p := newPipeline(j.Plan, j.Shard, to, index)
	readers := p.use(w.readers, progress)
	if err := p.run(ctx, j.Source, readers); err != nil {
		return done, err
	}
	var all damage
	for _, r := range readers {
		done.Fields += r.fields
		all.add(r.damage)
	}
	done.NotWhole, done.FirstNot = all.notWhole, all.names()
	if p.samples < j.Samples {
		return done, j.changed(fmt.Sprintf("%d of the %d samples that were indexed for %s are left", p.samples, j.Samples, j.Name))
	}
	done.FileInfo, err = to.Close()
	if late := out.Close(); err == nil {
		err = late
	}
	if err != nil {
		return done, err
	}
	if done.Size != j.Bytes {
		return done, j.changed(fmt.Sprintf("its samples make %d bytes of %s, %d were indexed", done.Size, j.Name, j.Bytes))
	}
	progress(0, record.FileSize(j.Samples, 0)) // the header, which readers do not count
	return done, nil
}

// changed returns the error for samples that differ from those that were indexed. It is that of the first source of the
// shard whose size or time has changed, else it names the first source and counts the others.
func (j *Job) changed(how string) error {
	sources := make(map[int]bool)
	for _, run := range j.Runs {
		if sources[run.Part] {
			continue
		}
		sources[run.Part] = true
		if part := j.Source.Parts()[run.Part]; part.Path != "" {
			f, err := part.Open()
			if err != nil {
				return err
			}
			f.Close()
		}
	}
	if others := int64(len(sources) - 1); others > 0 {
		how = fmt.Sprintf("it or %s: %s", text.Count(others, "other source"), how)
	}
	return plan.ErrorChanged(j.Plan.Parts[j.Runs[0].Part].Name, how)
}
