package browse

import (
	"path/filepath"
	"strings"

	"github.com/ffconvert/ffconvert/internal/text"
)

// keysName is the name of a list of keys in commands.
const keysName = "keys.txt"

// command returns the shell command that makes a dataset of the samples that q finds. path is the dataset, as it was
// opened. why is "" if line suffices. Otherwise why states the part of q that `--where` cannot express for copied
// records, and line reads [keysName], which [searcher.keys] must write first; line is "" if no command makes this
// dataset.
func (s *searcher) command(q Query, path string) (line, why string) {
	f, err := s.filter(q)
	if err != nil {
		return "", err.Error()
	}
	if q.Shard != "" && filepath.Base(path) != q.Shard {
		path = strings.TrimSuffix(path, "/") + "/" + q.Shard
	}
	if strings.HasPrefix(path, "-") || strings.HasPrefix(path, "@") || strings.Contains(path, "::") {
		path = "./" + path
	}
	words := []string{"ffconvert", "ffr", path, "subset/"}
	switch {
	case f.where.Compares():
		why = "fields of records that are copied are not compared"
	case f.sources != nil:
		why = "an expression cannot ask for a source part"
	case q.Where != "":
		words = append(words, "--where", q.Where)
	}
	if why != "" {
		switch keyed, err := s.keyed(); {
		case err != nil:
			return "", err.Error()
		case !keyed:
			return "", why + ", and the samples have no keys that a list could name"
		}
		words = append(words, "--keys", "@"+keysName)
	}
	return strings.Join(text.ShellWords(words), " "), why
}
