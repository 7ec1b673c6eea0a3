package pages

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"
	"github.com/ffconvert/ffconvert/internal/test/python"
)

// A pageLine says of the commands of a page that begin so which files they need beside those of a docsFolder, or why they are not run.
type pageLine struct{ begin, files, not string }

// pages are the pages whose commands run as they are printed. A line that is not named needs nothing more.
var pages = map[string][]pageLine{
	"choosing.md": {
		{begin: "ffconvert ffr --keys not=@bad.txt", files: "rm -r imagenet && cp -r out imagenet && echo 000003 >bad.txt"},
		{begin: "ffconvert ffr out/train", files: "rm -r out && ffconvert folder -q --split train=0.5,val=0.5 photos out"},
	},
	"ci.md": {
		{begin: "ffconvert check tar --format sarif", files: "mkdir data && cp shards-000.tar data/a.tar"},
	},
	"clusters.md": {
		{begin: "ffconvert plan tar 'shards-<", files: "tar -cf one.tar photos/circle/000.jpg && python3 -c 'import os; [os.link(\"one.tar\", f\"shards-{k:04}.tar\") for k in range(10000)]'"},
		{begin: "ffconvert run out/ --task", files: "rm -r out && ffconvert plan tar --shards 40 'shards-{000..009}.tar' out/"},
		{begin: "ffconvert finish out/ --wait", files: "rm -r out && ffconvert plan tar 'shards-{000..009}.tar' out/ && ffconvert run out/"},
		{begin: "ffconvert plan tar --shards 40", not: "a command of a recipe, which TestRecipesOfDocsClusters runs"},
		{begin: "python3 examples/dask", not: "a command of a recipe, which TestRecipesOfDocsClusters runs"},
		{begin: "ffconvert finish out/", not: "a command of a recipe, which TestRecipesOfDocsClusters runs"},
	},
	"looking.md": {
		{begin: "ffconvert get out/ 000017", files: "rm -r out && ffconvert tar -q --fields jpg,cls --missing skip 'shards-{000..003}.tar' out"},
		{begin: "ffconvert diff", files: "cp -r out out2"},
	},
	"export.md": {
		{begin: "ffconvert export tar --where", files: "cp -r more a && ffconvert folder -q --key-prefix b/ photos b"},
		{begin: "ffconvert tar --encode msgpack", files: "for i in 0 1 2 3; do cp shards-00$i.tar train-00000$i.tar; done"},
	},
	"packed.md": {
		{begin: "ffconvert pack", files: "rm images.ffr && cp -r photos images"},
		{begin: "ffconvert cat", files: "mkdir -p images/train/cats && cp photos/circle/000.jpg images/train/cats/1.jpg && ffconvert pack -q --overwrite images images.ffr"},
	},
	"spec.md": {{begin: "ffconvert spec", files: "cp examples/dataset.yaml ."}},
	"copying.md": {
		{begin: "ffconvert copy s3://bucket/data/", not: "a directory of the machine, or a bucket, that a test must not have"},
		{begin: "ffconvert copy out/ /mnt", not: "a directory of the machine"},
	},
	"inputs.md": {
		{begin: "ffconvert tar 'shards-{000..009}.tar' more/", files: "rm -r more && mkdir more && tar -C photos -cf more/a.tar circle"},
		{begin: "ffconvert tar 's3://bucket/train/", not: "a server of HTTPS with the name host"},
		{begin: "ffconvert tar @train.txt", files: "cp list.txt train.txt"},
		{begin: "ffconvert tar --allow-pipe 'pipe:ssh", not: "a host that ssh reaches"},
		{begin: "ffconvert folder s3://", not: "objects that the test has as files: the same as folder imagenet/train"},
		{begin: "ffconvert tar --rewrite", not: "a directory of the machine"},
		{begin: "ffconvert tar 'ais://cloud", not: "a second cloud behind an AIStore"},
	},
	"sources.md": {
		{begin: "ffconvert tar --nested", files: "cp nested.tar ILSVRC2012_img_train.tar"},
		{begin: "ffconvert folder --list", files: "cp -r photos images"},
		{begin: "ffconvert folder --flat", files: "cp -r photos papers"},
		{begin: "ffconvert folder --pair", files: "mkdir -p ade20k/images ade20k/masks && cp photos/circle/000.jpg ade20k/images/a.jpg && echo mask >ade20k/masks/a.png"},
		{begin: "ffconvert folder --filter", files: "cp -r photos images"},
		{begin: "ffconvert csv data/", files: "cp -rL points data"},
		{begin: "ffconvert csv --part count=100", files: "mkdir data && for k in $(seq -f %05g 0 99); do echo 1,2 >data/part-$k; done"},
		{begin: "ffconvert csv --header", files: "printf 'x,y\\n1,2\\n' >points.csv"},
		{begin: "ffconvert cbor 'x-{00..07}.cbors'", files: "for k in 0 1 2 3 4 5 6 7; do ffconvert export cbor --limit 1 more - >x-0$k.cbors; done"},
		{begin: "ffconvert cbor --encode", files: "cp shapes.cbors x.cbors"},
		{begin: "ffconvert jsonl 'c4-", files: "for k in $(seq -f %05g 0 1023); do echo '{\"text\":\"'$k'\"}' | gzip -c >c4-$k.json.gz; done"},
		{begin: "ffconvert jsonl --key-field", files: "printf '{\"id\":\"a\"}\\n{\"id\":\"b\"}\\n' | zstd -qc >docs.jsonl.zst"},
		{begin: "ffconvert jsonl images/", files: "cp -r described images"},
		{begin: "ffconvert parquet --key-prefix", not: "objects that the test has as files: the same as data/"},
		{begin: "ffconvert parquet", files: "mkdir data && cp images.parquet data/train-0.parquet"},
		{begin: "ffconvert arrow table.feather", not: "a server of HTTPS with the name host"},
		{begin: "ffconvert arrow --encode", not: "objects that the test has as files: the same as saved/train"},
		{begin: "ffconvert tfrecord 'train-", files: "cp tfrecords/shapes-00000-of-00002 train-00000-of-01024"},
		{begin: "ffconvert tfrecord --encode", files: "cp tfrecords/shapes-00000-of-00002 val-0"},
		{begin: "ffconvert tfrecord --tensor", files: "cp tfrecords/shapes-00000-of-00002 train.tfrecord"},
		{begin: "ffconvert ofrecord data/", files: "cp -rL ofrecords data"},
		{begin: "ffconvert ofrecord --part count=8", files: "mkdir data && for k in 0 1 2 3 4 5 6 7; do cp ofrecords/part-0 data/part-0000$k; done"},
		{begin: "ffconvert ofrecord --continued", files: "cp -rL testdata/ofrecords-cut data"},
		{begin: "ffconvert mds 's3://", not: "objects that the test has as files: the same as mds/train"},
		{begin: "ffconvert mds", files: "mkdir mds && cp -rL testdata/mds mds/train"},
		{begin: "ffconvert folder s3://", not: "objects that the test has as files: the same as imagenet/train"},
		{begin: "ffconvert ffr --shard-size", files: "cp -r out old"},
		{begin: "ffconvert ffr monday/", files: "cp -r out monday && cp -r more tuesday"},
		{begin: "ffconvert ffr --encode", files: "cp -r more a"},
	},
}

