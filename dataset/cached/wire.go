package cached

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/ffconvert/ffconvert/internal/place"
)

// What users and a server say to each other. All numbers are of 64 bits, little-endian.
//
//	request: its kind, a count, and as many numbers
//	reply:   the number of bytes that follow; less than 0: so many bytes of an error, its kind first
//
// There is a reply to each request but askForget, in their order.
const (
	askRead   = 1 // numbers of samples, ascending: their bytes, behind one another
	askShards = 2 // numbers of shards: a byte for each, 1 if its samples are kept, else 0, when their headers are here
	askFile   = 3 // the number of a shard, or -1: nothing, when its index is here, or meta.json
	askComing = 4 // numbers of samples that will be asked for, in the order in which they will be: nothing
	askForget = 5 // what was said to come does not
	askCounts = 6 // bytes that were fetched since the server began
	askFilled = 7 // numbers of shards: nothing, once those that are kept lack no sample
	askHere   = 8 // numbers of samples, ascending: nothing, once those of shards that are kept are in the copies, as far as they can
)

// Limits of a request, against what is not a user.
const (
	mostNumbers = 1 << 20
	mostBytes   = 1 << 40
	mostReused  = 32 << 20 // bytes of a reply whose memory is kept for the next one
)

// Kinds of errors: the first byte of one. Damage is that the object store has other bytes than the manifest says.
const kindDamage, kindSystem = 'd', 's'

// answer answers one user until it ends.
func (v *server) answer(c net.Conn) {
	ctx, cancel := context.WithCancel(v.ctx)
	defer cancel()
	var a *ahead // nil: nothing is to come
	forget := func() {
		if a != nil {
			a.end()
		}
		a = nil
	}
	defer forget()
	in := bufio.NewReaderSize(c, 64<<10)
	var memory []byte
	for {
		kind, numbers, err := readRequest(in)
		if err != nil {
			return
		}
		switch kind {
		case askComing:
			if a == nil {
				a = v.newAhead()
			}
			a.coming(numbers)
			if err := writeReply(c, nil, nil); err != nil {
				return
			}
			continue
		case askForget:
			forget()
			continue
		}
		more := make(chan struct{}) // closed when the user asks for more, or has ended, and with it what it waits for
		v.work.Go(func() {
			defer close(more)
			if _, err := in.Peek(1); err != nil {
				cancel()
			}
		})
		var reply []byte
		switch kind {
		case askRead:
			reply, err = v.read(ctx, numbers, memory)
			memory = reply
		case askHere:
			err = v.askedHere(ctx, numbers)
		case askShards:
			reply, err = v.askedShards(ctx, numbers)
		case askFile:
			err = v.askedFile(ctx, numbers)
		case askCounts:
			reply = binary.LittleEndian.AppendUint64(nil, uint64(v.dir.fetched.Load()))
		case askFilled:
			err = v.askedFilled(ctx, numbers)
		default:
			return
		}
		if err != nil && v.ctx.Err() != nil {
			return // the server ends, and the user asks the next one
		}
		if err := writeReply(c, reply, err); err != nil {
			return
		}
		if cap(memory) > mostReused {
			memory = nil
		}
		<-more
	}
}

func readRequest(in io.Reader) (kind int64, numbers []int64, err error) {
	var head [16]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return 0, nil, err
	}
	kind = int64(binary.LittleEndian.Uint64(head[:]))
	count := int64(binary.LittleEndian.Uint64(head[8:]))
	if count < 0 || count > mostNumbers {
		return 0, nil, errors.New("not a request")
	}
	numbers = make([]int64, count)
	return kind, numbers, binary.Read(in, binary.LittleEndian, numbers)
}

func writeRequest(out io.Writer, kind int64, numbers ...int64) error {
	text := make([]byte, 0, 16+8*len(numbers))
	text = binary.LittleEndian.AppendUint64(text, uint64(kind))
	text = binary.LittleEndian.AppendUint64(text, uint64(len(numbers)))
	for _, n := range numbers {
		text = binary.LittleEndian.AppendUint64(text, uint64(n))
	}
	_, err := out.Write(text)
	return err
}

