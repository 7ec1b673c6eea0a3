//go:build bench && linux

package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// starts is how many processes a start is the median of.
const starts = 31

// hello is a Go program that prints: what a start costs that does nothing.
const hello = `package main

import "fmt"

func main() { fmt.Println("hello") }
`

// TestS18 measures what a command costs before it has begun, and what a conversion costs that has next to nothing to do.
func TestS18(t *testing.T) {
	measure(t, "S18", func(record func(figure)) {
		source, plain := filepath.Join(work, "hello.go"), filepath.Join(work, "hello")
		if err := os.WriteFile(source, []byte(hello), 0o644); err != nil {
			t.Fatal(err)
		}
		execute(t, "go", "build", "-o", plain, source)
		set, err := makeSet("hundred", 1, 100, []member{{"bin", 300}})
		if err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(work, "out")
		convert := func(verify string) process {
			settle(t, out)
			return finish(t, conversion("tar", set, out, verify), false)
		}
		all := make([]runs, 4)
		inTurn(starts, len(all), func(i int) {
			all[i] = append(all[i], []func() process{
				func() process { return execute(t, plain) },
				func() process { return execute(t, program, "version") },
				func() process { return convert("--no-verify") },
				func() process { return convert("--verify") },
			}[i]())
		})
		settle(t, out)
		beyond := func(i, than int, of func(process) float64) series {
			return all[i].each(of).with(all[than].each(of), func(x, y float64) float64 { return x - y })
		}
		wall := func(p process) float64 { return p.seconds }
		faults := func(p process) float64 { return float64(p.faults) }
		record(figure{work: "`version`, beyond a Go program that prints", value: beyond(1, 0, wall), unit: millis, target: atMost(0.005),
			ours: millis.all(all[1].seconds()), theirs: millis.all(all[0].seconds())})
		record(figure{work: "the same: page faults", value: beyond(1, 0, faults), unit: unit{"%.0f", "", 1}, target: atMost(400)})
		record(figure{work: "100 samples of 300 bytes, `--no-verify`, beyond `version`", value: beyond(2, 1, wall), unit: millis, target: atMost(0.015)})
		record(figure{work: "the same, with verification", value: beyond(3, 1, wall), unit: millis})
		for _, shards := range []int{1, 3} {
			settle(t, out)
			args := []string{"tar", set, out, "--progress", "none", "--shards", fmt.Sprint(shards)}
			record(figure{work: fmt.Sprintf("the same in %d shards: `fsync`", shards), value: series{calls(t, "fsync", args)}, unit: unit{"%.0f", "", 1}, target: atMost(float64(8 + shards))})
		}
		settle(t, out, set)
	})
}
