package write

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/files"
	"github.com/ffconvert/ffconvert/verify"
)

// A filled shard is complete, with its index, in temporary files that are not synced yet.
type filled struct {
	*job
	began time.Time
	file  *files.Temp // nil: not created
	index *files.Temp // nil: not created
	free  func()      // releases its slot in writer.open; nil: it has none
	done  dataset.Finished
}

// A finisher finishes filled shards one after another, concurrently with the workers.
type finisher struct {
	*writer
	reader *aio.Reader // nil: shards are not verified
}

// finishAll finishes shards until the channel is closed. Several run concurrently; fail stops the others.
func (w *writer) finishAll(ctx context.Context, shards <-chan *filled, reread aio.Options, fail context.CancelCauseFunc) (err error) {
	k := &finisher{writer: w}
	if !w.opts.NoVerify {
		if k.reader, err = aio.NewReader(reread); err != nil {
			return err
		}
		defer func() {
			err = errors.Join(err, k.reader.Close())
			w.verifiedBy(k.reader.Stats())
		}()
	}
	for s := range shards {
		err := k.finish(ctx, s)
		if err != nil {
			fail(err)
		}
		w.drop(s)
		if err != nil {
			return err
		}
	}
	return nil
}

// finish syncs a shard and its index, re-reads and checks them, renames them to their final names, syncs these, and
// adds them to the journal.
func (k *finisher) finish(ctx context.Context, s *filled) error {
	var g errgroup.Group // concurrently, so that the file system commits both at once
	g.Go(s.file.Sync)
	g.Go(s.index.Sync)
	if err := g.Wait(); err != nil {
		return err
	}
	done, index := &s.done, dataset.IndexName(s.Name)
	if err := k.journal.MustBe(done); err != nil {
		return err
	}
	if k.reader != nil {
		err := k.verify(ctx, s.file.Dir, s.file.Tmp, done, k.counted(s.job, func(_, bytes int64) { k.watcher.Moved(bytes) }))
		if err == nil {
			var res verify.Result
			res, err = dataset.ReadBack(ctx, k.reader, s.index, verify.Sum{Name: index, Bytes: done.Index.Bytes, CRC: done.Index.CRC}, verify.Options{SHA256: k.out.SHA256})
			done.Verified, done.From, done.Index.SHA256 = err == nil, done.From.And(res.From), res.SHA256
		}
		if err != nil {
			for _, f := range []*files.Temp{s.file, s.index} {
				if _, missing := f.Dir.Lstat(f.Tmp); missing != nil { // another process removed the file: the shard is not corrupt
					return missing
				}
			}
			return err
		}
		if err := k.journal.MustBe(done); err != nil { // compares the SHA-256 too
			return err
		}
	}
	first, err := k.name(ctx, s.file, done)
	if err == nil {
		err = s.index.Replace(index)
	}
	if err == nil {
		err = k.out.SyncNames(".", dataset.IndexDir)
	}
	if err == nil {
		err = k.out.Deliver(ctx, done, k.watcher.Moved)
	}
	if err == nil {
		err = k.journal.Add(*done)
	}
	if err != nil {
		return err
	}
	k.count(*done, first, done.Verified)
	k.watcher.Finished(done.ManifestShard, time.Since(s.began).Seconds(), first)
	return nil
}

// verify re-reads a synced shard. If it is sound, verify sets the origin of the bytes in done,
// and, if the dataset has sums, compares their SHA-256, or sets it if done has none.
func (k *finisher) verify(ctx context.Context, root *os.Root, name string, done *dataset.Finished, add func(samples, bytes int64)) error {
	res, err := verify.File(ctx, k.reader, verify.Target{Path: name, Root: root, Want: &verify.Expect{
		Name: done.Name, Samples: done.Samples, Bytes: done.Bytes, HeaderCRC: done.HeaderCRC, SHA256: done.SHA256,
	}}, verify.Options{SHA256: k.out.SHA256, Progress: func(_, bytes int64) { add(0, bytes) }})
	if err == nil {
		err = res.Err()
	}
	if err == nil {
		done.From, done.SHA256 = done.From.And(res.From), res.SHA256
	}
	return err
}
