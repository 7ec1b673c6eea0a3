//go:build bench && linux

package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// planVariable, "SAMPLES/PARTS", makes this binary plan so many samples and do nothing else: what it takes
// is then that of the plan alone.
const planVariable = "FFCONVERT_BENCH_PLAN"

// TestS9 plans a hundred million samples.
func TestS9(t *testing.T) {
	measure(t, "S9", func(record func(figure)) {
		most := volume * 100_000_000 / (2 << 30)
		few := runs{planOf(t, most/10, syntheticParts)}
		var many runs
		for range longRounds {
			many = append(many, planOf(t, most, syntheticParts))
		}
		what := fmt.Sprintf("plan of %d samples in %d parts", most, syntheticParts)
		peak := many.each(func(p process) float64 { return float64(p.peak) })
		anon := many.each(func(p process) float64 { return float64(p.anon) })
		growth := anon.each(func(x float64) float64 { return (x - float64(few[0].anon)) / float64(most-most/10) })
		record(figure{work: what, value: many.seconds(), unit: seconds, target: atMost(20), ours: seconds.all(many.cpu()) + " of CPU"})
		record(figure{work: what + ": memory, VmHWM", value: peak, unit: memory, target: atMost(2 << 30)})
		record(figure{work: fmt.Sprintf("anonymous memory of each sample beyond %d", most/10), value: growth, unit: unit{"%.1f", " bytes", 1}, target: atMost(16),
			ours: fmt.Sprintf("%s at %d, %s at %d", memory.one(float64(few[0].anon)), most/10, memory.all(anon), most)})
	})
}

// planOf plans a source in a process of its own.
func planOf(t *testing.T, samples int64, parts int) process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d/%d", planVariable, samples, parts), "TMPDIR="+work)
	p := finish(t, cmd, true)
	var said struct{ Samples, Peak int64 }
	if err := json.Unmarshal(p.stdout, &said); err != nil || said.Samples != samples {
		t.Fatalf("planned %d samples of %d, %v", said.Samples, samples, err)
	}
	p.peak = max(p.peak, said.Peak)
	return p
}

// planAlone is that process.
func planAlone(what string) int {
	var samples int64
	var parts int
	_, err := fmt.Sscanf(what, "%d/%d", &samples, &parts)
	if err == nil {
		err = planSynthetic(newSynthetic(samples, parts))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "plan:", err)
		return 1
	}
	status, _ := os.ReadFile("/proc/self/status")
	fmt.Printf(`{"Samples": %d, "Peak": %d}`, samples, field(status, "VmHWM:"))
	return 0
}

// planSynthetic does all that comes before the first byte of a shard is written.
func planSynthetic(source synthetic) error {
	spec, err := encode.Parse(encode.Options{})
	if err != nil {
		return err
	}
	index, err := plan.Index(context.Background(), source, plan.IndexOptions{Encodings: plan.OneEncoding(spec), Workers: runtime.GOMAXPROCS(0)})
	if err != nil {
		return err
	}
	plan, err := plan.New(index, plan.Options{Recipe: plan.Recipe{Source: plan.SourceSpec{Format: "tar"}}})
	if err != nil {
		return err
	}
	if n, _ := plan.Totals(); n != source.samples {
		return fmt.Errorf("%d samples are in the plan, not %d", n, source.samples)
	}
	f, err := os.CreateTemp("", "plan-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if _, err := plan.Write(f); err != nil {
		return err
	}
	return f.Close()
}

const syntheticParts = 1000 // of S9

// synthetic is a source of so many samples in parts of one to seven times the same
// number, each sample a picture of 20 to 200 KB and its class. It cannot be read.
type synthetic struct {
	samples int64
	parts   int
	made    []converters.Part
}

// begins returns the first sample of a part.
func (s synthetic) begins(part int) int64 {
	weight := func(p int) int64 { return int64(p/7*28 + p%7*(p%7+1)/2) } // of the parts before p
	return s.samples * weight(part) / weight(s.parts)
}

func (s synthetic) Parts() []converters.Part { return s.made }

// newSynthetic makes the source; Parts must cost nothing.
func newSynthetic(samples int64, parts int) synthetic {
	s := synthetic{samples: samples, parts: parts, made: make([]converters.Part, parts)}
	for i := range s.made {
		name := fmt.Sprintf("part-%05d.tar", i)
		s.made[i] = converters.Part{Name: name, Path: filepath.Join("none", name), Size: 205_000 * (s.begins(i+1) - s.begins(i))}
	}
	return s
}

func (s synthetic) Index(_ context.Context, part int) iter.Seq2[*converters.Span, error] {
	return func(yield func(*converters.Span, error) bool) {
		sample := converters.Sample{Fields: make([]converters.Field, 2)}
		span := converters.Span{Entries: 2, Shape: &sample}
		var keys string // of some samples back to back: a key is to cost next to nothing here
		end := s.begins(part + 1)
		for i := s.begins(part); i < end; i++ {
			if keys == "" {
				keys = syntheticKeys(i)
			}
			payload := 20_000 + int64(uint64(i)*0x9E3779B97F4A7C15>>32)%180_000
			sample.Key, keys = keys[:syntheticKey], keys[syntheticKey:]
			sample.Off = span.Off
			sample.Fields[0] = converters.Field{Name: "jpg", Value: converters.Opaque(payload)}
			sample.Fields[1] = converters.Field{Name: "cls", Value: converters.Opaque(3)}
			if !yield(&span, nil) {
				return
			}
			span.Off += 512 + (payload+511)/512*512 + 1024
		}
	}
}

const syntheticKey = 10 // digits

func syntheticKeys(first int64) string {
	const many = 1024
	keys := make([]byte, 0, many*syntheticKey)
	for i := range int64(many) {
		keys = strconv.AppendInt(keys, 1_000_000_000+first+i, 10)
	}
	return string(keys)
}

func (synthetic) Read(context.Context, converters.Run) iter.Seq2[*converters.Sample, error] {
	panic("bench: a synthetic source is planned alone")
}
