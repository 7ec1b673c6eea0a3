package lookup

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/bits"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/ffconvert/ffconvert/internal/files"
	"github.com/ffconvert/ffconvert/internal/sidecar"
)

// tableMemory is how many entries are sorted at once: 128 MiB. A dataset of more samples is read several times.
const tableMemory = 16 << 20

// rowsAtOnce is how many rows are read between two looks at the context.
const rowsAtOnce = 8192

// make makes the table of the dataset at the first of its places that can be written, or opens the one that a fork has
// made since there were so many. progress may be nil.
func (k *keys) make(ctx context.Context, made int64, progress func(done, total int64)) (*table, error) {
	select {
	case k.making <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-k.making }()
	if k.made.Load() == made {
		if err := k.build(ctx, progress); err != nil {
			return nil, err
		}
		k.made.Add(1)
	}
	return k.open()
}

func (k *keys) build(ctx context.Context, progress func(done, total int64)) error {
	err := ErrKeys
	for _, p := range k.places() {
		b := builder{d: k.of, ctx: ctx, most: tableMemory, progress: progress}
		if err = b.buildAt(p); err == nil || !errors.Is(err, errUnwritable) {
			return err
		}
	}
	return err
}

// Prepare makes the table of keys where a search would make it, and tells how far it is: after that, or where there is one,
// a search is short. progress may be nil. Where no table can be written there is none, and no error.
func (d *Dataset) Prepare(ctx context.Context, progress func(done, total int64)) error {
	if d.Len() <= d.few {
		return nil
	}
	made := d.keys.made.Load()
	if t, err := d.keys.open(); err == nil {
		t.close()
		return nil
	}
	if keyed, err := d.Keyed(); err != nil || !keyed {
		return err
	}
	t, err := d.keys.make(ctx, made, progress)
	if err == nil {
		t.close()
	}
	if errors.Is(err, errUnwritable) || errors.Is(err, ErrKeys) {
		return nil
	}
	return err
}

var errUnwritable = errors.New("no table of keys can be written there")

func (b *builder) buildAt(p tablePlace) error {
	if p.make {
		if err := os.MkdirAll(p.dir, 0o700); err != nil {
			return errUnwritable
		}
	}
	root, err := os.OpenRoot(p.dir)
	if err != nil {
		return errUnwritable
	}
	defer root.Close()
	tmp := path.Join(p.tmp, strings.ToLower(rand.Text()[:13]))
	if err := root.MkdirAll(tmp, 0o755); err != nil {
		return errUnwritable
	}
	defer root.Remove(tmp)
	f, err := files.Create(root, path.Join(tmp, "keys.tmp"))
	if err != nil {
		return errUnwritable
	}
	defer f.Discard()
	if err := b.write(f); err != nil {
		return err
	}
	return f.Replace(p.name)
}

// A builder writes a table.
type builder struct {
	d    *Dataset
	ctx  context.Context
	most int // entries that are sorted at once

	progress    func(done, total int64) // may be nil
	done, total int64                   // samples; each counts once in each pass

	out     *bufio.Writer
	page    []byte // entries of the page that is being filled
	pages   uint32
	entries []uint64 // of a pass
}

func (b *builder) write(f io.WriteSeeker) error {
	n := b.d.Len()
	b.out = bufio.NewWriterSize(f, 1<<20)
	b.out.Write(make([]byte, pageSize)) // the head comes last
	passes := 1 + n/(int64(b.most)/4*3) // keys are spread evenly, and not exactly
	b.total = passes * n
	for pass := range passes {
		if err := b.pass(uint64(pass), uint64(passes)); err != nil {
			return err
		}
	}
	b.tell(b.total)
	for len(b.page) > 0 {
		b.add(^uint64(0))
	}
	if err := b.out.Flush(); err != nil {
		return err
	}
	id := b.d.keys.identity()
	head := append([]byte(tableMagic), id[:]...)
	head = binary.LittleEndian.AppendUint64(head, uint64(n))
	head = binary.LittleEndian.AppendUint32(head, crc32.ChecksumIEEE(head))
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err := f.Write(head)
	return err
}

func (b *builder) tell(done int64) {
	if b.progress != nil {
		b.progress(done, b.total)
	}
}

// pass writes the entries of a range of hashes, one of several of equal size.
func (b *builder) pass(pass, passes uint64) error {
	if b.entries == nil {
		b.entries = make([]uint64, 0, min(b.d.Len(), int64(b.most)))
	}
	entries := b.entries[:0]
	shift := shiftOf(b.d.Len())
	for k := range b.d.shards {
		err := b.shard(k, func(n int64, key string) error {
			h := xxhash.Sum64String(key)
			if of, _ := bits.Mul64(h>>shift<<shift, passes); of != pass {
				return nil
			}
			if len(entries) == b.most {
				return fmt.Errorf("%w: too many equal keys", ErrKeys)
			}
			entries = append(entries, h>>shift<<shift|uint64(n))
			return nil
		})
		if err != nil {
			return err
		}
	}
	slices.Sort(entries)
	for _, e := range entries {
		b.add(e)
	}
	return b.ctx.Err()
}

// shard reads the keys of a shard.
func (b *builder) shard(k int, use func(n int64, key string) error) error {
	s := &b.d.shards[k]
	x, err := b.d.opts.openIndex(s)
	if err != nil {
		return err
	}
	defer x.close()
	x.rows.Want = sidecar.KeysAlone
	for i := range s.samples {
		row, err := x.rows.Next()
		if err != nil {
			return x.fail(err)
		}
		if i%rowsAtOnce == 0 {
			if err := b.ctx.Err(); err != nil {
				return err
			}
			b.tell(b.done + i)
		}
		if err := use(b.d.starts[k]+i, row.Key); err != nil {
			return err
		}
	}
	b.done += s.samples
	if b.done > b.d.Len() { // it was checked in the first pass
		return nil
	}
	return x.check()
}

// add appends an entry. Errors of writing stay in out.
func (b *builder) add(e uint64) {
	b.page = binary.LittleEndian.AppendUint64(b.page, e)
	if len(b.page) < 8*pageEntries {
		return
	}
	b.page = binary.LittleEndian.AppendUint32(b.page, b.pages)
	b.page = binary.LittleEndian.AppendUint32(b.page, crc32.ChecksumIEEE(b.page))
	b.out.Write(b.page)
	b.page = b.page[:0]
	b.pages++
}
