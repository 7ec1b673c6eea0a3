package cliflag

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/internal/input"
)

// The environment variables of webdataset's cache. Flags take precedence.
const (
	cacheDirVariable  = "WDS_CACHE"
	cacheSizeVariable = "WDS_CACHE_SIZE" // bytes; 0 or less: no limit

	cacheVerboseVariable = "WDS_VERBOSE_CACHE" // a whole number; unless it is 0, what happens in the cache is printed
)

// verboseCache reports whether the environment requires lines about the cache.
func verboseCache() bool {
	n, err := strconv.Atoi(strings.TrimSpace(os.Getenv(cacheVerboseVariable)))
	return err == nil && n != 0
}

// cacheFromEnvironment applies the variables if the flags were not given.
func (o *Conversion) cacheFromEnvironment() error {
	if o.Input.CacheDir != "" || !o.cache.Changed("cache-dir") {
		var err error
		if o.Input.CacheDir, err = CacheDir(o.Input.CacheDir); err != nil {
			return err
		}
	}
	if text := os.Getenv(cacheSizeVariable); text != "" && !o.cache.Changed("cache-size") {
		n, err := strconv.ParseFloat(text, 64) // a float, as webdataset accepts 1e12
		if err != nil || n != n || n > 1<<62 {
			return fmt.Errorf("%s=%q: want a number of bytes, -1 for no limit", cacheSizeVariable, text)
		}
		o.Input.Quota = int64(max(n, 0))
	}
	return nil
}

// CacheDir returns the directory of the cache: dir, the value of --cache-dir, or what the environment names if that is "". It
// refuses a URL.
func CacheDir(dir string) (string, error) {
	var err error
	if dir == "" {
		dir, err = atHome(os.Getenv(cacheDirVariable))
	}
	if err == nil && convert.IsURL(dir) {
		err = fmt.Errorf("--cache-dir %s: want a local directory, not a URL", input.Shown(dir))
	}
	return dir, err
}

// atHome expands ~/ as webdataset does: a variable that was not set by a shell may have it.
func atHome(dir string) (string, error) {
	rest, ok := strings.CutPrefix(dir, "~")
	if !ok || rest != "" && rest[0] != '/' {
		return dir, nil
	}
	home, err := os.UserHomeDir()
	return home + rest, err
}
