package shard

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/atomicfile"
	"github.com/ffconvert/ffconvert/internal/direct"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/shard/plan"
	"github.com/ffconvert/ffconvert/verify"
)

// The blocks of a worker.
const (
	shardBlocks = record.WriterBuffers + 1 // one more than the record.Writer fills: it is being written
	indexBlocks = 1 + 2                    // one is filled, one is written, one waits: rows come in bursts
)

// A worker writes one shard after another.
type worker struct {
	*writer
	encoders []*encoders    // one a reader
	blocks   *direct.Blocks // shardBlocks and indexBlocks
	reader   *aio.Reader    // nil: shards are not verified
}

// write makes one shard: a temporary file, its room reserved, filled and synced; re-read
// and checked; then its index and itself under their final names, durably; last the
// journal.
func (k *worker) write(ctx context.Context, t *job) error {
	began, watcher := time.Now(), watcherOf(k.opts.Progress)
	watcher.Begun(t.Name)
	if k.plan.Whole {
		if err := k.indexParts(ctx, t); err != nil {
			return err
		}
	}
	s := t.Shard
	f, err := atomicfile.Create(k.out.Root, k.out.Temp(s.Name))
	if err != nil {
		return err
	}
	defer f.Discard()
	if err := direct.Reserve(f.File, s.Bytes); err != nil {
		return fmt.Errorf("reserve %s for %s: %w", plan.BytesText(s.Bytes), s.Name, err)
	}
	index, err := createIndex(k.out, s.Name, t.first, k.plan.Columns, k.blocks.Empty[shardBlocks:])
	if err != nil {
		return err
	}
	defer index.discard()

	done, err := k.fill(ctx, t, f, index)
	if err != nil {
		return err
	}
	if t.verifyPartsAfter {
		if err := unchanged(t.src.Parts()); err != nil {
			return err
		}
	}
	if k.plan.Whole {
		done.Parts = t.plan.Parts
	}
	var g errgroup.Group // both at once: the file system makes one commit of them
	g.Go(f.Sync)
	g.Go(index.sync)
	if err := g.Wait(); err != nil {
		return err
	}
	done.Index = index.stream.sum()
	if err := k.journal.MustBe(&done); err != nil {
		return err
	}
	if k.reader != nil {
		err := k.verify(ctx, k.out.Temp(s.Name), &done, k.counted(t, second{moverOf(k.progress)}))
		if err == nil {
			var from aio.Origin
			from, err = k.out.ReadBack(ctx, k.reader, k.out.Temp(index.name), index.name, done.Index)
			done.Verified, done.From = err == nil, done.From.And(from)
		}
		if err != nil {
			for _, name := range []string{s.Name, index.name} {
				if _, gone := k.out.Root.Lstat(k.out.Temp(name)); gone != nil { // another process removed the file: the shard is not corrupt
					return gone
				}
			}
			return err
		}
	}
	first, err := k.name(ctx, f, &done)
	if err != nil {
		return err
	}
	if err := index.file.Replace(index.name); err != nil {
		return err
	}
	done.At = time.Now().Unix()
	if err := k.journal.Add(done); err != nil {
		return err
	}
	k.count(done, first, done.Verified)
	watcher.Finished(done.ManifestShard, time.Since(began).Seconds(), first)
	return nil
}

// fill writes the records of a shard and its index rows.
func (k *worker) fill(ctx context.Context, t *job, f *atomicfile.File, index *indexFile) (dataset.Finished, error) {
	s := t.Shard
	done := dataset.Finished{ManifestShard: dataset.ManifestShard{Name: s.Name}}
	out := direct.NewWriter(direct.NewFile(f.File), k.blocks.Empty[:shardBlocks])
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
	for _, r := range readers {
		done.Fields += r.fields
	}
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
	progress.Add(0, record.FileSize(s.Samples, 0)) // the header, which no reader has written
	return done, nil
}

// verify re-reads a synced shard, the file of that name in the output. Of one that is sound it adds
// to done where that read it from.
func (k *worker) verify(ctx context.Context, name string, done *dataset.Finished, progress plan.Progress) error {
	res, err := verify.File(ctx, k.reader, verify.Target{Path: name, Root: k.out.Root, Want: &verify.Expect{
		Name: done.Name, Samples: done.Samples, Bytes: done.Bytes, HeaderCRC: done.HeaderCRC,
	}}, verify.Options{Progress: func(_, bytes int64) { progress.Add(0, bytes) }})
	if err == nil {
		err = res.Err()
	}
	if err == nil {
		done.From = done.From.And(res.From)
	}
	return err
}