func writeReply(c net.Conn, data []byte, failed error) error {
	n := int64(len(data))
	if failed != nil {
		kind := byte(kindSystem)
		if place.KindOf(failed) == place.Corrupt {
			kind = kindDamage
		}
		data = append([]byte{kind}, failed.Error()...)
		n = -int64(len(data))
	}
	buffers := net.Buffers{binary.LittleEndian.AppendUint64(nil, uint64(n)), data}
	_, err := buffers.WriteTo(c)
	return err
}

// readReply reads a reply into memory, as much as there is room for, which is all that was asked for.
func readReply(in io.Reader, memory []byte) (int, error) {
	var head [8]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return 0, err
	}
	n := int64(binary.LittleEndian.Uint64(head[:]))
	if n >= 0 && n <= int64(len(memory)) {
		return io.ReadFull(in, memory[:n])
	}
	if n > 0 || n < -mostNumbers {
		return 0, fmt.Errorf("the process that fetches sent %d bytes", n)
	}
	text := make([]byte, -n)
	if _, err := io.ReadFull(in, text); err != nil {
		return 0, err
	}
	kind := place.IO
	if text[0] == kindDamage {
		kind = place.Corrupt
	}
	return 0, &serverError{place.New(kind, string(text[1:]))}
}

// A serverError is an error of the server's work, and not of the connection.
type serverError struct{ error }

func (e *serverError) Unwrap() error { return e.error }

// read returns the bytes of samples, which ascend, in memory if there is enough.
func (v *server) read(ctx context.Context, numbers []int64, memory []byte) ([]byte, error) {
	parts, err := v.parts(ctx, numbers)
	if err != nil {
		return nil, err
	}
	var size int64
	for _, p := range parts {
		n, err := p.find()
		if size += n; err != nil {
			return nil, err
		}
	}
	if size > mostBytes {
		return nil, fmt.Errorf("%d bytes at once", size)
	}
	if err := v.begin(numbers, parts); err != nil {
		return nil, err
	}
	memory = slices.Grow(memory[:0], int(size))[:size]
	rest := memory
	for _, p := range parts {
		if rest, err = p.take(ctx, rest); err != nil {
			return nil, err
		}
	}
	return memory, nil
}

// begin begins to fetch what is asked for.
func (v *server) begin(numbers []int64, parts []*part) error {
	v.asked(numbers)
	for _, p := range parts {
		flights, err := p.begin()
		for _, f := range flights {
			v.work.Go(func() {
				if v.now.Acquire(v.ctx, 1) == nil { // else the server ends, and so does the flight
					defer v.now.Release(1)
				}
				f.fly(v.ctx)
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// askedHere waits for samples of shards that are kept.
func (v *server) askedHere(ctx context.Context, numbers []int64) error {
	parts, err := v.parts(ctx, numbers)
	if err != nil {
		return err
	}
	parts = slices.DeleteFunc(parts, func(p *part) bool { return !p.kept() })
	if err := v.begin(numbers, parts); err != nil {
		return err
	}
	for _, p := range parts {
		for _, f := range p.flights {
			if err := f.wait(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

func (v *server) askedShards(ctx context.Context, numbers []int64) ([]byte, error) {
	kept := make([]byte, len(numbers))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(entersAtOnce)
	for n, k := range numbers {
		if k < 0 || k >= int64(len(v.shards)) {
			return nil, errors.Join(fmt.Errorf("no shard %d", k), g.Wait())
		}
		g.Go(func() error {
			err := v.enter(ctx, v.shards[k])
			if err == nil && v.shards[k].have != nil {
				kept[n] = 1
			}
			return err
		})
	}
	return kept, g.Wait()
}

func (v *server) askedFilled(ctx context.Context, numbers []int64) error {
	if _, err := v.askedShards(ctx, numbers); err != nil {
		return err
	}
	var shards []*shard
	for _, k := range numbers {
		v.filler.add(v.shards[k])
		shards = append(shards, v.shards[k])
	}
	return v.filler.wait(ctx, shards)
}

func (v *server) askedFile(ctx context.Context, numbers []int64) error {
	if len(numbers) != 1 || numbers[0] < -1 || numbers[0] >= int64(len(v.shards)) {
		return fmt.Errorf("no file %v", numbers)
	}
	return v.dir.side(ctx, int(numbers[0]))
}
