package loader_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/loader"
)

// onPage has the code of docs/training.md, between its first and its last line.
func onPage(ctx context.Context, rank, world int, saved *loader.State, epochs uint64, train func(*loader.Batch), save func(loader.State)) error {
	l, err := loader.Open([]string{"out"}, loader.Options{
		Order: loader.Order{Seed: 7, Batch: 256}, // 256 samples a step, on all ranks together
		Rank:  rank, World: world,                // this process, of so many
		State: saved, // *loader.State; nil at the start
	})
	if err != nil {
		return err
	}
	defer l.Close()
	for l.Epoch() < epochs {
		for b, err := range l.Batches(ctx) {
			if err != nil {
				return err
			}
			train(b)      // b.Sample(i), 0 ≤ i < b.Len(): the record; b.Indices[i]: its number
			save(b.State) // with the weights, from one rank
		}
		if err := l.SetEpoch(l.Epoch() + 1); err != nil {
			return err
		}
	}
	return nil
}

// The code of docs/training.md resumes after any of its states.
func TestPage(t *testing.T) {
	source, err := os.ReadFile("page_test.go")
	page, err2 := os.ReadFile(filepath.Join("..", "docs", "training.md"))
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	_, code, _ := strings.Cut(string(source), "save func(loader.State)) error {\n")
	code, _, _ = strings.Cut(code, "\treturn nil\n}\n")
	code = strings.ReplaceAll("\n"+code, "\n\t", "\n")
	if shown := "```go" + code + "```\n"; !strings.Contains(string(page), shown) {
		t.Errorf("docs/training.md does not show\n%s", shown)
	}
	t.Chdir(t.TempDir())
	madeIn(t, "out", "raw:bin", 0, 1000, 3)
	run := func(saved *loader.State) (steps [][]int64, states []loader.State) {
		err := onPage(t.Context(), 1, 2, saved, 3,
			func(b *loader.Batch) { steps = append(steps, append([]int64{}, b.Indices...)) },
			func(s loader.State) { states = append(states, s) })
		if err != nil {
			t.Fatal(err)
		}
		return steps, states
	}
	want, states := run(nil)
	if len(want) != 9 || len(want[0]) != 128 {
		t.Fatalf("%d steps, the first of %d samples", len(want), len(want[0]))
	}
	for i := range states {
		if got, _ := run(&states[i]); len(got) != len(want)-i-1 || len(got) > 0 && !reflect.DeepEqual(got, want[i+1:]) {
			t.Errorf("after step %d it goes on with %v", i, got)
		}
	}
}
