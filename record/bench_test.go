package record

import (
	"fmt"
	"testing"
)

func BenchmarkAppend(b *testing.B) {
	for _, size := range []int{100, 100_000} {
		b.Run(fmt.Sprintf("%dB", size), func(b *testing.B) {
			p := noise(1, size)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			w, left := (*Writer)(nil), 0
			for b.Loop() {
				if left == 0 {
					left = 1 << 20
					w, _ = NewWriter(&sink{}, int64(left))
				}
				if _, err := w.Append(p); err != nil {
					b.Fatal(err)
				}
				left--
			}
		})
	}
}

func BenchmarkScanner(b *testing.B) {
	for _, size := range []int{100, 100_000} {
		b.Run(fmt.Sprintf("%dB", size), func(b *testing.B) {
			samples := make([][]byte, (32<<20)/size)
			p := noise(1, size)
			for i := range samples {
				samples[i] = p
			}
			shard := shardOf(b, samples...)
			b.SetBytes(int64(len(shard)))
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := scan(shard, 4<<20, Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRead(b *testing.B) {
	p := noise(1, 100_000)
	samples := make([][]byte, 200)
	for i := range samples {
		samples[i] = p
	}
	r, err := Open(onDisk(b, "a.ffr", shardOf(b, samples...)), Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	b.SetBytes(int64(len(p)))
	b.ReportAllocs()
	var buf []byte
	i := 0
	for b.Loop() {
		if buf, err = r.Read(i%len(samples), buf); err != nil {
			b.Fatal(err)
		}
		i++
	}
}
