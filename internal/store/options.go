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

// Options say how services are reached. The zero value is usable.
type Options struct {
	// LookupEnv reads the environment: AWS_…, AIS_…, GOOGLE_…, HTTPS_PROXY. nil: os.LookupEnv.
	LookupEnv func(key string) (string, bool)

	S3 S3Options
	// Anonymous asks all services without credentials.
	Anonymous bool
	// Connections is how many ranges are fetched at once, all objects of a Client together.
	// 0: DefaultConnections.
	Connections int
	// RangeSize is how many bytes one request asks for. 0: defaultRangeSize.
	RangeSize int64
	// Retries is how many attempts in a row may bring no byte. 0: DefaultRetries. Negative: none.
	Retries int
	// Patience is how long an object may take beyond its size divided by leastRate, all waits and
	// attempts together. 0: DefaultPatience.
	Patience time.Duration
	// Stall is how long a connection may bring no byte, or too few, before it is closed; at most
	// Patience. 0: defaultStall.
	Stall time.Duration

	part int64         // bytes of a part of an upload; 0: defaultPart
	tls  *tls.Config   // of tests; nil: the system's authorities
	wait time.Duration // before the second attempt; 0: firstWait
}

// Defaults of Options.
const (
	DefaultConnections = 8
	defaultRangeSize   = 16 << 20 // bytes
	DefaultRetries     = 10
	DefaultPatience    = 15 * time.Minute
	defaultStall       = 30 * time.Second

	// leastRate is the average rate that a fetch must have once Patience is used up, bytes a second. A
	// server that sends a byte now and then would otherwise hold a conversion for ever.
	leastRate = 64 << 10
)

// S3Options say how S3 is reached. Empty fields are set by the standard variables AWS_… and profile
// files.
type S3Options struct {
	Endpoint string // URL or host:port; "": AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, profile, Amazon's
	Region   string // "": AWS_REGION, AWS_DEFAULT_REGION, profile, the bucket's own
	Profile  string // "": AWS_PROFILE, default
	// PathStyle is "path" for endpoint/bucket/key, "host" for bucket.endpoint/key. "": host
	// for Amazon's endpoints, path for others.
	PathStyle string
}

func (o Options) lookupEnv(key string) (string, bool) {
	if o.LookupEnv == nil {
		return os.LookupEnv(key)
	}
	return o.LookupEnv(key)
}

func (o Options) connections() int        { return max(cmp.Or(o.Connections, DefaultConnections), 1) }
func (o Options) rangeSize() int64        { return max(cmp.Or(o.RangeSize, defaultRangeSize), 1) }
func (o Options) retries() int            { return max(cmp.Or(o.Retries, DefaultRetries), 0) }
func (o Options) patience() time.Duration { return cmp.Or(o.Patience, DefaultPatience) }

// stall is at most the patience.
func (o Options) stall() time.Duration { return min(cmp.Or(o.Stall, defaultStall), o.patience()) }

// env returns a variable of the environment, "" if it is unset.
func (o Options) env(key string) string {
	value, _ := o.lookupEnv(key)
	return strings.TrimSpace(value)
}

// firstEnv returns the first variable that is set, and its name.
func (o Options) firstEnv(keys ...string) (value, key string) {
	for _, key := range keys {
		if value := o.env(key); value != "" {
			return value, key
		}
	}
	return "", ""
}

// flagEnv reports whether a variable is true.
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

// readEndpoint parses the address of a service, which it does not print: it may contain a password. An
// address without a scheme has the given one.
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
