package stage_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/gzip"

	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/stage"
)

func Example() {
	dir, err := os.MkdirTemp("", "input")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	os.WriteFile(filepath.Join(dir, "part-0.csv"), []byte("1,2\n"), 0o644)
	f, _ := os.Create(filepath.Join(dir, "part-1.csv.gz"))
	w := gzip.NewWriter(f)
	w.Write([]byte("3,4\n5,6\n"))
	w.Close()
	f.Close()

	ctx := context.Background()
	opts := stage.Options{CacheDir: filepath.Join(dir, "cache")}
	names, err := input.Find(ctx, []string{dir + "/part-*"}, opts.Options)
	if err != nil {
		fmt.Println(err)
		return
	}
	set, err := stage.Open(ctx, names, opts)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range set.Parts {
		fmt.Printf("%s %d %t\n", filepath.Base(f.Name), f.Size, f.Copy != nil)
	}
	fmt.Println(set.Release())
	// Output:
	// part-0.csv 4 false
	// part-1.csv.gz 8 true
	// <nil>
}

func ExampleFromCommand() {
	dir, err := os.MkdirTemp("", "input")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	opts := stage.Options{CacheDir: filepath.Join(dir, "cache")}
	for _, script := range []string{"echo 1,2", "echo 3,4; exit 3"} {
		c := input.Command{Name: "rows", Args: []string{"/bin/sh", "-c", script}}
		set, err := stage.Open(context.Background(), []input.Name{input.FromCommand(c)}, opts)
		if err != nil {
			fmt.Println(err)
			continue
		}
		rows, err := os.ReadFile(set.Parts[0].Path)
		fmt.Printf("%q %v %v\n", rows, err, set.Release())
	}
	// Output:
	// "1,2\n" <nil> <nil>
	// rows: the command did not succeed: exit status 3
}
