package python_test

import (
	"context"
	"debug/elf"
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

// helper builds the native helper for a platform, and returns its path.
func helper(t *testing.T, platform string, flags ...string) string {
	t.Helper()
	compiler := map[string]string{"linux-amd64": "x86_64-linux-gnu-gcc", "linux-arm64": "aarch64-linux-gnu-gcc"}[platform]
	need.Tools(t, compiler)
	if library, err := exec.Command(compiler, "-print-file-name=libdeflate.a").Output(); err != nil || !strings.HasPrefix(string(library), "/") {
		need.Missing(t, "libdeflate.a for "+platform)
	}
	file := filepath.Join(t.TempDir(), "libffconvert.so")
	if out, err := exec.Command("native/build.sh", append([]string{platform, file}, flags...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return file
}

// The tests of the reader, with a helper that is built in other ways, and without one.
func TestNative(t *testing.T) {
	t.Parallel()
	need.Time(t, "reads each damaged file several times")
	for name, of := range map[string]struct {
		flags, env []string
		module     string
	}{
		"without numpy": {env: []string{"FFCONVERT_PLAIN=1"}, module: "native"},
		// The kernel refuses each read that may not wait, and returns a few bytes at once.
		"nothing cached":             {flags: []string{"-DNOWAIT=64", "-DASK=100", "-DMOST=50"}, module: "native"},
		"nothing cached, the reader": {flags: []string{"-DNOWAIT=64", "-DASK=100", "-DMOST=50"}, module: "reader"},
		"sanitizers": {flags: []string{"-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"}, env: []string{
			"LD_PRELOAD=" + sanitizer(t, "libasan.so") + " " + sanitizer(t, "libubsan.so"), "ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1",
		}, module: "native"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runTests(t, of.module, append(of.env, "FFCONVERT_NATIVE="+helper(t, "linux-amd64", of.flags...)), "msgpack")
		})
	}
	t.Run("no helper", func(t *testing.T) {
		t.Parallel()
		runTests(t, "reader", []string{"FFCONVERT_NATIVE=0"}, "numpy")
	})
}

func sanitizer(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.Command(need.Tool(t, "gcc"), "-print-file-name="+name).Output()
	if err != nil || !strings.HasPrefix(string(path), "/") {
		need.Missing(t, name)
	}
	return strings.TrimSpace(string(path))
}

// Any Linux of its machine loads the helper: it names no library, and nothing that a later C library has.
func TestNativeNeedsNothing(t *testing.T) {
	t.Parallel()
	for platform, machine := range map[string]elf.Machine{"linux-amd64": elf.EM_X86_64, "linux-arm64": elf.EM_AARCH64} {
		path := helper(t, platform)
		f, err := elf.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		libraries, err := f.ImportedLibraries()
		if err != nil || len(libraries) > 0 || f.Machine != machine {
			t.Errorf("%s: a library of %v that wants %v, %v", platform, f.Machine, libraries, err)
		}
		symbols, err := f.ImportedSymbols()
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range symbols { // glibc and musl have them since they run on these machines
			if machine == elf.EM_X86_64 || !strings.Contains(" open read close memmove __errno_location __stack_chk_fail __stack_chk_guard ", " "+s.Name+" ") {
				t.Errorf("%s wants %s", platform, s.Name)
			}
		}
		one, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if other, err := os.ReadFile(helper(t, platform)); err != nil || string(one) != string(other) {
			t.Errorf("%s: two builds differ: %v", platform, err)
		}
	}
}

// Threads that read at once do not race, and read the right bytes; also on the other machine.
func TestNativeThreads(t *testing.T) {
	t.Parallel()
	need.Time(t, "threads read for some seconds")
	file := filepath.Join(t.TempDir(), "a.ffr")
	if err := os.WriteFile(file, randomRecords(500), 0o644); err != nil {
		t.Fatal(err)
	}
	stress := func(t *testing.T, threads, compiler string, source string, run ...string) {
		program := filepath.Join(t.TempDir(), "stress")
		args := append(strings.Fields("-std=gnu11 -g -O1 -Wall -Wextra -Werror -o "+program+" native/stress.c "+source), "-lpthread")
		if out, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		run = append(run, program, file, "3", threads)
		if out, err := exec.CommandContext(ctx, run[0], run[1:]...).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%v: %v\n%s", run, err, out)
		}
	}
	library := sanitizer(t, "libdeflate.a")
	for _, sanitizer := range []string{"thread", "address,undefined"} {
		t.Run(sanitizer, func(t *testing.T) {
			t.Parallel()
			stress(t, "8", "gcc", "native/read.c "+library+" -fsanitize="+sanitizer)
		})
	}
	t.Run("arm64", func(t *testing.T) {
		t.Parallel()
		qemu := need.Tool(t, "qemu-aarch64-static") // it does not run threads everywhere
		stress(t, "0", "aarch64-linux-gnu-gcc", helper(t, "linux-arm64"), qemu, "-L", "/usr/aarch64-linux-gnu")
	})
}

// randomRecords returns an FFRecord file.
func randomRecords(n int) []byte {
	draw := rand.NewChaCha8([32]byte{1})
	sizes := []int{0, 10, 300, 5000, 70000}
	table := binary.LittleEndian.AppendUint64(nil, uint64(n))
	var offsets, data []byte
	for i := range n {
		record := make([]byte, sizes[(i*i+i/3)%len(sizes)])
		draw.Read(record)
		table = binary.LittleEndian.AppendUint32(table, crc32.ChecksumIEEE(record))
		offsets = binary.LittleEndian.AppendUint64(offsets, uint64(12+12*n+len(data)))
		data = append(data, record...)
	}
	table = append(table, offsets...)
	return append(append(binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE(table)), table...), data...)
}
