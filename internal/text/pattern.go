package text

import (
	"regexp"
	"sync"
)

// Pattern returns a function that returns a compiled regular expression, which it compiles on first use: most commands use few.
func Pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