// Each indented command of these pages runs as it is printed, in a folder of its own that has the files which it names. What it makes is sound.
func TestCommandsOfPages(t *testing.T) {
	t.Parallel()
	need.Time(t, "a folder and a process for each command of a page")
	need.Tools(t, "zstd", "head", "jq", "seq")
	python.Path(t, "cbor2")
	d := newDocsFolder(t)
	d.run(t, d.made, "ffconvert copy -q out/ s3://bucket/data/")
	ran := 0
	for page, known := range pages {
		used := make(map[string]bool)
		for _, m := range regexp.MustCompile(`(?m)^    ((?:ffconvert|python3) .*)$`).FindAllStringSubmatch(docsPage(t, page), -1) {
			var about pageLine
			for _, l := range known {
				if strings.HasPrefix(m[1], l.begin) {
					about = l
					used[l.begin] = true
					break
				}
			}
			if about.not != "" {
				continue
			}
			ran++
			t.Run(page+" "+m[1], func(t *testing.T) {
				t.Parallel()
				d.runPrinted(t, about.files, m[1])
			})
		}
		for _, l := range known {
			if !used[l.begin] {
				t.Errorf("%s has no command that begins with %q", page, l.begin)
			}
		}
	}
	if ran < 50 {
		t.Errorf("%d commands", ran)
	}
}

// runPrinted runs a command of a page in a folder with the files that it names, without what it makes.
func (d *docsFolder) runPrinted(t *testing.T, files, line string) {
	t.Helper()
	dir := d.fresh(t)
	if files != "" {
		d.run(t, dir, files)
	}
	command, _, _ := strings.Cut(line, " #")
	words := strings.Fields(command)
	out := words[len(words)-1]
	makes := strings.HasSuffix(out, "/") && !strings.Contains(out, ":") && !reads.MatchString(line)
	if makes {
		d.run(t, dir, "rm -rf "+out)
	}
	d.run(t, dir, line)
	if _, err := os.Stat(filepath.Join(dir, out, "manifest.json")); makes && err == nil {
		d.run(t, dir, "ffconvert verify "+out)
	}
}
