package shard

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/atomicfile"
	"github.com/ffconvert/ffconvert/shard/plan"
	"github.com/ffconvert/ffconvert/verify"
)

// A filled shard has all its bytes, and its index, in temporary files that are not synced yet.
type filled struct {
	*job
	began time.Time
	file  *atomicfile.File // nil: not created
	index *atomicfile.File // the same
	free  func()           // gives back the room that was taken for it; nil: none was
	done  dataset.Finished
}

// discard removes the temporary files that there are, of a finished shard none, and gives its room back.
func (s *filled) discard() {
	for _, f := range []*atomicfile.File{s.index, s.file} {
		if f != nil {
			f.Discard()
		}
	}
	if s.free != nil {
		s.free()
	}
}

// A finisher finishes one filled shard after another, beside the workers.
type finisher struct {
	*writer
	reader *aio.Reader // nil: shards are not verified
}

// finishAll finishes shards until the channel is closed. It is one of several; fail ends the others.
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

// finish syncs a shard and its index, re-reads and checks them, gives them their final names durably, and
// enters them in the journal.
func (k *finisher) finish(ctx context.Context, s *filled) error {
	var g errgroup.Group // both at once: the file system makes one commit of them
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
		err := k.verify(ctx, k.out.Temp(s.Name), done, k.counted(s.job, second{k.watcher}))
		if err == nil {
			var res verify.Result
			res, err = k.out.ReadBack(ctx, k.reader, k.out.Temp(index), verify.Sum{Name: index, Bytes: done.Index.Bytes, CRC: done.Index.CRC}, verify.Options{SHA256: true})
			done.Verified, done.From, done.Index.SHA256 = err == nil, done.From.And(res.From), res.SHA256
		}
		if err != nil {
			for _, name := range []string{s.Name, index} {
				if _, gone := k.out.Root.Lstat(k.out.Temp(name)); gone != nil { // another process removed the file: the shard is not corrupt
					return gone
				}
			}
			return err
		}
		if err := k.journal.MustBe(done); err != nil { // by their SHA-256, too
			return err
		}
	}
	first, err := k.name(ctx, s.file, done)
	if err != nil {
		return err
	}
	if err := s.index.Replace(index); err != nil {
		return err
	}
	if err := k.out.Deliver(ctx, done, k.watcher.Moved); err != nil {
		return err
	}
	if err := k.journal.Add(*done); err != nil {
		return err
	}
	k.count(*done, first, done.Verified)
	k.watcher.Finished(done.ManifestShard, time.Since(s.began).Seconds(), first)
	return nil
}

// verify re-reads a synced shard, the file with that name in the output. If
// it is sound, done gets the origin of the bytes, and their SHA-256 if it had none; else that is compared.
func (k *finisher) verify(ctx context.Context, name string, done *dataset.Finished, progress plan.Progress) error {
	res, err := verify.File(ctx, k.reader, verify.Target{Path: name, Root: k.out.Root, Want: &verify.Expect{
		Name: done.Name, Samples: done.Samples, Bytes: done.Bytes, HeaderCRC: done.HeaderCRC, SHA256: done.SHA256,
	}}, verify.Options{SHA256: true, Progress: func(_, bytes int64) { progress.Add(0, bytes) }})
	if err == nil {
		err = res.Err()
	}
	if err == nil {
		done.From, done.SHA256 = done.From.And(res.From), res.SHA256
	}
	return err
}
