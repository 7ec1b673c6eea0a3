package dataset_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/write"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/test/memsource"
	"github.com/ffconvert/ffconvert/internal/test/shardtest"
	"github.com/ffconvert/ffconvert/shard/plan"
)

func TestCheckOutput(t *testing.T) {
	file := func(name string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	folder := func(name string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		name string
		make []func(t *testing.T, dir string)
		want error
	}{
		{"empty", nil, nil},
		{"missing", []func(*testing.T, string){func(t *testing.T, dir string) {
			if err := os.Remove(dir); err != nil {
				t.Fatal(err)
			}
		}}, nil},
		{"mount point", []func(*testing.T, string){folder("lost+found")}, nil},
		{"begun", []func(*testing.T, string){folder(dataset.WorkDir), file("README")}, nil},
		{"a dataset of before", []func(*testing.T, string){func(t *testing.T, dir string) {
			src := memsource.New(1, 1, 10, 100)
			if _, err := shardtest.Write(t, src, shardtest.NewPlan(t, src, encode.Options{}, plan.Options{}), dir, write.Options{NoVerify: true}); err != nil {
				t.Fatal(err)
			}
			if err := os.RemoveAll(filepath.Join(dir, dataset.WorkDir)); err != nil {
				t.Fatal(err)
			}
		}}, nil},
		{"classes", []func(*testing.T, string){folder("cat"), folder("dog")}, dataset.ErrNotEmpty},
		{"a hidden file", []func(*testing.T, string){file(".hidden")}, dataset.ErrNotEmpty},
		{"a mount point with a file", []func(*testing.T, string){folder("lost+found"), file("a.jpg")}, dataset.ErrNotEmpty},
		{"another program's manifest", []func(*testing.T, string){file(dataset.ManifestName)}, dataset.ErrNotEmpty},
		{"a shard alone", []func(*testing.T, string){file("PART_00000.ffr")}, dataset.ErrNotEmpty},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "out")
			folder("")(t, dir)
			for _, make := range c.make {
				make(t, dir)
			}
			if err := dataset.CheckDir(dir); !errors.Is(err, c.want) {
				t.Errorf("CheckDir = %v, want %v", err, c.want)
			}
		})
	}
	t.Run("a file", func(t *testing.T) {
		name := filepath.Join(t.TempDir(), "out")
		if err := os.WriteFile(name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := dataset.CheckDir(name); !errors.Is(err, dataset.ErrNotDirectory) {
			t.Errorf("CheckDir = %v", err)
		}
	})
	t.Run("a name that is too long", func(t *testing.T) {
		if err := dataset.CheckDir(filepath.Join(t.TempDir(), strings.Repeat("a", 300))); err == nil {
			t.Error("an error of a stat is taken for a directory that is not there")
		}
	})
}
