package faults

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/testproxy"
	"github.com/ffconvert/ffconvert/internal/test/testserver"
)

// TestFaultI1Listing runs commands on datasets in a bucket while each listing lacks 30 % of its entries. What they
// write and print is that of an undisturbed run.
func TestFaultI1Listing(t *testing.T) {
	slow(t)
	t.Parallel()
	gofakes3 := startS3(t, testserver.GoFakeS3())
	google := startGoogle(t)
	s3, gs := listings(t, gofakes3), listings(t, google)
	var all []listing
	for i := range s3 { // in a short run each use is on one service
		if full || i%2 == 0 {
			all = append(all, s3[i])
		}
		if full || i%2 == 1 {
			all = append(all, gs[i])
		}
	}
	const seeds = 12
	sum := each(t, spread(seeds*len(all), len(all)), func(i int, dir string) error {
		l := all[i/seeds]
		p := testproxy.Start(t, l.store.address, testproxy.Options{Omit: testproxy.Omit(uint64(i), 0.3)})
		got, err := l.run(p.Address, dir)
		if err == nil {
			err = errors.Join(got.tree.differ(l.want.tree), sameText(got.stdout, l.want.stdout))
		}
		if err != nil {
			return fmt.Errorf("%s %s, seed %d: %w", l.store.scheme, l.name, i, err)
		}
		return nil
	})
	t.Logf("I1 [listing] %v", sum)
}

// A listing is a use of datasets in a bucket: commands, of which the last ones are disturbed. IN, HALF, TO and DIR in
// their arguments are a finished dataset, one of which a shard is missing, a place in the bucket and one on the disk.
type listing struct {
	name   string
	before [][]string // undisturbed
	steps  [][]string
	store  *store
	want   listed
}

// listed is what the commands leave and print.
type listed struct {
	tree   tree
	stdout string
}

func listings(t *testing.T, s *store) []listing {
	t.Helper()
	in := s.scheme + "://" + bucketName + "/in"
	if err := s.must(append(append([]string{"tar", "--progress", "none", "--shards", "8"}, sources...), in)); err != nil {
		t.Fatal(err)
	}
	tar := func(to string) []string {
		return append(append([]string{"tar", "--progress", "none", "--shards", "8"}, sources...), to)
	}
	all := []listing{
		{name: "ffr", steps: [][]string{{"ffr", "--progress", "none", "--shards", "5", "IN/", "TO"}}},
		{name: "ffr of a pattern", steps: [][]string{{"ffr", "--progress", "none", "--shards", "5", "IN/PART_*.ffr", "DIR"}}},
		{name: "ffr planned", steps: [][]string{{"plan", "ffr", "--shards", "5", "IN/", "TO"}, {"run", "--progress", "none", "--task", "0/2", "TO"}, {"run", "--progress", "none", "--task", "1/2", "TO"}, {"finish", "--progress", "none", "TO"}}},
		{name: "copy from", steps: [][]string{{"copy", "--progress", "none", "IN", "DIR"}, {"copy", "--progress", "none", "IN", "DIR"}}},
		{name: "copy within", steps: [][]string{{"copy", "--progress", "none", "IN", "TO"}, {"copy", "--progress", "none", "IN", "TO"}}},
		{name: "get", steps: [][]string{{"get", "IN", "#7"}, {"get", "IN", "#119"}}},
		{name: "ls", steps: [][]string{{"ls", "-l", "IN"}}},
		{name: "inspect", steps: [][]string{{"inspect", "IN"}}},
		{name: "verify", steps: [][]string{{"verify", "--progress", "none", "IN"}}},
		{name: "export", steps: [][]string{{"export", "jsonl", "--progress", "none", "IN/", "-"}}},
		{name: "export tar", steps: [][]string{{"export", "tar", "--progress", "none", "IN/", "DIR/%03d.tar"}}},
		{name: "diff", steps: [][]string{{"diff", "IN", "IN"}}},
		{name: "status", steps: [][]string{{"status", "IN"}}},
		{name: "convert", steps: [][]string{tar("TO"), tar("TO")}},
		{name: "tasks", before: [][]string{append([]string{"plan"}, tar("TO")...)}, steps: [][]string{{"run", "--progress", "none", "--task", "0/2", "TO"}, {"status", "TO"}, {"run", "--progress", "none", "--task", "1/2", "TO"}, {"finish", "--progress", "none", "TO"}}},
		{name: "finish", before: [][]string{append([]string{"plan"}, tar("TO")...), {"run", "--progress", "none", "--task", "0/2", "TO"}, {"run", "--progress", "none", "--task", "1/2", "TO"}}, steps: [][]string{{"finish", "--progress", "none", "TO"}}},
		{name: "resume", before: [][]string{append([]string{"plan"}, tar("TO")...), {"run", "--progress", "none", "--task", "0/2", "TO"}}, steps: [][]string{tar("TO")}},
		{name: "another dataset", before: [][]string{{"copy", "--progress", "none", "IN", "TO"}}, steps: [][]string{{"ffr", "--progress", "none", "--shards", "5", "--overwrite", "IN/", "TO"}}},
	}
	for i := range all {
		all[i].store = s
		want, err := all[i].run(s.address, filepath.Join(own(t), fmt.Sprintf("want-%d", i)))
		if err != nil {
			t.Fatalf("%s, undisturbed: %v", all[i].name, err)
		}
		all[i].want = want
	}
	return all
}

