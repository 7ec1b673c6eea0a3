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
	CacheDirVariable  = "WDS_CACHE"
	cacheSizeVariable = "WDS_CACHE_SIZE" // bytes; 0 or less: no limit

	cacheVerboseVariable = "WDS_VERBOSE_CACHE" // a whole number; other than 0: tell what happens in the cache
)

// verboseCache reports whether the environment wants to be told what happens in the cache.
func verboseCache() bool {
	n, err := strconv.Atoi(strings.TrimSpace(os.Getenv(cacheVerboseVariable)))
	return err == nil && n != 0
}

// cacheFromEnvironment applies the variables if the flags were not given.
func (o *Conversion) cacheFromEnvironment() error {
	if os.Getenv(CacheDirVariable) != "" && !o.cache.Changed("cache-dir") {
		var err error
		if o.Input.CacheDir, err = CacheDir(); err != nil {
			return err
		}
	}
	if err := LocalDir(o.Input.CacheDir); err != nil {
		return err
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

// LocalDir refuses a URL as the directory of the cache.
func LocalDir(dir string) error {
	if convert.IsURL(dir) {
		return fmt.Errorf("--cache-dir %s: want a local directory, not a URL", input.Shown(dir))
	}
	return nil
}

// CacheDir returns the directory of the cache that the environment names; "": none.
func CacheDir() (string, error) { return atHome(os.Getenv(CacheDirVariable)) }

// atHome expands ~/ as webdataset does: a variable that was not set by a shell may have it.
func atHome(dir string) (string, error) {
	rest, ok := strings.CutPrefix(dir, "~")
	if !ok || rest != "" && rest[0] != '/' {
		return dir, nil
	}
	home, err := os.UserHomeDir()
	return home + rest, err
}
