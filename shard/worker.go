package shard

import (
	"context"
	"fmt"
	"time"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/direct"
	"github.com/ffconvert/ffconvert/internal/files"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A worker fills shards one after another.
type worker struct {
	*writer
	encoders []*encoders // one for each reader
	blocks   *blocks
}

// write fills the temporary files of a shard and its index, after reserving disk space. The caller must discard the
// result, also after an error.
func (k *worker) write(ctx context.Context, t *job) (full *filled, err error) {
	full = &filled{job: t, began: time.Now()}
	k.watcher.Begun(t.Name)
	if k.plan.Whole {
		if err := k.indexParts(ctx, t); err != nil {
			return full, err
		}
	}
	if full.free, err = k.out.Room(ctx, t.Bytes); err != nil {
		return full, err
	}
	if full.file, err = files.Create(k.out.Root, k.out.Temp(t.Name)); err != nil {
		return full, err
	}
	if err := direct.Reserve(full.file.File, t.Bytes); err != nil {
		return full, fmt.Errorf("reserve %s for %s: %w", plan.BytesText(t.Bytes), t.Name, err)
	}
	index, err := createIndex(k.out.Dir, t, k.plan.Columns, k.blocks.index())
	if err != nil {
		return full, err
	}
	full.index = index.file
	if full.done, err = k.fill(ctx, t, full.file, index); err == nil {
		err = index.close()
	}
	if err != nil {
		index.discard()
		return full, err
	}
	full.done.Index.Bytes, full.done.Index.CRC = index.stream.Sum()
	if t.verifyPartsAfter {
		if err := unchanged(t.src.Parts()); err != nil {
			return full, err
		}
	}
	if k.plan.Whole {
		full.done.Parts = t.plan.Parts
	}
	return full, nil
}

// fill writes the records of a shard and its index rows.
func (k *worker) fill(ctx context.Context, t *job, f *files.Temp, index *indexFile) (dataset.Finished, error) {
	s := t.Shard
	done := dataset.Finished{ManifestShard: dataset.ManifestShard{Name: s.Name}}
	out := direct.NewWriter(f.File, k.blocks.shard())
	defer out.Close()
	w, err := record.NewWriter(out, s.Samples)
	if err != nil {
		return done, err
	}
	p := newPipeline(t.plan, s, w, index)
	progress := k.counted(t, k.progress)
	readers := p.newReaders(k.encoders, progress)
	if err := p.run(ctx, t.src, readers); err != nil {
		return done, err
	}
	done.Samples = p.samples
	var all damage
	for _, r := range readers {
		done.Fields += r.fields
		all.add(r.damage)
	}
	done.NotWhole, done.FirstNot = all.notWhole, all.names()
	if done.Samples < s.Samples {
		return done, fmt.Errorf("%s: %w: %d of the %d samples indexed for it are left", s.Name, converters.ErrChanged, done.Samples, s.Samples)
	}
	sum, err := w.Close()
	if late := out.Close(); err == nil {
		err = late
	}
	if err != nil {
		return done, err
	}
	if sum.Size != s.Bytes {
		return done, fmt.Errorf("%s: %w: it has %d bytes, %d were indexed for it", s.Name, converters.ErrChanged, sum.Size, s.Bytes)
	}
	done.Bytes, done.HeaderCRC = sum.Size, sum.HeaderCRC
	progress.Add(0, record.FileSize(s.Samples, 0)) // the header, which readers do not count
	return done, nil
}