// must runs a command, undisturbed.
func (s *store) must(args []string) error {
	r, err := upload{store: s}.run(s.address, nil, args)
	if err == nil && r.code != 0 {
		err = fmt.Errorf("%s: %v", args[0], r)
	}
	return err
}

// run runs the steps with the service at an address.
func (l listing) run(address, dir string) (got listed, err error) {
	prefix := fmt.Sprintf("listing/%s/%s/", strings.ReplaceAll(l.name, " ", "-"), filepath.Base(dir))
	bucket := l.store.scheme + "://" + bucketName + "/"
	out := filepath.Join(dir, "out")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return got, err
	}
	names := strings.NewReplacer("IN", bucket+"in", "TO", bucket+prefix, "DIR", out)
	fill := func(args []string) (filled []string) {
		for _, a := range args {
			filled = append(filled, names.Replace(a))
		}
		return filled
	}
	if l.name == "export tar" {
		if err := os.Mkdir(out, 0o755); err != nil {
			return got, err
		}
	}
	for _, args := range l.before {
		if err := l.store.must(fill(args)); err != nil {
			return got, err
		}
	}
	for _, args := range l.steps {
		r, err := upload{store: l.store}.run(address, nil, fill(args))
		if err == nil && r.code != 0 {
			err = fmt.Errorf("%s: %v", args[0], r)
		}
		if err != nil {
			return got, err
		}
		if args[0] != "tar" && args[0] != "ffr" {
			got.stdout += clock.ReplaceAllString(strings.ReplaceAll(r.stdout, prefix, ""), "")
		}
	}
	if got.tree, err = l.store.tree(prefix); err != nil {
		return got, err
	}
	if _, err := os.Stat(out); err == nil {
		here, err := readTree(out)
		for name, data := range here {
			got.tree["out/"+name] = createdOn.ReplaceAll(data, nil)
		}
		return got, err
	}
	return got, l.store.clear(prefix)
}

// clock matches what the clock says.
var clock = regexp.MustCompile(`(?m)^rate .*$|[0-9.]+ ?(ms|s|kB/s|MB/s|GB/s)\b|; [0-9]+ files? fetched again, not sound the first time`)

func sameText(got, want string) error {
	if got != want {
		return fmt.Errorf("it prints %q, undisturbed %q", got, want)
	}
	return nil
}
