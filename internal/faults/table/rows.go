package main

import "slices"

// A row is one fault of the table and its target.
type row struct {
	id     string
	fault  string
	target string   // required result, beyond nothing undetected and nothing lost
	cases  int      // least number of cases; a low bound if the row counts its cases itself
	parts  []string // parts that must each have a line; nil means one line without a part
}

// formats are the formats that several rows test, one part each.
var formats = []string{"tar", "folder", "csv", "cbor", "ffr"}

// visible are the formats, and the exports, which give files their names in the same way.
var visible = append([]string{"export-tar", "export-folder"}, formats...)

// services are the kinds of upload, most of them by the service.
var services = []string{"small", "tasks", "parts", "minio", "md5", "gs"}

// disturbed are the uploads of services of which a sixth of the requests have a fault.
var disturbed = []string{"transport", "small-disturbed", "tasks-disturbed", "parts-disturbed", "minio-disturbed", "md5-disturbed", "gs-disturbed"}

// rows is the fault table. A row without a line is not met.
var rows = []row{
	{id: "A1", fault: "cut a shard of 4,152 bytes at every byte", target: "found", cases: 4152},
	{id: "A2", fault: "flip every bit of it", target: "found; 1 MiB + file at the most; also within `ulimit -v`", cases: 2 * 33216, parts: []string{"", "ulimit"}},
	{id: "A3", fault: "flip every pair of bits of a 100-byte shard", target: "found", cases: 319600},
	{id: "A4", fault: "append 1 to 4,096 zeros, or noise", target: "found at open", cases: 8192},
	{id: "A5", fault: "zero each sector and page of a 1 MiB shard", target: "found", cases: 2304},
	{id: "A6", fault: "swap pages, equal samples, CRCs, shard files", target: "found; files by the manifest", cases: 516, parts: []string{"", "files"}},
	{id: "A7", fault: "hostile headers: N, offsets, sizes, checksums", target: "found; bounded memory; also within `ulimit -v`", cases: 15000, parts: []string{"", "ulimit", "python"}},
	{id: "B1", fault: "SIGKILL at a random moment, then again", target: "identical after the rerun", cases: 500, parts: visible},
	{id: "B2", fault: "SIGKILL in place of the k-th call, every k", target: "identical after the rerun", cases: 1000, parts: append([]string{"overwrite", "gzip", "task", "finish"}, visible...)},
	{id: "B3", fault: "power loss at the k-th call, every k, 9 ways", target: "no final name with wrong bytes", cases: 11000, parts: append([]string{"new", "gzip", "overwrite", "repair"}, visible...)},
	{id: "B4", fault: "two processes, one output; a dead holder", target: "one wins cleanly; taken over at once", cases: 90, parts: []string{"race", "held", "killed"}},
	{id: "B5", fault: "stopped by a signal, resumed, sources changed", target: "ends in 2 s; identical; change refused by name", cases: 53, parts: []string{"stop", "resume", "changed"}},
	{id: "B6", fault: "tasks of one plan, killed, twice, in any order", target: "identical when finished", cases: 800, parts: append([]string{"no-locks"}, formats...)},
	{id: "C1", fault: "errno at the k-th call, every k", target: "reported, or absorbed", cases: 5000, parts: append([]string{"folder-reads", "tar-cold"}, visible...)},
	{id: "C2", fault: "file systems of 256 sizes", target: "exit 4; identical when enlarged", cases: 384, parts: []string{"", "export-tar", "export-folder"}},
	{id: "C3", fault: "limits on file size, open files, address space", target: "clean error, or slower", cases: 25, parts: []string{"", "cold"}},
	{id: "C4", fault: "Linux AIO used up, ENOSYS, EPERM", target: "falls back, says so, same report", cases: 52, parts: []string{"refused", "cold", "used-up", "reader"}},
	{id: "D1", fault: "a simulated kernel that does its worst", target: "0 wrong verdicts, 0 hangs", cases: 10000, parts: []string{"", "streams"}},
	{id: "D2", fault: "SIGURG at 10 kHz for 10 s during verify", target: "same digest, 0 errors", cases: 2, parts: []string{"", "reader"}},
	{id: "D3", fault: "AIO, pread, page cache: the same reports", target: "identical", cases: 100},
	{id: "D4", fault: "cancelled at a random moment", target: "nothing left: goroutines, files, AIO", cases: 400, parts: []string{"", "cold", "reader"}},
	{id: "E1", fault: "cut a three-member tar at every byte", target: "refused", cases: 33280},
	{id: "E2", fault: "cut compressed tars at every byte; flip bits", target: "refused", cases: 5000, parts: []string{"gzip", "zstd", "bzip2", "xz", "files"}},
	{id: "E3", fault: "special members of tars", target: "refused, or skipped and counted", cases: 60},
	{id: "E4", fault: "mutated tars against GNU tar and Python", target: "every disagreement is a refusal", cases: 10000},
	{id: "E5", fault: "hostile CBOR, MessagePack and CSV", target: "refused; bounded memory", cases: 900, parts: []string{"cbor", "csv"}},
	{id: "E6", fault: "a bit of a dataset flipped that is read", target: "found; nothing wrong has a name", cases: 900, parts: []string{"ffr", "export-tar", "export-folder"}},
	{id: "F1", fault: "fuzzing, ten targets", target: "0 crashers", cases: 100000},
	{id: "F2", fault: "random datasets; other readers; 1 and 16 workers", target: "same samples, same bytes", cases: 1020, parts: []string{"", "workers", "packed", "folder", "cbor2", "msgpack"}},
	{id: "G1", fault: "a finished dataset harmed in one or two ways", target: "repaired to the byte", cases: 480, parts: formats},
	{id: "G2", fault: "SIGKILL at the k-th call of a repair, every k", target: "repaired, or converted again, to the byte", cases: 100},
	{id: "G3", fault: "errno at the k-th call of a repair, every k", target: "reported, or absorbed", cases: 500},
	{id: "H1", fault: "a staged copy changed before it is read", target: "refused; identical when run again", cases: 200, parts: []string{"gzip", "kept", "stdin", "plugin", "pipe", "object", "object-gzip", "object-folder"}},
	{id: "H2", fault: "the meaning of manifest, plan, journal changed", target: "found, or said that a repair needs the file", cases: 1000},
	{id: "H3", fault: "a byte changed on the device, page cache warm", target: "found, or not called the device", cases: 200, parts: []string{"ext4", "xfs", "btrfs", "btrfs-nodatasum", "overlay"}},
	{id: "H4", fault: "a FUSE server that lies about the k-th request", target: "no wrong bytes, no hangs; good when it is honest again", cases: 1000, parts: []string{"convert", "unpack"}},
	{id: "H5", fault: "OUT renamed, replaced, removed, link switched", target: "status 4, no manifest without its shards", cases: 1500, parts: []string{"renamed", "replaced", "removed", "switched", "staged"}},
	{id: "H6", fault: "other content of the same size, between runs", target: "refused by name", cases: 80, parts: []string{"object", "stream"}},
	{id: "H7", fault: "a system call that row C1 leaves out", target: "none that strace sees is", cases: 11},
	{id: "H8", fault: "equal shards: verify, repair, swap, resume", target: "sound stays sound; damage found and mended", cases: 20},
	{id: "H9", fault: "a byte of a side file changed, at once or later", target: "no final name; healed by the same command", cases: 360, parts: []string{"written", "healed"}},
	{id: "I1", fault: "requests killed or faulty; lists lack objects", target: "as undisturbed; nothing left", cases: 1500, parts: slices.Concat([]string{"listing"}, services, disturbed)},
	{id: "I2", fault: "two runs at once into one prefix", target: "status 0 only over a sound dataset", cases: 200, parts: []string{"overwrite"}},
	{id: "I3", fault: "hostile files and directories, read by Python", target: "one clear error, 64 MiB at the most, no hang", cases: 100000},
	{id: "I4", fault: "a writer of samples dies, at every sample", target: "status 3, no dataset", cases: 600},
	{id: "I6", fault: "a picture, sound, film, JSON cut or emptied", target: "each counted and named; skipped or refused on demand", cases: 200},
	{id: "I7", fault: "no right, secret, bucket, or room in a bucket", target: "one line, status 3 or 4; made by the same command", cases: 7},
	{id: "I8", fault: "six services: readers killed, faults, full disk", target: "the right samples; no hang", cases: 1060, parts: []string{"killed", "faulty", "full"}},
}
