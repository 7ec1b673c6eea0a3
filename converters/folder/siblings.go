package folder

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/ffconvert/ffconvert/converters"
)

// apart finds files in different directories that seem to belong together. The search is made once all parts are
// listed.
type apart struct {
	mu    sync.Mutex
	known bool
	found []*siblings // at most one per root
}

// siblings are two directories that hold, directly or below equally named directories, files with equal names up to the
// suffix.
type siblings struct {
	root     string
	prefix   string // common prefix of both paths, "" or with a slash at its end
	one, two string // names of the directories
	suffix   string // suffix of a file below one
	partner  string // suffix of its partner below two
}

// Check returns an error if Options.Group would split files that seem to belong together. Call it after indexing all
// parts. Options.Unmatched accepts such files.
func (s *source) Check(context.Context) error {
	if !s.opts.Group || s.opts.Unmatched {
		return nil
	}
	for _, a := range s.siblings() {
		return &converters.Error{Where: a.root, Off: -1, Err: fmt.Errorf("%w: %s, and would be samples of their own", converters.ErrUnmatched, a), Hint: a.hint() + "; option unmatched takes them as they are"}
	}
	return nil
}

func (a *siblings) String() string {
	return fmt.Sprintf("files of %q and %q have the same names", a.prefix+a.one+"/", a.prefix+a.two+"/")
}

func (a *siblings) hint() string {
	return fmt.Sprintf(`option pair '%s%s/(.*)\.%s=%s%s/\1.%s' makes one sample of both`, a.prefix, a.one, a.suffix, a.prefix, a.two, a.partner)
}

// siblings returns the siblings found, nil until all parts are listed.
func (s *source) siblings() []*siblings {
	s.apart.mu.Lock()
	defer s.apart.mu.Unlock()
	if s.apart.known || s.opts.Pairs != nil {
		return s.apart.found
	}
	var found []*siblings
	for from := 0; from < len(s.dirs); {
		sample := names{files: make(map[string][]string), limit: ^uint64(0)}
		to := from
		for ; to < len(s.dirs) && s.dirs[to].tree == s.dirs[from].tree; to++ {
			if !s.dirs[to].sample(&sample) {
				return nil
			}
		}
		if a := sample.siblings(); a != nil {
			a.root = s.dirs[from].tree.name
			found = append(found, a)
		}
		from = to
	}
	s.apart.known, s.apart.found = true, found
	return found
}

// sample adds the files of a part to a name sample. It returns false if the part is not listed.
func (p *part) sample(to *names) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.run != listed {
		return false
	}
	for i := range p.list.files {
		f := &p.list.files[i]
		to.add(p.list.names.text(f.dir), p.list.names.name(f.name))
	}
	return true
}

// names is a random sample of the file names of a tree: those whose hash, of the name up to the first dot, is small. So
// all files with a sampled name are in the sample, whatever their directory.
type names struct {
	limit uint64
	files map[string][]string // path up to the first dot → suffixes
}

// mostNames limits the sample. maxDepth is how many directories of a path are compared.
const (
	mostNames = 1 << 13
	maxDepth  = 8
)

func (n *names) add(dir, base []byte) {
	dot := splitName(dir, base)
	if dot <= 0 {
		return
	}
	if hash(base[:dot]) > n.limit {
		return
	}
	key := string(dir) + string(base[:dot])
	n.files[key] = append(n.files[key], strings.ToLower(string(base[dot+1:])))
	for len(n.files) > mostNames {
		n.limit /= 2
		maps.DeleteFunc(n.files, func(key string, _ []string) bool { return hash([]byte(path.Base(key))) > n.limit })
	}
}

func hash(b []byte) uint64 {
	h := fnv.New64a()
	h.Write(b)
	x := h.Sum64() // the high bits of h differ little between short names
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	return x ^ x>>33
}

// A couple is two directories with the same parent.
type couple struct{ prefix, one, two string }

// siblings returns the couple of directories with the most names in common, provided that these are nearly all names of
// one of them and half of the other's, and never with the same suffix.
func (n *names) siblings() *siblings {
	type member struct{ dir, key string }
	sizes := make(map[string]int)
	rows := make(map[string][]member) // by path with one directory replaced by a placeholder
	for _, key := range slices.Sorted(maps.Keys(n.files)) {
		dirs := strings.Split(key, "/")
		for i := max(0, len(dirs)-1-maxDepth); i < len(dirs)-1; i++ {
			prefix := strings.Join(dirs[:i+1], "/")
			sizes[prefix]++
			row := strings.Join(dirs[:i], "/") + "/\x00/" + strings.Join(dirs[i+1:], "/")
			rows[row] = append(rows[row], member{dirs[i], key})
		}
	}
	counts, example := make(map[couple]int), make(map[couple][2]string)
	for _, row := range slices.Sorted(maps.Keys(rows)) {
		members := rows[row]
		if len(members) > maxDepth { // these are classes rather than kinds of files
			continue
		}
		prefix, _, _ := strings.Cut(row, "\x00")
		prefix = strings.TrimPrefix(prefix, "/")
		for i, a := range members {
			for _, b := range members[i+1:] {
				c := couple{prefix, a.dir, b.dir}
				if slices.ContainsFunc(n.files[a.key], func(s string) bool { return slices.Contains(n.files[b.key], s) }) {
					counts[c] -= mostNames // the same kind of files
					continue
				}
				if counts[c]++; example[c] == [2]string{} {
					example[c] = [2]string{a.key, b.key}
				}
			}
		}
	}
	var best *siblings
	most := 1
	for _, c := range slices.SortedFunc(maps.Keys(counts), func(a, b couple) int {
		return strings.Compare(a.prefix+a.one+"/"+a.two, b.prefix+b.one+"/"+b.two)
	}) {
		one, two, same := sizes[c.prefix+c.one], sizes[c.prefix+c.two], counts[c]
		if same <= most || same*10 < min(one, two)*9 || same*2 < max(one, two) {
			continue
		}
		best, most = n.describe(c, example[c]), same
	}
	return best
}

// pictures are suffixes of files that other files describe, the most likely first.
var pictures = []string{"jpg", "jpeg", "webp", "png", "wav", "flac", "mp3", "mp4"}

// describe returns the siblings for a couple, with the picture first.
func (n *names) describe(c couple, keys [2]string) *siblings {
	rank := func(key string) int {
		at := slices.Index(pictures, n.files[key][0])
		if at < 0 {
			at = len(pictures)
		}
		return at
	}
	if rank(keys[1]) < rank(keys[0]) {
		keys[0], keys[1] = keys[1], keys[0]
		c.one, c.two = c.two, c.one
	}
	return &siblings{prefix: c.prefix, one: c.one, two: c.two, suffix: n.files[keys[0]][0], partner: n.files[keys[1]][0]}
}
