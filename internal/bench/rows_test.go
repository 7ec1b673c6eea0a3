package bench

import (
	"slices"
	"strings"
	"testing"
)

// A row is one thing that is measured, by the test that has its id in its name. It may
// give several figures.
type row struct {
	id      string
	does    string
	further bool // a figure of use, no part of the table
}

// rows is the table. A run is whole when each of them came to its end.
var rows = []row{
	{id: "S1", does: "tars of samples of 100 KB, inputs in the page cache, converted durably, against a durable copy of the same tars"},
	{id: "S2", does: "the same with verification, against that copy and one read of the shards past the page cache"},
	{id: "S3", does: "tars of samples of 300 bytes, one member a sample, against a durable copy"},
	{id: "S4", does: "a folder of 10,000 files, against a durable copy of the tree"},
	{id: "S5", does: "CSV of two floats a row on two cores; against counting its lines and copying what comes of it; its reader against Arrow's on one core"},
	{id: "S6", does: "CBOR: byte strings of 100 KB against a durable copy, small maps by the second"},
	{id: "S7", does: "verification of shards that are not in the page cache, against the best that fio reads of them"},
	{id: "S8", does: "random batches of 128 samples from the same, against fio's random reads"},
	{id: "S8b", does: "random batches of 128 samples of 300 bytes by `record.Reader.ReadBatch`: in the page cache beside pread, cold beside fio"},
	{id: "S9", does: "the plan of 100,000,000 samples: time, memory, bytes a sample"},
	{id: "S10", does: "peak anonymous memory of S1 with verification, once, four times and sixteen times as large"},
	{id: "S11", does: "what a GiB costs as S1 grows to sixteen times its size"},
	{id: "S12", does: "S2 from an S3 server on the same machine, against fetching all of it with curl and then converting it; its memory"},
	{id: "S13", does: "a plan of 200,000 shards for 10,000 tasks: what a task takes before it writes, what it asks the file system for, how long `status` takes"},
	{id: "S14", does: "`pack` of the folder of S4, warm and cold, against a durable copy and a Python program that packs it as FFRecord's pack_folder"},
	{id: "S15", does: "TFRecord of pictures of 100 KB, against a durable copy; its memory"},
	{id: "S16", does: "S2 into a bucket of an S3 server on the same machine, against converting it to the disk and then `rclone copy`, or curl; its memory"},
	{id: "S17", does: "samples from ten thousand to a hundred million in one to ten thousand parts: whether ten times as many take ten times as long; memory"},
	{id: "S18", does: "the start of a command beside a Go program that prints; a conversion of 100 samples: time, `fsync`"},
	{id: "G1", does: "`get` of one sample of ten million, by key and by number, cold and warm: a process each"},
	{id: "B1", does: "what pages of `browse` ask of a dataset of ten million samples: pages, filters, keys, the survey; by the packages that answer"},
	{id: "B2", does: "`browse` of ten million samples with keys: its pages, samples by key, its memory"},
	{id: "B3", does: "`browse` of a hundred million samples"},
	{id: "C1", does: "S1 with cold inputs, against a copy as cold, and fio, which reads and writes as many bytes at the same time"},
	{id: "C2", does: "S2 with cold inputs, in the rounds of C1"},
	{id: "C3", does: "S3 with cold inputs"},
	{id: "C4", does: "S4 with cold inputs"},
	{id: "C5", does: "C1 four times as large in a cgroup whose memory is a quarter of the main set: what a GiB costs"},
	{id: "R1", does: "the shards of S1 as the source of a conversion, against a durable copy of the dataset"},
	{id: "R2", does: "the same with the shards of S3"},
	{id: "P1", does: "Parquet files of images of 100 KB, compressed with snappy, against a durable copy"},
	{id: "P2", does: "Parquet of ten columns of numbers: what its index takes a row, rows by the second of a processor, bytes written"},
	{id: "X1", does: "`export tar` of the shards of S1, against a durable copy of tars of as many bytes; its memory"},
	{id: "X2", does: "the same with the shards of S3"},
	{id: "T1", does: "an epoch of random batches of 128 samples of 100 KB by package `loader`, cold, against the best that fio reads at random"},
	{id: "T2", does: "epochs of random batches by the Python package's DataLoader and its native helper, two threads or processes, against torch's own over the files that the shards were made of, and `bench read`"},
	{id: "T3", does: "epochs of pictures as tensors by the Python package's DataLoader, two threads or processes, against torch's own over the files, with the same decoder; memory"},
	{id: "T4", does: "random batches by the Python package's Reader: with its native helper and without, and FFRecord's own FileReader"},
	{id: "T5", does: "samples written from Python, against the program on a file of them, and FFRecord's own FileWriter"},
	{id: "T6", does: "the import of the Python package"},
	{id: "T7", does: "epochs from an S3 server on the same machine, behind 20 ms, by the Python package's DataLoader: cache empty, full, for half; the first batch; against the shards on the disk"},
	{id: "T8", does: "the opening of datasets of 10⁸ and 10⁹ samples by the Python package: on the disk, and from a web server behind 20 ms; memory"},
	{id: "Index", does: "the pass that finds the samples, by itself", further: true},
	{id: "Formats", does: "peak anonymous memory of the other formats", further: true},
	{id: "Grid", does: "all of S17: each number of samples in each number of parts", further: true},
	{id: "MillionFiles", does: "memory to plan a folder of a million files", further: true},
}

// place returns where a row stands in the table, −1 for none.
func place(id string) int {
	return slices.IndexFunc(rows, func(r row) bool { return r.id == id })
}

// TestRows: rows stand there once, and say what they are.
func TestRows(t *testing.T) {
	t.Parallel()
	for i, r := range rows {
		if place(r.id) != i || r.does == "" || strings.Contains(r.does, "|") {
			t.Errorf("row %d: %+v", i, r)
		}
	}
	if place("S99") != -1 {
		t.Error("there is a row S99")
	}
}
