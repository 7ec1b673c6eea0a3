package store

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"
)

// Options configure a [Client]. The zero value is usable.
type Options struct {
	// LookupEnv reads the environment: AWS_…, AIS_…, GOOGLE_…, HTTPS_PROXY. nil: os.LookupEnv.
	LookupEnv func(key string) (string, bool)

	S3 S3Options
	// Anonymous sends no credentials to any service.
	Anonymous bool
	// Connections is the number of ranges fetched concurrently, over all objects of a Client.
	// 0: DefaultConnections.
	Connections int
	// RangeSize is the number of bytes per request. 0: defaultRangeSize.
	RangeSize int64
	// Retries is the number of consecutive retries without a received byte. 0: DefaultRetries. Negative: none.
	Retries int
	// Patience is the time that an object may take in addition to its size divided by leastRate, with all
	// retries and waits. 0: DefaultPatience.
	Patience time.Duration
	// Stall is the time after which a connection is closed that transfers no bytes, or fewer than trickle
	// requires; at most Patience. 0: defaultStall.
	Stall time.Duration

	part int64         // bytes of a part of an upload; 0: defaultPart
	tls  *tls.Config   // for tests; nil: the system's authorities
	wait time.Duration // before the first retry; 0: firstWait
}

// Defaults of Options.
const (
	DefaultConnections = 8
	defaultRangeSize   = 16 << 20 // bytes
	DefaultRetries     = 10
	DefaultPatience    = 15 * time.Minute
	defaultStall       = 30 * time.Second

	// leastRate is the least average rate of a fetch once Patience has passed, bytes per second. Without it a
	// server that sends a byte now and then would block a conversion for ever.
	leastRate = 64 << 10
)

// S3Options configure S3. For an empty field the standard variables AWS_… and the profile files apply.
type S3Options struct {
	Endpoint string // URL or host:port; "": AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, profile, Amazon's
	Region   string // "": AWS_REGION, AWS_DEFAULT_REGION, profile, the bucket's own
	Profile  string // "": AWS_PROFILE, default
	// PathStyle is "path" for endpoint/bucket/key, "host" for bucket.endpoint/key. "": host
	// for Amazon's endpoints, path for others.
	PathStyle string
}

func (o Options) connections() int        { return max(cmp.Or(o.Connections, DefaultConnections), 1) }
func (o Options) rangeSize() int64        { return max(cmp.Or(o.RangeSize, defaultRangeSize), 1) }
func (o Options) retries() int            { return max(cmp.Or(o.Retries, DefaultRetries), 0) }
func (o Options) patience() time.Duration { return cmp.Or(o.Patience, DefaultPatience) }

func (o Options) stall() time.Duration { return min(cmp.Or(o.Stall, defaultStall), o.patience()) }

// env returns an environment variable without surrounding space; "" if it is unset.
func (o Options) env(key string) string {
	lookup := o.LookupEnv
	if lookup == nil {
		lookup = os.LookupEnv
	}
	value, _ := lookup(key)
	return strings.TrimSpace(value)
}

// firstEnv returns the value and the name of the first variable that is set; "" and "" if none is.
func (o Options) firstEnv(keys ...string) (value, key string) {
	for _, key := range keys {
		if value := o.env(key); value != "" {
			return value, key
		}
	}
	return "", ""
}

// flagEnv reports whether a variable is set to 1, true, yes or on.
func (o Options) flagEnv(key string) bool {
	switch strings.ToLower(o.env(key)) {
	case "1", "true", "yes", "on":
		return true
	}
	return false
}

// home returns the home directory; "" if it is not set.
func (o Options) home() string {
	dir, _ := o.firstEnv("HOME", "USERPROFILE")
	return dir
}

// readEndpoint parses the address of a service; scheme is its default scheme. Errors name the setting and do not
// quote the address, which may contain a password.
func readEndpoint(setting, endpoint, scheme, example string) (*url.URL, error) {
	if !strings.Contains(endpoint, "://") {
		endpoint = scheme + "://" + endpoint
	}
	u, err := url.Parse(endpoint)
	problem := ""
	switch {
	case err != nil || u.Host == "":
		problem = "is not a URL"
	case u.Scheme != "http" && u.Scheme != "https":
		problem = "is neither http nor https"
	case u.User != nil:
		problem = "holds a user or a password"
	case u.RawQuery != "" || u.Fragment != "":
		problem = "has a query"
	default:
		return u, nil
	}
	return nil, notEndpoint(setting, problem, example)
}

func notEndpoint(setting, problem, example string) *Error {
	return &Error{Kind: ErrSetting, Err: fmt.Errorf("%s %s", setting, problem), Hint: "as in " + example}
}
