// Command train trains softmax regression on the pictures of a dataset, to show package loader: a run that is killed at any time
// goes on from its state file and ends with the same weights.
//
//	ffconvert folder testdata/shapes out/
//	go run ./examples/train -state run.json out/
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"image"
	_ "image/jpeg"
	"io"
	"io/fs"
	"math"
	"os"
	"os/signal"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/loader"
)

func main() {
	t := training{out: os.Stdout}
	flag.StringVar(&t.state, "state", "run.json", "`FILE` that holds weights and state, to go on from")
	flag.Uint64Var(&t.epochs, "epochs", 30, "epochs in all")
	flag.Int64Var(&t.batch, "batch", 6, "samples of a step")
	flag.Parse()
	t.dir = flag.Arg(0)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := t.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "train:", err)
		os.Exit(1)
	}
}

// side is the width and height in pixels of what a picture is shrunk to.
const side = 12

// A checkpoint is what a run needs to go on.
type checkpoint struct {
	Next    *loader.State            `json:"next"`    // nil at the start
	Weights [][side*side + 1]float64 `json:"weights"` // of each class; the last one is the bias
	Sum     float64                  `json:"sum"`     // of the losses in this epoch
	Losses  []float64                `json:"losses"`  // the mean of each epoch
}

// A training is what to train with, and how long.
type training struct {
	dir    string // of the dataset
	state  string // path of the checkpoint
	epochs uint64 // those of earlier runs included
	batch  int64  // samples of a step
	out    io.Writer
}

// run trains until the epochs are done.
func (t training) run(ctx context.Context) error {
	meta, err := dataset.ReadMeta(t.dir)
	if err != nil {
		return err
	}
	c := checkpoint{Weights: make([][side*side + 1]float64, len(meta.Classes))}
	if text, err := os.ReadFile(t.state); err == nil {
		err = json.Unmarshal(text, &c)
		if err != nil {
			return fmt.Errorf("%s: %w", t.state, err)
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	l, err := loader.Open([]string{t.dir}, loader.Options{
		Order: loader.Order{Seed: 7, Batch: t.batch}, State: c.Next, Fields: []string{"jpg", "cls"}})
	if err != nil {
		return err
	}
	defer l.Close()
	for l.Epoch() < t.epochs {
		for b, err := range l.Batches(ctx) {
			if err != nil {
				return err
			}
			if err := c.step(b); err != nil {
				return err
			}
			c.Next = &b.State
			if err := c.save(t.state); err != nil {
				return err
			}
		}
		c.Losses = append(c.Losses, c.Sum/float64(l.Steps()))
		fmt.Fprintf(t.out, "epoch %d: loss %.4f\n", l.Epoch(), c.Losses[l.Epoch()])
		if err := l.SetEpoch(l.Epoch() + 1); err != nil {
			return err
		}
		next := l.State()
		c.Sum, c.Next = 0, &next
		if err := c.save(t.state); err != nil {
			return err
		}
	}
	return nil
}

// step goes down the gradient of a batch.
func (c *checkpoint) step(b *loader.Batch) error {
	const rate = 0.5
	slope := make([][side*side + 1]float64, len(c.Weights))
	for i := range b.Len() {
		x, err := shrink(b.Field(i, 0).Data())
		if err != nil {
			return fmt.Errorf("sample %d: %w", b.Indices[i], err)
		}
		p := c.chances(&x)
		class := b.Field(i, 1).Int()
		c.Sum -= math.Log(p[class]) / float64(b.Len())
		p[class]--
		for k := range p {
			for j := range x {
				slope[k][j] += p[k] * x[j] / float64(b.Len())
			}
		}
	}
	for k := range slope {
		for j := range slope[k] {
			c.Weights[k][j] -= rate * slope[k][j]
		}
	}
	return nil
}

// chances returns the probability of each class.
func (c *checkpoint) chances(x *[side*side + 1]float64) []float64 {
	p, sum := make([]float64, len(c.Weights)), 0.0
	for k := range p {
		for j := range x {
			p[k] += c.Weights[k][j] * x[j]
		}
		p[k] = math.Exp(p[k])
		sum += p[k]
	}
	for k := range p {
		p[k] /= sum
	}
	return p
}

// shrink returns the brightness of points of a picture, from -1 to 1, and 1 for the bias.
func shrink(file []byte) (x [side*side + 1]float64, err error) {
	img, _, err := image.Decode(bytes.NewReader(file))
	if err != nil {
		return x, err
	}
	r := img.Bounds()
	for j := range side * side {
		red, green, blue, _ := img.At(r.Min.X+(j%side)*r.Dx()/side, r.Min.Y+(j/side)*r.Dy()/side).RGBA()
		x[j] = float64(red+green+blue)/(3*0x7fff) - 1
	}
	x[side*side] = 1
	return x, nil
}

// save replaces the state file as a whole.
func (c *checkpoint) save(name string) error {
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	if err := os.WriteFile(name+".new", text, 0o644); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}
