// Package dataset is an output directory. A type for each way to open it has the methods that make sense then:
//
//	Dir       an open directory, locked unless View opened it: temporary names, and files
//	Dataset   open for reading: manifest, status, verification
//	Task      one of several processes that write shards: its slice, its claims, its journal
//	Writing   the one process that writes: it begins a plan and completes it with a manifest
//
// Each embeds the one before it. Package dataset/write writes the shards. A dataset is in one of three states:
//
//	begun      the plan and the journal, no manifest. Open and OpenTask continue it: the command that began it, or
//	           run for a task and then finish. View shows its status; what reads samples gets ErrUnfinished.
//	complete   the manifest and every file that it names. View opens it. Open compares its plan: that of the same
//	           sources and options finds nothing to write, another one is ErrOccupied, unless it is to replace it.
//	damaged    the manifest, but a file that it names is missing or differs. A reader of that file finds it; verify
//	           reads all files and exits 2. repair writes the damaged ones from the plan and the sources, the same
//	           bytes. The command that made it removes the manifest, and with that begins it again.
//
// The files are:
//
//	PART_00000.ffr …            complete, fsynced, re-read unless NoVerify was set; no other file ever has a name in .ffr
//	index/PART_00000.arrow …    a row for each sample, or a rule that gives their offsets
//	meta.json                   description of the dataset: fields, classes, shapes
//	manifest.json               written last: where it is, the conversion is complete
//	manifest.json.minisig       its signature, if there is one
//	.ffconvert/plan             a line for each shard; a shard can be written from its line alone
//	.ffconvert/journal          a line for each finished shard; a resumed run starts from it
//	.ffconvert/journals/        the journals of tasks, until they are folded into the one
//	.ffconvert/indexed/         indexes of parts, one file for each task, until the plan is made
//	.ffconvert/cache/           staged copies of sources, if no other directory is named
//	.ffconvert/done/            of an OUT in an object store: the line of each shard that is uploaded
//	.ffconvert/copy             marks a copy of a dataset that is not complete
//	.ffconvert/running/         a claim for each shard that is being written
//	.ffconvert/tmp/             files that are being written, a directory for each process
//	.ffconvert/lock             held by one process alone, or shared by tasks
//
// Everything is reached through an [os.Root], so that no link in the directory leads out of it. A
// file takes its final name by a rename, after it was synced and, but for shards written with NoVerify, read back.
package dataset
