package write

import (
	"context"
	"fmt"
	"time"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/direct"
	"github.com/ffconvert/ffconvert/shard"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// fill fills the temporary files of a shard and its index, after reserving disk space. The caller must discard the
// result, also after an error.
func (w *writer) fill(ctx context.Context, to *shard.Writer, t *job) (full *filled, err error) {
	full = &filled{job: t, began: time.Now()}
	w.watcher.Begun(t.Name)
	if w.plan.Whole {
		if err := w.indexParts(ctx, t); err != nil {
			return full, err
		}
	}
	if full.free, err = w.out.Room(ctx, t.Bytes); err != nil {
		return full, err
	}
	if full.file, err = w.out.Create(t.Name); err != nil {
		return full, err
	}
	if err := direct.Reserve(full.file.File, t.Bytes); err != nil {
		return full, fmt.Errorf("reserve %s for %s: %w", plan.BytesText(t.Bytes), t.Name, err)
	}
	if full.index, err = w.out.Create(dataset.IndexName(t.Name)); err != nil {
		return full, err
	}
	done, err := to.Write(ctx, &t.Job, full.file.File, full.index.File, w.counted(t, w.progress.Add))
	if err != nil {
		return full, err
	}
	full.done.ManifestShard = dataset.ManifestShard{
		Name: t.Name, Samples: done.Samples, Fields: done.Fields, NotWhole: done.NotWhole, FirstNot: done.FirstNot,
		Bytes: done.Size, HeaderCRC: done.HeaderCRC, Index: dataset.FileSum{Bytes: done.IndexBytes, CRC: done.IndexCRC},
	}
	if t.verifyPartsAfter {
		if err := unchanged(t.Source.Parts()); err != nil {
			return full, err
		}
	}
	if w.plan.Whole {
		full.done.Parts = t.Plan.Parts
	}
	return full, nil
}
